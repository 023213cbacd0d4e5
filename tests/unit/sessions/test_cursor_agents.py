"""Chats of Cursor that change, what its agents leave in files, and those of its command line."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cursor_store import CID, KEYS, Editor, cli_chat, found, only, prompt, reply, said, taken
from lerim.sessions.readers import find_working_folder


def stamps(root: Path) -> dict[str, tuple[int, int, int]]:
    return {one.session_id: one.stamp for one in found(root)[0]}


@pytest.mark.parametrize("headed", [True, False])
@pytest.mark.parametrize("keys", [KEYS, "key TEXT PRIMARY KEY NOT NULL, value TEXT"], ids=["replaced", "in place"])
def test_only_the_chat_that_changed_has_another_stamp(tmp_path: Path, headed: bool, keys: str):
    editor = Editor(tmp_path, keys)
    heads = [{"composerId": f"c{at}", "lastUpdatedAt": 1771742091550} for at in range(5)]
    for at in range(5):
        editor.chat([prompt("Hi", f"u{at}"), reply("Ho", f"a{at}")], f"c{at}")
    if headed:
        editor.put("composer.composerHeaders", {"allComposers": heads}, table="ItemTable")
    before = stamps(tmp_path)
    assert stamps(tmp_path) == before
    changed = {"c2", "c3"}
    if keys == KEYS:
        editor.put("bubbleId:c1:a1", reply("Changed", "a1"))  # a bubble alone
        changed.add("c1")
    editor.run("DELETE FROM cursorDiskKV WHERE key = 'composerData:c2'")
    editor.chat([prompt("Hi", "u20"), reply("More", "x2")], "c2")
    sql = "UPDATE cursorDiskKV SET value = json_set(value, '$.lastUpdatedAt', 1771742099999) WHERE key = ?"
    editor.run(sql, ("composerData:c3",))  # in place, and its head is not told yet
    after = stamps(tmp_path)
    assert {cid for cid in after if after[cid] != before[cid]} == changed
    if headed:
        heads[4]["lastUpdatedAt"] = 1771742099999
        editor.put("composer.composerHeaders", {"allComposers": heads}, table="ItemTable")
        assert stamps(tmp_path)["c4"] != after["c4"]


def test_the_size_of_a_chat_grows_with_its_bubbles_and_not_with_the_rows_of_its_database(tmp_path: Path):
    editor = Editor(tmp_path)
    for cid, count in (("long", 40), ("short", 4), ("empty", 1)):
        editor.chat([prompt("Hi", f"{cid}{at}") for at in range(count)], cid)
    sizes = {one.session_id: one.size for one in found(tmp_path)[0]}
    assert sizes["long"] == 10 * sizes["short"] == 40 * sizes["empty"] > 40_000


def test_a_folder_that_becomes_known_changes_the_stamp(tmp_path: Path):
    editor = Editor(tmp_path)
    editor.chat([prompt("Hi")])
    before = stamps(tmp_path)[CID]
    editor.workspace("w1", "file:///srv/app", composer__composerData={"selectedComposerIds": [CID]})
    assert stamps(tmp_path)[CID] != before


def agent_transcript(path: Path, *lines: dict[str, Any], end: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines) + end, encoding="utf-8")
    return path


def said_by(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(parts)}}


def test_transcripts_of_agents_are_sessions_without_results_of_tools(tmp_path: Path):
    asked = said_by("user", {"type": "text", "text": "<user_query>\nFix it\n</user_query>"})
    ran = {"type": "tool_use", "name": "Shell", "input": {"command": "make test"}}
    lines = [
        asked,
        said_by("assistant", {"type": "text", "text": "Running"}, ran),
        {"type": "turn_ended", "status": "success"},
        {"role": "user", "message": {"content": "<external_links>x</external_links>"}},
        asked,
    ]
    folder = tmp_path / "projects" / "srv-my-app" / "agent-transcripts" / "s1"
    agent_transcript(folder / "s1.jsonl", *lines, end='{"role": "assi')
    agent_transcript(folder / "subagents" / "s2.jsonl", asked, end="broken\n")
    transcripts, problems = found(tmp_path, ["/srv/My_App", "/srv/other"])
    assert problems == []
    listed = [(one.session_id, one.parent, one.cwd) for one in transcripts]
    assert listed == [("s1", "", "/srv/My_App"), ("s2", "s1", "/srv/My_App")]
    turns, session, faults = taken(transcripts[0])
    assert said(turns) == [("user", "Fix it"), ("assistant", "Running"), ("user", "Fix it")]
    assert len({turn.id for turn in turns}) == 3
    assert [(c.kind, c.command, c.status) for c in turns[1].tool_calls] == [("shell", "make test", "pending")]
    assert faults == []
    assert (session.prompts, session.tool_calls, session.tokens) == (2, 1, None)
    turns, session, faults = taken(transcripts[1])
    assert (turns, session.prompts, [one.code for one in faults]) == ([], 0, ["bad-line"])


def test_a_transcript_of_an_agent_says_when_a_prompt_was_sent_and_what_nobody_typed(tmp_path: Path, in_tokyo: None):
    told = "The above subagent result is already visible to the user. DO NOT reiterate its contents."
    texts = [
        "<timestamp>Friday, May 8, 2026, 6:05 AM (UTC+5:30)</timestamp>\n<user_query>\nUse uv\n</user_query>",
        f"<timestamp>Friday, May 8, 2026, 6:06 AM (UTC+5:30)</timestamp>\n\n<user_query>{told}</user_query>",
        "<timestamp>September 9, 2026, 12:31 PM (UTC-3)</timestamp>\n<user_query>\nGo on\n</user_query>",
        "<timestamp>Soon, May 99, 2026, 6:05 AM (UTC+99)</timestamp>\n<user_query>\nAnd this\n</user_query>",
        "<timestamp>Friday, May 8, 2026, 6:05 AM</timestamp>\n<user_query>\nHere\n</user_query>",
        "<timestamp>Friday May 8, 2026, 6:05 AM</timestamp>\n<user_query>\nHere too\n</user_query>",
    ]
    path = tmp_path / "projects" / "srv-my-app" / "agent-transcripts" / "s1.jsonl"
    agent_transcript(path, *(said_by("user", {"type": "text", "text": one}) for one in texts))
    turns, session, _ = only(tmp_path)
    may, september = datetime(2026, 5, 8, 0, 35, tzinfo=UTC), datetime(2026, 9, 9, 15, 31, tzinfo=UTC)
    here = datetime(2026, 5, 7, 21, 5, tzinfo=UTC)  # without a zone it is that of the machine
    times = [("Use uv", may), ("Go on", september), ("And this", None), ("Here", here), ("Here too", here)]
    assert [(turn.text, turn.time) for turn in turns] == times
    assert (session.started, session.ended) == (here, september)


TEXT_TRANSCRIPT = """user:
<user_query>
Quote the config:
user:
  name: admin
</user_query>

assistant:
<think>
Look first.
</think>
I will read it and change it.

[Tool call] Read
  path: /srv/app/config.yml
  offset: 1
[Tool call] StrReplace
  path: /srv/app/config.yml
  old_string: user:
  name: admin
  new_string: user:
  name: "admin"

[Tool result] Read

[Tool result] StrReplace

assistant:
[Tool call] Shell
  command: make test
  description: Run the tests

[Tool result] Shell

assistant:
Done.

user:
[Image]
<user_query>
Now the other one
</user_query>

user:
<system_reminder>Nobody typed this.</system_reminder>
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_transcript_in_plain_text_is_read(tmp_path: Path, ends: str):
    path = tmp_path / "projects" / "srv-app" / "agent-transcripts" / "s1.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(TEXT_TRANSCRIPT.replace("\n", ends).encode())
    turns, session, problems = only(tmp_path)
    assert said(turns) == [
        ("user", "Quote the config:\nuser:\n  name: admin"),
        ("assistant", "I will read it and change it."),
        ("assistant", ""),
        ("assistant", "Done."),
        ("user", "Now the other one"),
    ]
    assert [turn.reasoning for turn in turns if turn.reasoning] == ["Look first."]
    calls = [one for turn in turns for one in turn.tool_calls]
    assert [(one.kind, one.paths, one.command) for one in calls] == [
        ("read", ("/srv/app/config.yml",), ""),
        ("edit", ("/srv/app/config.yml",), ""),
        ("shell", (), "make test"),
    ]
    (edit,) = calls[1].edits
    assert (edit.old, edit.new) == ("user:\n  name: admin", 'user:\n  name: "admin"')
    assert (session.id, session.prompts, session.cwds, problems) == ("s1", 2, ("/srv/app",), [])
    path.write_text("assistant: a note\n[Tool call] nothing\n", encoding="utf-8")  # which is no transcript
    assert only(tmp_path)[0] == []


@pytest.mark.parametrize("newer", ["s1.jsonl", "s1/s1.jsonl"])
def test_a_session_that_is_also_there_as_plain_text_is_read_once(tmp_path: Path, newer: str):
    folder = tmp_path / "projects" / "srv-app" / "agent-transcripts"
    agent_transcript(folder / newer, said_by("user", {"type": "text", "text": "Use uv"}))
    (folder / "s1.txt").write_text(TEXT_TRANSCRIPT, encoding="utf-8")
    assert said(only(tmp_path)[0]) == [("user", "Use uv")]
    (folder / newer).write_bytes(b"")
    assert "s1.txt" in [one.path.name for one in found(tmp_path)[0]], "an empty file takes the place of none"


def test_the_folder_of_an_agent_is_told_by_the_mark_of_trust_else_by_the_files_it_worked_on(tmp_path: Path):
    parts = [{"type": "tool_use", "name": "Read", "input": {"path": f"/srv/app/{one}"}} for one in ("a.py", "b/c.py")]
    path = tmp_path / "projects" / "srv-my-app" / "agent-transcripts" / "s1.jsonl"
    agent_transcript(path, said_by("assistant", *parts))
    (transcript,), _ = found(tmp_path)
    assert taken(transcript)[1].cwds == ("/srv/app",)
    assert find_working_folder(transcript) == "/srv/app"
    (path.parent.parent / ".workspace-trusted").write_text('{"workspacePath": "/srv/my-app"}', encoding="utf-8")
    assert only(tmp_path, ["/srv/My_App"])[1].cwds == ("/srv/my-app",)


CALL = {"type": "tool-call", "toolCallId": "t1", "toolName": "Shell", "args": {"command": "make"}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You are an agent"},
    {"role": "user", "content": [{"type": "text", "text": "<user_info>\nOS\n</user_info>"}]},
    {"role": "user", "content": [{"type": "text", "text": "<user_query>\nRun it\n</user_query>"}]},
    {"role": "assistant", "content": [{"type": "reasoning", "text": "Hm"}, {"type": "text", "text": "Running"}, CALL]},
    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "t1", "result": "Exit code: 2\n\nOutput:"}]},
    {"role": "user", "content": "<user_query>yes</user_query>"},
    {"role": "user", "content": "<user_query>yes</user_query>"},
]


def test_chats_of_the_command_line_follow_the_tree_and_match_the_digest_of_a_folder(tmp_path: Path):
    digest = hashlib.md5(b"/srv/app").hexdigest()
    path = cli_chat(tmp_path / "chats" / digest / "c1" / "store.db", MESSAGES, lastUsedModel="gpt-5")
    turns, session, problems = only(tmp_path, ["/srv/app", "/srv/b"])
    assert said(turns) == [("user", "Run it"), ("assistant", "Running"), ("user", "yes"), ("user", "yes")]
    assert (len({turn.id for turn in turns}), turns[1].reasoning) == (4, "Hm")
    call = turns[1].tool_calls[0]
    assert (call.kind, call.command, call.status, call.exit_code) == ("shell", "make", "error", 2)
    assert {turn.cwd for turn in turns} == {"/srv/app"}
    assert (session.title, session.models, problems) == ("A chat", ("gpt-5",), [])
    assert session.prompts == 3
    unknown = found(tmp_path)[0][0]
    assert (unknown.cwd, unknown.session_id, unknown.store_key) == ("", "c1", "c1")
    assert unknown.stamp != found(tmp_path, ["/srv/app"])[0][0].stamp
    path.with_name("meta.json").write_text('{"schemaVersion": 1, "cwd": "/srv/note"}', encoding="utf-8")
    assert {turn.cwd for turn in only(tmp_path)[0]} == {"/srv/note"}  # as newer chats have it


def wrapped(message: dict[str, Any]) -> bytes:
    """A message as newer versions keep it: the fourth field of a node."""
    data = json.dumps(message).encode()
    return b"\x08\x01\x22" + bytes((len(data) & 0x7F | 0x80, len(data) >> 7)) + data


CIRCLE = b"\x0a\x20" + b"\xaa" * 32
WRAPPED = [wrapped(one) for one in MESSAGES[:5]]
RAN = [("user", "Run it"), ("assistant", "Running")]
STORED: dict[str, tuple[list[Any], dict[str, Any], list[tuple[str, str]], list[str]]] = {
    "messages inside the nodes of newer chats": (WRAPPED, {}, RAN, []),
    "messages inside nodes without a tree": (WRAPPED, {"latestRootBlobId": "deadbeef"}, RAN, []),
    # the second `yes` is the same blob
    "a chat without its tree": (
        [*MESSAGES, b"{broken"],
        {"latestRootBlobId": "deadbeef"},
        [*RAN, ("user", "yes")],
        ["bad-row"],
    ),
    "a tree that leads in circles": (MESSAGES, {"root": CIRCLE}, [*RAN, ("user", "yes")], []),
}


@pytest.mark.parametrize(("messages", "fields", "expected", "codes"), STORED.values(), ids=STORED)
def test_messages_of_the_command_line_are_read_wherever_they_stand(
    tmp_path: Path, messages: list[Any], fields: dict[str, Any], expected: list[tuple[str, str]], codes: list[str]
):
    path = cli_chat(tmp_path / "chats" / "0" / "c1" / "store.db", messages, **fields)
    if "root" in fields:
        Editor(tmp_path / "x").run("INSERT INTO blobs VALUES (?, ?)", ("aa" * 32, CIRCLE), path)
    turns, _, problems = only(tmp_path)
    assert (said(turns), [one.code for one in problems]) == (expected, codes)
    assert [(call.status, call.exit_code) for call in turns[1].tool_calls] == [("error", 2)]


def test_calls_of_the_command_line_are_read_in_every_spelling(tmp_path: Path):
    used = {"type": "tool_use", "id": "t2", "name": "Read", "input": {"path": "/a.py"}}
    called = {"type": "tool-call", "toolCallId": "t3", "toolName": "Read", "input": {"path": "/b.py"}}
    messages: list[Any] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [used]},
        {"role": "tool", "content": [{"type": "tool_result", "tool_call_id": "t2", "output": "text", "error": "no"}]},
        {"role": "assistant", "content": [called]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "t3", "result": "text"}]},
    ]
    cli_chat(tmp_path / "chats" / "0" / "c1" / "store.db", messages)
    turns, session, problems = only(tmp_path)
    calls = [(c.name, c.command, c.paths, c.status) for turn in turns for c in turn.tool_calls]
    assert calls == [("Read", "", ("/a.py",), "error"), ("Read", "", ("/b.py",), "ok")]
    assert (session.tool_calls, session.tool_errors, problems) == (2, 1, [])
