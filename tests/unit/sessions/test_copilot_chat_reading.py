"""Copilot's chats in VS Code in every form, built by hand."""

from __future__ import annotations

from typing import Any

import pytest

import copilot_chats as chats
from copilot_chats import delete, initial, markdown, only, push, put, request, thinking, tool
from gemini_files import long_ago
from lerim.errors import UnfinishedError
from lerim.sessions.model import Tokens
from lerim.sessions.readers import find_working_folder


def test_a_log_is_replayed_with_what_it_sets_pushes_cuts_and_deletes(tmp_path):
    path = chats.log(
        tmp_path / "one.jsonl",
        initial(),
        push("requests", v=[request("one", state=None, result=None), request("dropped")]),
        push("requests", 0, "response", v=[markdown("th"), markdown("inking")]),
        push("requests", 0, "response", v=[markdown("done")], i=0),
        push("requests", v=[request("two", markdown("answer"))], i=1),
        put("customTitle", v="Draft"),
        put("customTitle", v="A title"),
        put("requests", 1, "response", 0, "value", v="changed"),
        put("inputState", "mode", "id", v="agent"),
        delete("requests", 1, "modelId"),
        delete("nothing", "there"),
    )
    turns, done = chats.reading(path)
    assert [turn.text for turn in turns] == ["one", "done", "two", "changed"]
    assert (done.session.title, turns[3].model, done.problems) == ("A title", "", [])


def test_a_damaged_line_costs_itself_and_later_lines_still_mean_their_own_request(tmp_path):
    said = [push("requests", v=[request(text)]) for text in ("two", "three")]
    answered = push("requests", 2, "response", v=[markdown("answer to three")])
    path = chats.log(tmp_path / "one.jsonl", initial(request("one")), *said, answered)
    path.write_bytes(path.read_bytes().replace(b'"text":"two"', b'"text":two"', 1))
    turns, done = chats.reading(path)
    assert [turn.text for turn in turns] == ["one", "three", "answer to three"]
    assert turns[2].model == "copilot/claude-sonnet-4.5"
    assert [problem.code for problem in done.problems] == ["bad-line"]


def test_an_entry_that_does_not_fit_is_told_and_changes_nothing(tmp_path):
    entries = [
        b"[]",
        b'{"kind":9,"k":["a"],"v":1}',
        b'{"kind":1,"k":"requests","v":1}',
        b'{"kind":1,"k":["requests",-1],"v":1}',
        b'{"kind":1,"k":["requests",1000000],"v":1}',
        b'{"kind":1,"k":["customTitle",0,"x"],"v":1}',
        b'{"kind":0,"v":[]}',
        b'{"kind":1,"k":[' + b'"a",' * 3000 + b'"b"],"v":1}',
        b'{"kind":1,"k":["a"],"v":' + b"[" * 5000 + b"]" * 5000 + b"}",
    ]
    path = chats.log(tmp_path / "one.jsonl", initial(request("one"), customTitle="A title"))
    path.write_bytes(path.read_bytes() + b"".join(entry + b"\n" for entry in entries))
    turns, done = chats.reading(path)
    assert ([turn.text for turn in turns], done.session.title) == (["one"], "A title")
    assert [problem.code for problem in done.problems] == ["bad-line"] * len(entries)


@pytest.mark.parametrize("name", ["one.json", "one.jsonl"])
def test_a_file_that_is_being_rewritten_waits_and_one_that_stays_damaged_gives_what_is_whole(tmp_path, name):
    requests = [request("one", markdown("first")), request("two")]
    path = tmp_path / name
    chats.whole(path, *requests) if name == "one.json" else chats.log(path, initial(*requests))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UnfinishedError):
        chats.reading(path)
    long_ago(path)
    turns, done = chats.reading(path)
    assert ([turn.text for turn in turns], len(done.problems)) == (["one", "first"], 1)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_message_and_an_answer_are_read_in_every_version(tmp_path, version):
    old = {
        "message": "hello",
        "response": [markdown("hi "), {"content": {"value": "there"}, "kind": "markdownContent"}],
    }
    new = request("hello", markdown("hi "), markdown("there"))
    turns, _ = only(tmp_path, old if version == 1 else new, version=version)
    assert [(turn.role, turn.text) for turn in turns] == [("user", "hello"), ("assistant", "hi there")]


def test_ids_that_only_count_are_told_apart_between_chats(tmp_path):
    first = chats.whole(tmp_path / "a.json", request("hello", requestId="request_0", responseId=None), sessionId="a")
    second = chats.whole(tmp_path / "b.json", request("hello", requestId="request_0", responseId=None), sessionId="b")
    assert chats.reading(first)[0][0].id != chats.reading(second)[0][0].id


def test_every_kind_of_part_is_told_as_words_reasoning_a_call_or_left_out(tmp_path):
    parts: list[Any] = [
        {"kind": "mcpServersStarting", "didStartServerIds": []},
        {"kind": "progressMessage", "content": markdown("Working")},
        thinking("let me see"),
        {"kind": "thinking", "value": ["and ", "think"]},
        markdown("Look at "),
        {"kind": "inlineReference", "inlineReference": {"path": "/a/b.py", "scheme": "file"}},
        {"kind": "inlineReference", "inlineReference": {"uri": {"fsPath": r"c:\a\c.py"}, "range": {}}},
        {"kind": "codeblockUri", "uri": {"path": "/a/b.py"}},
        {"kind": "markdownVuln", "content": markdown(" now"), "vulnerabilities": []},
        {"kind": "undoStop", "id": "x"},
        {"kind": "prepareToolInvocation", "toolName": "copilot_readFile"},
        {"kind": "confirmation", "title": "Go on?"},
        {"kind": "progressTaskSerialized", "content": markdown("Task")},
        {"kind": "somethingNew", "value": markdown("?")},
        tool("copilot_readFile"),
        markdown("Then."),
        "plain text",
        7,
    ]
    turns, done = only(tmp_path, request("go", *parts))
    assert [turn.text for turn in turns] == ["go", "Look at b.pyc.py now", "Then.plain text"]
    assert turns[1].reasoning == "let me see\n\nand think"
    assert [call.name for call in turns[1].tool_calls] == ["copilot_readFile"]
    assert done.session.tool_calls == 1


OWN = "<lerim-memories>\nuse uv\n</lerim-memories>"
ROUNDS = {"toolCallRounds": [{"response": "hello", "toolCalls": []}, {"response": "again", "toolCalls": []}]}
GROUP = {"kind": "textEditGroup", "uri": {"path": "/a/b.py"}, "edits": [[{"text": "x"}]]}
SAID: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "an answer that only the model kept is read from there": (
        [request("go", calls=ROUNDS), request("on", calls={"toolCallRounds": [{"response": ""}]})],
        ["go", "hello\n\nagain", "on"],
    ),
    "the fences around a change are no words": (
        [request("go", markdown("I change it.\n"), markdown("\n```\n"), GROUP, markdown("\n```\n"), markdown("Done."))],
        ["go", "I change it.", "Done."],
    ),
    "our own memories are cut from what was typed and answered": (
        [request(f"{OWN}go", markdown(f"ok{OWN}"))],
        ["go", "ok"],
    ),
    "an image alone is a prompt": (
        [request("", variableData={"variables": [{"kind": "image", "value": "…"}]})],
        ["[image]"],
    ),
}


@pytest.mark.parametrize(("requests", "said"), SAID.values(), ids=SAID)
def test_of_a_request_only_what_was_typed_and_answered_is_read(tmp_path, requests, said):
    assert [turn.text for turn in only(tmp_path, *requests)[0]] == said


def test_what_no_person_typed_makes_no_prompt(tmp_path):
    marks = ("isSystemInitiated", "hiddenFromTranscript", "requestHiddenFromTranscript")
    fields: list[dict[str, Any]] = [
        {"confirmation": "Continue"},
        {"message": {"text": "  "}},
        *({name: True} for name in marks),
    ]
    requests = [request('@agent Continue: "Continue to iterate?"', markdown("ok"), **one) for one in fields]
    turns, done = only(tmp_path, *requests)
    assert [turn.role for turn in turns] == ["assistant"] * 5
    assert done.session.prompts == 0


def test_tokens_are_told_only_by_versions_that_have_them(tmp_path):
    usage: dict[str, Any] = {"promptTokens": 100, "completionTokens": 7}
    for told in ({"result": {"usage": usage}}, {"usage": usage}, usage):
        _, done = only(tmp_path, request("one"), request("two", markdown("a"), **told))
        assert done.session.tokens == Tokens(100, 7)
    _, done = only(tmp_path, request("one", markdown("a"), **usage), request("stopped at once", **usage))
    assert done.session.tokens == Tokens(200, 14)
    assert only(tmp_path, request("one", markdown("a")))[1].session.tokens is None


def test_a_chat_tells_its_title_models_and_times_and_its_branch_and_folder_where_its_version_does(tmp_path):
    picked = {"metadata": {"resolvedModel": "gpt-5-mini"}}
    chosen = request("two", markdown("b"), modelId="copilot/auto", result=picked)
    asked = request("one", markdown("a")), chosen, request("two", markdown("b"), modelId="x/auto")
    told = {"repoData": {"workspaceType": "local-git", "localBranch": "fix/login"}}
    path = chats.whole(
        tmp_path / "chatSessions" / "one.json", *asked, workingDirectory="file:///home/ana/my%20app", **told
    )
    turns, done = chats.reading(path)
    session = done.session
    assert (session.id, session.title) == (chats.SESSION, "one")
    assert session.models == ("copilot/claude-sonnet-4.5", "gpt-5-mini", "x/auto")
    assert session.started is not None and session.started.timestamp() == 1_780_000_000
    assert (turns[0].cwd, session.cwds, session.branches) == (
        "/home/ana/my app",
        ("/home/ana/my app",),
        ("fix/login",),
    )
    assert find_working_folder(chats.transcript(path)) == "/home/ana/my app"
    turns, _ = chats.reading(path, cwd="/home/ana/app")
    assert turns[0].cwd == find_working_folder(chats.transcript(path, cwd="/home/ana/app")) == "/home/ana/app"


def test_fields_of_a_wrong_type_cost_themselves_and_a_request_that_is_none_costs_itself(tmp_path):
    wrong = {"modelId": 3, "agent": "x", "result": [], "modelState": 1, "timestamp": "now"}
    turns, done = only(tmp_path, request("one", markdown("a")) | wrong, "no request", request("two"))  # type: ignore[arg-type]
    assert [turn.text for turn in turns] == ["one", "a", "two"]
    assert len(done.problems) == 1
    wrong_variables: tuple[object, ...] = ({"a": 1}, [[]], 7, True, "x", None)
    for odd in wrong_variables:
        fields: dict[str, Any] = {"variableData": {"variables": odd}}
        turns, _ = only(tmp_path, request("", markdown("ok"), **fields), request("two"))
        assert [turn.text for turn in turns] == ["ok", "two"]
