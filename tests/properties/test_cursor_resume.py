"""Whatever happens to rows, lines and pages of Cursor's stores, the reader stands and loses only what was touched."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cursor_store import Editor, cli_chat, dated_back, found, prompt, reply, taken, tool
from lerim.sessions.model import Turn
from lerim.sessions.readers.cursor import store
from lerim.sessions.readers.engine.fields import without_nul

SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


@st.composite
def bubbles(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A chat: prompts, words, thoughts, tool calls and bookkeeping, each with an id and a time of its own."""
    chat: list[dict[str, Any]] = []
    for at in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(("prompt", "reply", "tool", "thought", "nothing")))
        native, text = f"b{at}", f"{at}! {draw(TEXTS)}"
        if kind == "prompt":
            chat.append(prompt(text, native))
        elif kind == "reply":
            chat.append(reply(text, native))
        elif kind == "tool":
            chat.append(tool("run_terminal_cmd", {"command": text}, {"output": text, "exitCodeV2": at % 2}, native))
        else:
            chat.append(reply("", native, thinking={"text": text if kind == "thought" else ""}))
        chat[-1]["createdAt"] = f"2026-02-22T06:33:{at:02d}Z"
    return chat


@st.composite
def damage(draw: st.DrawFn) -> tuple[str, float, int]:
    """What is done to bytes, where, and with which byte."""
    return draw(st.sampled_from(("cut", "flip", "null", "drop"))), draw(st.floats(0, 1)), draw(st.integers(0, 255))


def damaged(data: bytes, how: tuple[str, float, int]) -> bytes | None:
    what, where, byte = how
    at = min(int(where * len(data)), len(data) - 1)
    if what == "cut":
        return data[:at]
    return data[:at] + bytes([byte]) + data[at + 1 :] if what == "flip" else None


def row(path: Path, key: str) -> bytes:
    with sqlite3.connect(path) as db:
        (value,) = db.execute("SELECT CAST(value AS BLOB) FROM cursorDiskKV WHERE key = ?", (key,)).fetchone()
    db.close()
    return bytes(value)


def everything(root: Path) -> dict[str, list[Turn]]:
    return {one.session_id: taken(one)[0] for one in found(root)[0]}


def words(turns: list[Turn]) -> set[str]:
    """Every piece that was said or run."""
    said = {piece for turn in turns for piece in (turn.text, turn.reasoning)}
    return said | {call.command for turn in turns for call in turn.tool_calls}


def pieces(chat: list[dict[str, Any]]) -> set[str]:
    """What these bubbles say or run."""
    said = {one["text"] for one in chat} | {one.get("thinking", {}).get("text", "") for one in chat}
    calls = [one["toolFormerData"]["params"] for one in chat if "toolFormerData" in one]
    return {without_nul(text).strip() for text in said} | {without_nul(json.loads(one)["command"]) for one in calls}


@SETTINGS
@given(st.lists(bubbles(), min_size=2, max_size=3), st.data())
def test_a_damaged_row_costs_that_row_and_no_other_chat(chats: list[list[dict[str, Any]]], data: st.DataObject):
    with tempfile.TemporaryDirectory() as folder:
        editor = Editor(Path(folder))
        # whatever is damaged, these words are left of the chat; one of which nothing is left is an error
        said = {"_v": 3, "type": 1, "bubbleId": "said", "text": "Said", "createdAt": "2026-02-22T06:32:00Z"}
        chats = [[said, *chats[0]], *chats[1:]]
        for at, chat in enumerate(chats):
            editor.chat([one | {"bubbleId": f"{at}{one['bubbleId']}"} for one in chat], f"c{at}")
        before = everything(editor.root)
        touched = data.draw(st.sampled_from([-1, *range(1, len(chats[0]))]))
        key = "composerData:c0" if touched < 0 else f"bubbleId:c0:0{chats[0][touched]['bubbleId']}"
        how = data.draw(damage())
        editor.put(key, damaged(row(editor.all, key), how))
        if data.draw(st.booleans()):
            editor.run("UPDATE cursorDiskKV SET value = CAST(value AS TEXT) WHERE key = ?", (key,))
        after = everything(editor.root)
        assert {cid: turns for cid, turns in after.items() if cid != "c0"} == {
            cid: turns for cid, turns in before.items() if cid != "c0"
        }
        if touched >= 0:
            rest = pieces([one for at, one in enumerate(chats[0]) if at != touched])
            assert all(any(piece in said for said in words(after["c0"])) for piece in rest if piece)
        elif how[0] == "cut":
            assert after["c0"] == before["c0"]


@SETTINGS
@given(bubbles(), st.integers(0, 5), st.data())
def test_a_chat_taken_up_after_any_bubble_gives_the_same_turns(
    chat: list[dict[str, Any]], first: int, data: st.DataObject
):
    with tempfile.TemporaryDirectory() as folder:
        editor = Editor(Path(folder))
        kept: dict[str, Turn] = {}
        resume: bytes | None = None
        cuts = sorted(data.draw(st.sets(st.integers(0, len(chat)), max_size=3)) | {min(first, len(chat)), len(chat)})
        for cut in cuts:
            editor.chat(chat[:cut])
            for one in found(editor.root)[0]:
                reading = store.open_session(one, resume)
                kept |= {turn.id: turn for turn in reading}
                kept = {key: turn for key, turn in kept.items() if key in reading.ids}
                resume = reading.resume
        whole = [turn for turns in everything(editor.root).values() for turn in turns]
        assert sorted(kept.values(), key=lambda turn: turn.ordinal) == whole


@SETTINGS
@given(st.permutations(range(6)), st.lists(st.integers(0, 5), max_size=6))
def test_rows_in_any_order_and_written_again_give_the_same_turns(order: list[int], again: list[int]):
    chat = [prompt(f"Say {at}", f"b{at}") if at % 2 == 0 else reply(f"Said {at}", f"b{at}") for at in range(6)]
    with tempfile.TemporaryDirectory() as folder:
        editor = Editor(Path(folder))
        cid = editor.chat(chat)
        for at in (*order, *again):
            editor.put(f"bubbleId:{cid}:b{at}", chat[at])
        assert [turn.text for turn in everything(editor.root)[cid]] == [one["text"] for one in chat]


LINES = [
    {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nFix it\n</user_query>"}]}},
    {"role": "assistant", "message": {"content": [{"type": "text", "text": "Running"}]}},
    {"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Shell", "input": {"command": "m"}}]}},
    {"role": "user", "message": {"content": "again"}},
]


@SETTINGS
@given(st.integers(0, 3), damage())
def test_a_damaged_line_of_an_agent_costs_that_line(at: int, how: tuple[str, float, int]):
    lines = [json.dumps(line).encode() for line in LINES]
    lines[at] = (damaged(lines[at], how) or b"").replace(b"\n", b" ")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "projects" / "p" / "agent-transcripts" / "s.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"\n".join(lines) + b"\n")
        turns = everything(Path(folder))["s"]
        rest = [("Fix it", 0), ("Running", 0), ("", 1), ("again", 0)]
        told = [(turn.text, len(turn.tool_calls)) for turn in turns]
        assert all(one in told for number, one in enumerate(rest) if number != at)


@SETTINGS
@given(st.integers(0, 2**32), damage())
def test_damaged_blobs_of_the_command_line_cost_what_stood_in_them(which: int, how: tuple[str, float, int]):
    messages = [{"role": "user", "content": f"<user_query>{at}</user_query>"} for at in range(6)]
    with tempfile.TemporaryDirectory() as folder:
        path = cli_chat(Path(folder) / "chats" / "0" / "c" / "store.db", messages)
        with sqlite3.connect(path) as db:
            blobs = db.execute("SELECT id, data FROM blobs ORDER BY id").fetchall()
            key, data = blobs[which % len(blobs)]
            db.execute("UPDATE blobs SET data = ? WHERE id = ?", (damaged(data, how), key))
        db.close()
        dated_back(path)
        turns = everything(Path(folder))["c"]
        if data[:1] == b"{":
            assert len({turn.text for turn in turns} & {str(at) for at in range(6)}) >= 5
