"""The reader of Cursor against real rows, against a counter that shares no code with it, and in every era."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import independent_cursor as independent
from cursor_store import CID, Editor, counted, found, only, prompt, reply, said, taken, tool
from lerim.sessions.model import Tokens

FIXTURES = ("cursor-history-v016-composer-global-state.vscdb", "cursor-cli-test-store.db")


@pytest.fixture
def real(sessions_folder: Path, tmp_path: Path) -> list[Path]:
    """Roots with every store of Cursor that is shared, each where Cursor would keep it."""
    shared = sessions_folder / "cursor"
    if not shared.is_dir():
        pytest.skip(f"no sessions of Cursor at {shared}")
    editor, line = tmp_path / "fixture", tmp_path / "line"
    places = (editor / "globalStorage" / "state.vscdb", line / "chats" / "0" / "a1" / "store.db")
    for place, name in zip(places, FIXTURES, strict=True):
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(shared / "fixtures" / name, place)
    return [shared, shared / "built-from-real-rows" / "User", editor, line]


def test_every_real_session_agrees_with_an_independent_counter(real: list[Path]):
    ours: dict[str, independent.Counts] = {}
    theirs: dict[str, independent.Counts] = {}
    for root in real:
        transcripts, problems = found(root)
        # the recorded store has only the table that holds chats
        assert {one.message for one in problems} <= {"This database lacks its table ItemTable"}
        for transcript in transcripts:
            turns, session, faults = taken(transcript)
            assert faults == []
            ours[transcript.session_id] = counted(session)
            assert session.turns == len(turns) == len({turn.id for turn in turns})
            assert [turn.ordinal for turn in turns] == list(range(len(turns)))
            typed = [turn.text for turn in turns if turn.role == "user"]
            assert not [text for text in typed if text.startswith(independent.WRAPPERS)]
        for path in root.glob("globalStorage/state.vscdb"):
            theirs |= independent.composers(path)
        for path in root.glob("workspaceStorage/*/state.vscdb"):
            theirs |= independent.of_workspace(path)
        for path in root.glob("chats/*/*/store.db"):
            theirs[path.parent.name] = independent.of_cli(path)
    assert len(ours) == 34
    assert ours == {cid: counts for cid, counts in theirs.items() if cid in ours}
    assert all(counts == independent.Counts() for cid, counts in theirs.items() if cid not in ours)


def test_the_real_chat_of_2026_tells_its_folder_model_branch_and_time(real: list[Path]):
    (transcript,) = found(real[1])[0]
    turns, session, _ = taken(transcript)
    assert (session.title, session.models) == ("Commit action discussion", ("composer-1.5",))
    assert session.branches == ("feat/maintain-path",)
    assert {turn.cwd for turn in turns} == {"/workspace/acreta"} == {transcript.cwd}
    assert (session.tokens, session.cost) == (None, None)
    assert all(turn.time is not None for turn in turns)


def test_chat_tabs_of_2023_are_sessions(tmp_path: Path):
    bubbles = [
        {"type": "user", "id": "b1", "text": "Why?"},
        {"type": "ai", "id": "b2", "text": "Because.", "rawText": "Because.", "modelType": "gpt-4"},
        {"type": "user", "id": "b3", "text": ""},
    ]
    tab = {"tabId": "tab-1", "chatTitle": "A question", "lastSendTime": 1731818231743, "bubbles": bubbles}
    chats = {"workbench__panel__aichat__view__aichat__chatdata": {"tabs": [tab, {"tabId": "new", "bubbles": []}]}}
    Editor(tmp_path).workspace("w1", "file:///srv/app", **chats)
    turns, session, problems = only(tmp_path)
    assert said(turns) == [("user", "Why?"), ("assistant", "Because.")]
    assert (session.id, session.title, session.models) == ("tab-1", "A question", ("gpt-4",))
    assert session.ended is not None
    assert session.ended.year == 2024
    assert {turn.cwd for turn in turns} == {"/srv/app"}
    assert problems == []


def test_a_tab_of_2023_is_read_whose_bubbles_have_no_text_of_their_own(tmp_path: Path):
    rich = {"root": {"children": [{"type": "paragraph", "children": [{"text": "How do I sort?"}]}]}}
    bubbles = [
        {"type": "user", "id": "b1", "rawText": "", "initText": json.dumps(rich), "delegate": {"a": "How do I sort?"}},
        {"type": "ai", "id": "b2", "rawText": "With `sorted`.", "modelType": "gpt-3.5-turbo"},
        {"type": "user", "id": "b3", "rawText": "", "delegate": {"a": ""}},
    ]
    tab = {"tabId": "tab-1", "chatTitle": "How do I sort?", "lastSendTime": 1700506998707, "bubbles": bubbles}
    Editor(tmp_path).workspace(
        "w1", "file:///srv/app", workbench__panel__aichat__view__aichat__chatdata={"tabs": [tab]}
    )
    turns, session, problems = only(tmp_path)
    assert said(turns) == [("user", "How do I sort?"), ("assistant", "With `sorted`.")]
    assert (session.prompts, session.models, problems) == (1, ("gpt-3.5-turbo",), [])


@pytest.mark.parametrize("kept", ["workspace", "composer", "moved"])
def test_composers_of_2024_and_early_2025_hold_their_conversation(tmp_path: Path, kept: str):
    editor = Editor(tmp_path)
    head = {"composerId": CID, "name": "Old", "createdAt": 1731784818255, "lastUpdatedAt": 1741784818255}
    whole = head | {"conversation": [prompt("Do it"), reply("Done")]}
    listed = head if kept == "composer" else whole
    place = editor.workspace("w1", "file:///srv/app", composer__composerData={"allComposers": [listed]})
    if kept == "composer":
        editor.put(f"composerData:{CID}", whole)
    elif kept == "moved":
        editor.chat([prompt("Do it"), reply("Done"), prompt("More", "u2")], name="Old")
    turns, session, problems = only(tmp_path)
    assert [turn.text for turn in turns] == ["Do it", "Done", "More"][: 3 if kept == "moved" else 2]
    assert (session.id, session.title, session.cwds, problems) == (CID, "Old", ("/srv/app",), [])
    assert session.path == (place if kept == "workspace" else editor.all)


@pytest.mark.parametrize("damage", ["time", "row"])
def test_a_chat_with_an_impossible_time_or_in_a_damaged_row_is_read(tmp_path: Path, damage: str):
    editor = Editor(tmp_path)
    time = 1731784818255 if damage == "row" else 1731784818255000
    chat = {"composerId": CID, "lastUpdatedAt": time, "conversation": [prompt("Do it"), reply("Done")]}
    text = json.dumps({"allComposers": [chat]})
    written = text[:-2] + ',{"compo' if damage == "row" else text
    editor.workspace("w1", "file:///srv/app", composer__composerData=written.encode())
    [transcript], problems = found(tmp_path)
    assert [turn.text for turn in taken(transcript)[0]] == ["Do it", "Done"]
    assert transcript.mtime_ns < 1 << 63
    assert bool(problems) == (damage == "row")


def test_the_order_is_the_composers_not_that_of_rows_and_orphans_and_bookkeeping_are_left_out(tmp_path: Path):
    editor = Editor(tmp_path)
    bubbles = [prompt("One", "z"), reply("", "m"), reply("Two", "a"), prompt("Three", "b"), reply("Four", "c")]
    editor.chat(bubbles)
    for one in reversed(bubbles):
        editor.put(f"bubbleId:{CID}:{one['bubbleId']}", one)
    editor.put(f"bubbleId:{CID}:gone", prompt("Deleted", "gone"))
    editor.put(f"bubbleId:{CID}0:other", prompt("Of another chat", "other"))
    turns, session, _ = only(tmp_path)
    assert [turn.text for turn in turns] == ["One", "Two", "Three", "Four"]
    assert session.prompts == 2


def test_pieces_of_an_answer_are_one_turn_until_words_follow_on_tool_calls(tmp_path: Path):
    Editor(tmp_path).chat(
        [
            prompt("Go"),
            reply("", "a0", thinking={"text": "Let me see"}),
            reply("Looking", "a1"),
            tool("read_file_v2", {"targetFile": "/a"}, {"contents": "x"}, "t1"),
            tool("read_file_v2", {"targetFile": "/b"}, {"contents": "y"}, "t2"),
            reply("Found it", "a2"),
        ]
    )
    turns, _, _ = only(tmp_path)
    assert [(turn.text, turn.reasoning, len(turn.tool_calls)) for turn in turns] == [
        ("Go", "", 0),
        ("Looking", "Let me see", 2),
        ("Found it", "", 0),
    ]


def test_a_row_that_is_null_bytes_or_no_json_costs_that_row(tmp_path: Path):
    editor = Editor(tmp_path)
    values = (None, "", b"\xff\xfe", "[1]", "{", "null")
    broken = [reply("Broken", f"b{number}") for number in range(len(values))]
    editor.chat([prompt("Before"), *broken, prompt("After", "u2")])
    for one, value in zip(broken, values, strict=True):
        editor.put(f"bubbleId:{CID}:{one['bubbleId']}", value)
    turns, _, problems = only(tmp_path)
    assert [turn.text for turn in turns] == ["Before", "After"]
    assert [one.code for one in problems] == ["bad-row"] * 5


def test_values_that_are_blobs_or_hold_lone_surrogates_are_read_like_text(tmp_path: Path):
    editor = Editor(tmp_path)
    editor.chat([prompt("Hi"), reply("There")])
    editor.put(f"bubbleId:{CID}:u1", json.dumps(prompt("Grüße 你好\0 \ud83d")).encode())
    composer = json.dumps({"composerId": CID, "fullConversationHeadersOnly": [{"bubbleId": "u1"}, {"bubbleId": "a1"}]})
    editor.put(f"composerData:{CID}", composer.encode())
    turns, _, problems = only(tmp_path)
    assert said(turns) == [("user", "Grüße 你好\ufffd \ufffd"), ("assistant", "There")]
    assert problems == []


def test_a_chat_whose_composer_is_damaged_keeps_its_bubbles_by_their_times(tmp_path: Path):
    editor = Editor(tmp_path)
    editor.chat([prompt("One", createdAt="2026-02-22T06:33:44.533Z"), reply("Two", createdAt="2026-02-22T06:33:45Z")])
    editor.put(f"bubbleId:{CID}:u1", prompt("One", createdAt="2026-02-22T06:33:44.533Z"))
    editor.put(f"composerData:{CID}", '{"composerId": "')
    turns, _, problems = only(tmp_path)
    assert said(turns) == [("user", "One"), ("assistant", "Two")]
    assert [one.code for one in problems] == ["bad-row"]


def test_chats_that_were_deleted_cleared_or_never_begun_are_none(tmp_path: Path):
    editor = Editor(tmp_path)
    editor.put("composerData:dead", None)
    editor.put("composerData:draft", {"composerId": "draft", "fullConversationHeadersOnly": []})
    headers = [{"bubbleId": "x", "type": 1}]
    for cid in ("cleared", "headed"):
        editor.put(f"composerData:{cid}", {"composerId": cid, "fullConversationHeadersOnly": headers})
    editor.chat([prompt("Here"), reply("Ok")])
    cids = ("dead", "draft", "headed", CID)
    heads = [{"composerId": cid, "lastUpdatedAt": 1771742091550} for cid in cids]
    editor.put("composer.composerHeaders", {"allComposers": heads}, table="ItemTable")
    transcripts, problems = found(tmp_path)
    assert ([one.session_id for one in transcripts], problems) == ([CID], [])


def test_tool_calls_of_early_versions_stand_beside_their_bubbles(tmp_path: Path):
    calls = {
        "a1": {"tool": 7, "name": "edit_file", "params": '{"relativeWorkspacePath": "a.py"}', "status": "completed"}
    }
    capabilities = [{"type": 15, "data": {"bubbleDataMap": json.dumps(calls)}}]
    editor = Editor(tmp_path)
    editor.chat([prompt("Go"), reply("", "a1", capabilityType=15)], _v=1, capabilities=capabilities)
    turns, _, _ = only(tmp_path)
    assert [(call.name, call.kind, call.paths) for call in turns[1].tool_calls] == [("edit_file", "edit", ("a.py",))]


def test_subagents_are_tied_to_their_parents_and_share_their_folder(tmp_path: Path):
    editor = Editor(tmp_path)
    window = {"id": "w1", "uri": {"fsPath": "/srv/app", "scheme": "file"}}
    editor.chat([prompt("Go")], "parent", workspaceIdentifier=window)
    told = {"parentComposerId": "parent", "toolCallId": "t"}
    editor.chat([prompt("Look", "u9"), reply("Found", "a9")], "child", subagentInfo=told)
    transcripts = {one.session_id: one for one in found(tmp_path)[0]}
    assert transcripts["child"].parent == "parent"
    turns, session, _ = taken(transcripts["child"])
    assert session.parent == "parent"
    assert [(turn.text, turn.cwd, turn.sidechain) for turn in turns] == [("Found", "/srv/app", True)]
    assert session.prompts == 0  # what the agent was told is no person's word
    turns, session, _ = taken(transcripts["parent"])
    assert (session.parent, session.prompts, turns[0].sidechain) == ("", 1, False)


def test_tokens_and_cost_are_blank_where_cursor_keeps_them_and_told_where_it_does_not(tmp_path: Path):
    editor = Editor(tmp_path)
    editor.chat([prompt("Go"), reply("Ok", tokenCount={"inputTokens": 0, "outputTokens": 0})], "none", usageData={})
    counted_ = reply("Ok", "a2", tokenCount={"inputTokens": 120, "outputTokens": 8})
    usage = {"gpt-5": {"costInCents": 12.5, "amount": 2}, "o3": {"costInCents": 4, "amount": 1}}
    editor.chat([prompt("Go", "u2"), counted_], "some", usageData=usage)
    sessions = {one.session_id: taken(one)[1] for one in found(tmp_path)[0]}
    assert (sessions["none"].tokens, sessions["none"].cost) == (None, None)
    assert (sessions["some"].tokens, sessions["some"].cost) == (Tokens(120, 8), 0.165)


ERROR = 'For the code present, we get this error:\n```\nUnused CSS selector "nav"\n```'
TYPED = {
    "[Image]\n<image_files>\n1. /a.png\n</image_files>\n<user_query>\nsee?\n</user_query>": "see?",
    "[Image]\n[Image]\n<image_files>\n1. /a.png\n</image_files>": "[image]",
    "[Image]\nis what I see": "[Image]\nis what I see",
    "<timestamp>Tue</timestamp>\n<user_query>go</user_query>\n<system_reminder>x</system_reminder>": "go",
    "<project_context>\n<rules>x</rules>\n</project_context>\n<user_query>and</user_query>": "and",
    '<some_new_context kind="1">x</some_new_context>\n<user_query>then</user_query>': "then",
    "<plugin_info>x</plugin_info>\n<agent_skills>y</agent_skills>\nnow this": "now this",
    "<div>is a tag I typed</div>": "<div>is a tag I typed</div>",
    "Explain <user_query> to me": "Explain <user_query> to me",
    "<lerim-memories>\nold\n</lerim-memories>\nUse this": "Use this",
    f"{ERROR}\nHow can I resolve this? If you propose a fix, please make it concise.": ERROR,
    f"{ERROR}\nFix it, verify, and then give a concise explanation. ": ERROR,
    f"{ERROR}\nFix it, but keep the selector": f"{ERROR}\nFix it, but keep the selector",
    "<hooks_context>lint failed</hooks_context>": None,
    '<mcp_file_system servers="2">\nx\n</mcp_file_system>\n<dynamic_tools>y</dynamic_tools>': None,
}


def test_what_a_person_typed_is_told_from_what_stands_around_it(tmp_path: Path):
    more = [
        prompt("Continue with the plan", "s", isSimulatedMsg=True),
        prompt("", "i", images=[{"uuid": "1"}]),
        prompt("", "l", richText=json.dumps({"root": {"children": [{"children": [{"text": "Rich"}]}]}})),
        prompt("Continue working toward the goal", "g"),
    ]
    bubbles = [*(prompt(text, f"u{number}") for number, text in enumerate(TYPED)), *more]
    heads: list[dict[str, Any]] = [{"bubbleId": one["bubbleId"], "type": 1} for one in bubbles]
    heads[-1]["grouping"] = {"isRenderable": True, "isSimulatedMsg": True}
    Editor(tmp_path).chat(bubbles, fullConversationHeadersOnly=heads)
    turns, _, _ = only(tmp_path)
    assert [turn.text for turn in turns] == [*(words for words in TYPED.values() if words), "[image]", "Rich"]


def test_the_parts_of_a_rich_text_stand_on_lines_of_their_own(tmp_path: Path):
    def node(kind: str, *children: Any) -> dict[str, Any]:
        return {"type": kind, "children": [{"text": one} if isinstance(one, str) else one for one in children]}

    items = node("list", node("listitem", "No floats"), node("listitem", "Round half ", node("link", "even")))
    rich = {"root": node("root", node("heading", "Prices"), items, node("quote", "as agreed"), node("paragraph", "Go"))}
    Editor(tmp_path).chat([prompt("", "l", richText=json.dumps(rich))])
    turns, _, _ = only(tmp_path)
    assert turns[0].text == "Prices\nNo floats\nRound half even\nas agreed\nGo"


def test_times_of_any_form_are_read(tmp_path: Path):
    bubbles = [
        prompt("One", "u1", createdAt="2026-02-22T06:33:44.533Z"),
        reply("", "a1"),
        prompt("Two", "u2", timingInfo={"clientStartTime": 1741784818255.7}),
        prompt("Three", "u3", createdAt="yesterday", timingInfo={"clientStartTime": 12.5}),
    ]
    Editor(tmp_path).chat(bubbles)
    turns, session, _ = only(tmp_path)
    assert [turn.time.year if turn.time else None for turn in turns] == [2026, 2025, None]
    assert session.started is not None


def test_an_exchange_has_the_time_that_only_its_last_answer_names(tmp_path: Path):
    timing = {"clientStartTime": 219504.6, "clientRpcSendTime": 1748189063978, "clientEndTime": 1748189135346}
    bubbles = [
        prompt("Sort the names", "u1"),
        tool("read_file", {"targetFile": "a.py"}),
        reply("Sorted", "a1", timingInfo=timing),
        prompt("Now the dates", "u2"),
        reply("Not yet", "a2"),
    ]
    Editor(tmp_path).chat(bubbles)
    turns, _, _ = only(tmp_path)
    sent = datetime(2025, 5, 25, 16, 4, 23, 978000, tzinfo=UTC)
    assert [(turn.role, turn.time) for turn in turns] == [
        ("user", sent),
        ("assistant", sent),
        ("assistant", sent),
        ("user", None),
        ("assistant", None),
    ]
