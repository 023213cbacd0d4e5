"""Tool calls of Copilot's chats in VS Code, built by hand."""

from __future__ import annotations

import json

import pytest

from copilot_chats import asked, markdown, metadata, only, request, terminal, tool


def test_a_call_is_one_whether_the_chat_shows_it_the_model_asked_for_it_or_both(tmp_path):
    calls = [
        asked("read_file", "toolu_1", filePath="/a/b.py"),
        asked("run_in_terminal", "toolu_2", command="make", explanation="Build it"),
        asked("grep_search", "toolu_3", query="def main"),
    ]
    results = {"toolu_1": "text of b", "toolu_2": "built", "toolu_3": "2 matches"}
    shown = [tool("copilot_readFile"), terminal("make"), markdown("Found."), tool("copilot_findTextInFiles")]
    turns, done = only(tmp_path, request("go", *shown, calls=metadata(*calls, results=results)))
    assert [[call.name for call in turn.tool_calls] for turn in turns] == [
        [],
        ["read_file", "run_in_terminal"],
        ["grep_search"],
    ]
    read, ran, searched = (call for turn in turns for call in turn.tool_calls)
    assert (read.kind, read.paths, read.output) == ("read", ("/a/b.py",), "text of b")
    assert (ran.kind, ran.command, ran.description, ran.output) == ("shell", "make", "Build it", "built")
    assert (searched.kind, searched.command) == ("search", "def main")
    assert done.session.tool_calls == 3


def test_a_call_that_the_chat_hides_stands_after_the_one_before_it(tmp_path):
    calls = [asked("read_file", "toolu_1"), asked("manage_todo_list", "toolu_2")]
    turns, _ = only(tmp_path, request("go", tool("copilot_readFile"), markdown("Done."), calls=metadata(*calls)))
    assert [[call.name for call in turn.tool_calls] for turn in turns] == [[], ["read_file", "manage_todo_list"], []]


def test_calls_of_a_subagent_are_calls_of_their_own(tmp_path):
    calls = [asked("runSubagent", "toolu_1", description="Look", prompt="find it")]
    nested = tool("copilot_readFile", subAgentInvocationId="x")
    turns, done = only(tmp_path, request("go", tool("runSubagent"), nested, calls=metadata(*calls)))
    assert [(call.name, call.kind) for call in turns[1].tool_calls] == [
        ("runSubagent", "agent"),
        ("copilot_readFile", "read"),
    ]
    assert done.session.tool_calls == 2


@pytest.mark.parametrize(
    ("shown", "result", "status", "code"),
    [
        (terminal("make", 0), "fine", "ok", 0),
        (terminal("make", 2), "boom", "error", 2),
        (terminal("make"), "boom\n\nCommand exited with code 3", "error", 3),
        (terminal("make"), "The command exited with code 0.\nfine", "ok", 0),
        (terminal("make"), "fine", "ok", None),
        (terminal("make", confirmed={"type": 0}), "", "denied", None),
        (terminal("make", confirmed=False), "", "denied", None),
        (terminal("make", confirmed={"type": 5}), "The user chose to skip", "denied", None),
        (terminal("make", confirmed=True), "fine", "ok", None),
        (terminal("make"), "ERROR while calling tool: no such terminal", "error", None),
        (terminal("make"), "The user cancelled the tool call.", "interrupted", None),
        (terminal("make", confirmed={"type": 0}), "The user cancelled the tool call.", "denied", None),
    ],
)
def test_how_a_command_ended_is_told_in_all_its_forms(tmp_path, shown, result, status, code):
    calls = metadata(asked("run_in_terminal", "toolu_1", command="make"), results={"toolu_1": result})
    turns, done = only(tmp_path, request("go", shown, calls=calls))
    (call,) = turns[1].tool_calls
    assert (call.kind, call.command, call.status, call.exit_code, call.output) == (
        "shell",
        "make",
        status,
        code,
        result,
    )
    assert (done.session.tool_errors, done.session.denials) == (status == "error", status == "denied")


def test_a_command_is_told_as_it_was_run_also_where_the_person_changed_it(tmp_path):
    line = {"original": "pip install x", "toolEdited": "pip install x ", "userEdited": "uv add x"}
    edited = tool("run_in_terminal", toolSpecificData={"kind": "terminal", "commandLine": line})
    older = tool("copilot_runInTerminal", toolSpecificData={"kind": "terminal", "command": "make", "language": "sh"})
    printed = {"kind": "terminal", "commandLine": {"original": "ls"}, "terminalCommandOutput": {"text": "a.py"}}
    shown = tool("run_in_terminal", toolSpecificData=printed)
    turns, _ = only(tmp_path, request("go", edited, older, shown))
    assert [(call.kind, call.command) for call in turns[1].tool_calls] == [
        ("shell", "uv add x"),
        ("shell", "make"),
        ("shell", "ls"),
    ]
    assert turns[1].tool_calls[2].output == "a.py"


def test_a_result_is_read_from_a_tree_of_prompt_elements(tmp_path):
    leaf = [{"type": 2, "text": "one"}, {"type": 1, "children": [{"type": 2, "text": "two", "lineBreakBefore": True}]}]
    told = {"content": [{"value": {"node": {"type": 1, "children": leaf}}}, {"value": "plain"}, {"other": 1}]}
    calls = metadata(asked("read_file", "toolu_1")) | {"toolCallResults": {"toolu_1": told}}
    turns, _ = only(tmp_path, request("go", tool("copilot_readFile"), calls=calls))
    assert turns[1].tool_calls[0].output == "one\ntwo\nplain"


def test_what_a_tool_of_a_server_brought_back_is_told_by_its_details(tmp_path):
    details = {"input": "{}", "output": [{"type": "embed", "isText": True, "value": "no such issue"}], "isError": True}
    turns, done = only(tmp_path, request("go", tool("mcp_tracker_get", resultDetails=details)))
    (call,) = turns[1].tool_calls
    assert (call.kind, call.status, call.output) == ("other", "error", "no such issue")
    assert done.session.tool_errors == 1


@pytest.mark.parametrize(("told", "output"), [("no such tool", "no such tool"), (True, "")])
def test_a_tool_that_failed_says_so_in_newer_versions(tmp_path, told, output):
    turns, done = only(tmp_path, request("go", tool("mcp_tracker_get", resultError=told)))
    (call,) = turns[1].tool_calls
    assert (call.status, call.output, done.session.tool_errors) == ("error", output, 1)


def test_what_was_asked_is_told_by_the_details_where_a_cancelled_request_keeps_nothing_else(tmp_path):
    details = {"input": json.dumps({"filePath": "/a/b.py", "query": "x"}), "output": []}
    turns, _ = only(tmp_path, request("go", tool("copilot_readFile", resultDetails=details), result={}, state=2))
    (call,) = turns[1].tool_calls
    assert (call.kind, call.paths, call.command) == ("read", ("/a/b.py",), "x")


def test_a_call_shown_again_with_its_end_is_one(tmp_path):
    shown = [terminal("make", toolCallId="a"), tool("copilot_readFile", "b"), terminal("make", 2, toolCallId="a")]
    turns, done = only(tmp_path, request("go", *shown))
    assert [(call.name, call.status) for call in turns[1].tool_calls] == [
        ("run_in_terminal", "error"),
        ("copilot_readFile", "ok"),
    ]
    assert done.session.tool_calls == 2


def test_a_call_that_nobody_had_confirmed_when_the_request_was_cancelled_did_not_run(tmp_path):
    waited = terminal("make") | {"isConfirmed": None}
    del (older := terminal("make"))["isConfirmed"]
    turns, _ = only(tmp_path, request("go", waited, older, result=None, state=2))
    assert [call.status for call in turns[1].tool_calls] == ["interrupted", "interrupted"]


def test_tools_are_known_by_their_name_inside_the_editor_too(tmp_path):
    shown = [tool("vscode_fetchWebPage_internal"), tool("vscode_editFile_internal"), tool("copilot_executePrompt")]
    turns, _ = only(tmp_path, request("go", *shown))
    assert [call.kind for call in turns[1].tool_calls] == ["web", "edit", "agent"]


def test_edits_have_both_sides_in_every_form_a_tool_asks_for_them(tmp_path):
    patch = "*** Begin Patch\n*** Update File: /a/p.py\n@@\n-old\n+new\n*** End Patch"
    calls = [
        asked("replace_string_in_file", filePath="/a/b.py", oldString="x", newString="y"),
        asked(
            "multi_replace_string_in_file",
            replacements=[
                {"filePath": "/a/c.py", "oldString": "1", "newString": "2"},
                {"filePath": "/a/d.py", "oldString": "3", "newString": "4"},
            ],
        ),
        asked("insert_edit_into_file", filePath="/a/e.py", code="whole"),
        asked("apply_patch", input=patch),
        asked("create_file", filePath="/a/f.py", content="text"),
    ]
    turns, _ = only(tmp_path, request("go", markdown("ok"), calls=metadata(*calls)))
    made = turns[1].tool_calls
    assert [call.kind for call in made] == ["edit"] * 4 + ["write"]
    assert [(edit.path, edit.old, edit.new) for call in made for edit in call.edits] == [
        ("/a/b.py", "x", "y"),
        ("/a/c.py", "1", "2"),
        ("/a/d.py", "3", "4"),
        ("/a/e.py", "", "whole"),
        ("/a/p.py", "old", "new"),
        ("/a/f.py", "", "text"),
    ]
    assert made[1].paths == ("/a/c.py", "/a/d.py")


def test_changes_that_no_tool_asked_for_are_an_edit_and_those_a_tool_asked_for_are_not_told_twice(tmp_path):
    group = {
        "kind": "textEditGroup",
        "uri": {"fsPath": "/a/b.py"},
        "edits": [[{"text": "x = 1", "range": {}}], [{"text": "y = 2"}]],
    }
    turns, _ = only(tmp_path, request("go", markdown("ok"), group))
    (call,) = turns[1].tool_calls
    assert (call.kind, call.status, call.paths, call.edits[0].new) == ("edit", "ok", ("/a/b.py",), "x = 1\ny = 2")
    calls = metadata(asked("replace_string_in_file", filePath="/a/b.py", oldString="x", newString="y"))
    turns, _ = only(tmp_path, request("go", tool("copilot_replaceString"), group, calls=calls))
    assert [call.name for call in turns[1].tool_calls] == ["replace_string_in_file"]


def test_questions_put_to_the_person_have_their_answers(tmp_path):
    questions = [
        {"header": "Store", "question": "Which store?", "options": [{"label": "SQLite", "description": "a file"}]}
    ]
    answers = {"answers": {"Store": {"selected": ["SQLite"], "freeText": "no server", "skipped": False}}}
    calls = metadata(
        asked("vscode_askQuestions", "toolu_1", questions=questions), results={"toolu_1": json.dumps(answers)}
    )
    turns, _ = only(tmp_path, request("go", tool("vscode_askQuestions"), calls=calls))
    (call,) = turns[1].tool_calls
    assert (call.kind, call.status) == ("ask", "ok")
    assert [(one.question, one.options, one.answer, one.chosen_descriptions) for one in call.answers] == [
        ("Which store?", ("SQLite",), "SQLite\nno server", "a file")
    ]
    carousel = {
        "kind": "questionCarousel",
        "questions": [{"id": "q1", "title": "Which?", "options": [{"label": "A"}]}],
        "data": {"q1": "A"},
        "isUsed": True,
    }
    turns, _ = only(tmp_path, request("go", carousel))
    assert [(one.question, one.answer) for one in turns[1].tool_calls[0].answers] == [("Which?", "A")]


def test_a_cancelled_request_leaves_its_open_calls_interrupted_and_a_running_one_leaves_them_pending(tmp_path):
    waiting = terminal("make", complete=False)
    for fields in ({"state": 2}, {"state": None, "isCanceled": True}):
        turns, _ = only(tmp_path, request("go", waiting, result=None, **fields))
        assert turns[1].tool_calls[0].status == "interrupted"
    turns, _ = only(tmp_path, request("go", waiting, result=None, state=0))
    assert turns[1].tool_calls[0].status == "pending"
    turns, _ = only(tmp_path, request("go", waiting, result=None, state=0), request("next"))
    assert turns[1].tool_calls[0].status == "interrupted"
