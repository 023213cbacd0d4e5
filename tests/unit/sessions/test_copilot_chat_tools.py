"""Tool calls of Copilot's chats in VS Code, built by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from copilot_chats import asked, markdown, metadata, only, request, terminal, tool
from lerim.sessions.model import FileEdit, QuestionAnswer
from reader_checks import CallCase, case, check_calls


def test_a_call_is_one_whether_the_chat_shows_it_the_model_asked_for_it_or_both(tmp_path: Path):
    calls = [
        asked("read_file", "toolu_1", filePath="/a/b.py"),
        asked("run_in_terminal", "toolu_2", command="make", explanation="Build it"),
        asked("manage_todo_list", "toolu_3"),
        asked("grep_search", "toolu_4", query="def main"),
    ]
    results = {"toolu_1": "text of b", "toolu_2": "built", "toolu_4": "2 matches"}
    nested = tool("copilot_readFile", subAgentInvocationId="x")
    shown = [tool("copilot_readFile"), terminal("make"), markdown("Found."), tool("copilot_findTextInFiles"), nested]
    turns, done = only(tmp_path, request("go", *shown, calls=metadata(*calls, results=results)))
    names = [[call.name for call in turn.tool_calls] for turn in turns[1:]]
    # the chat hides the third call, and shows one of a subagent that the model did not ask for
    hidden = ["read_file", "run_in_terminal", "manage_todo_list"]
    assert names == [hidden, ["grep_search", "copilot_readFile"]]
    read, ran, _, searched, _ = (call for turn in turns for call in turn.tool_calls)
    assert (read.kind, read.paths, read.output) == ("read", ("/a/b.py",), "text of b")
    assert (ran.kind, ran.command, ran.description, ran.output) == ("shell", "make", "Build it", "built")
    assert (searched.kind, searched.command) == ("search", "def main")
    assert done.session.tool_calls == 5


def in_terminal(status: str, code: int | None, output: str, shown: dict[str, Any] | None = None) -> CallCase:
    expected = {"kind": "shell", "command": "make", "output": output, "status": status, "exit_code": code}
    return case(shown or terminal("make"), **expected)


CANCELLED = "The user cancelled the tool call."
COMMANDS = [
    in_terminal("ok", 0, "fine", terminal("make", 0)),
    in_terminal("error", 2, "boom", terminal("make", 2)),
    in_terminal("error", 3, "boom\n\nCommand exited with code 3"),
    in_terminal("ok", 0, "The command exited with code 0.\nfine"),
    in_terminal("error", 3, f"{'boom ' * 200}\n\nCommand exited with code 3"),
    in_terminal("ok", None, "fine"),
    in_terminal("denied", None, "", terminal("make", confirmed={"type": 0})),
    in_terminal("denied", None, "", terminal("make", confirmed=False)),
    in_terminal("denied", None, "The user chose to skip", terminal("make", confirmed={"type": 5})),
    in_terminal("ok", None, "fine", terminal("make", confirmed=True)),
    in_terminal("error", None, "ERROR while calling tool: no such terminal"),
    in_terminal("interrupted", None, CANCELLED),
    in_terminal("denied", None, CANCELLED, terminal("make", confirmed={"type": 0})),
]


def test_how_a_command_ended_is_told_in_all_its_forms(tmp_path: Path):
    calls = [asked("run_in_terminal", f"toolu_{at}", command="make") for at in range(len(COMMANDS))]
    results = {f"toolu_{at}": expected["output"] for at, (_, expected) in enumerate(COMMANDS)}
    shown = [record for record, _ in COMMANDS]
    turns, done = only(tmp_path, request("go", *shown, calls=metadata(*calls, results=results)))
    check_calls(turns[1].tool_calls, COMMANDS)
    assert (done.session.tool_errors, done.session.denials) == (4, 4)


def terminal_details(**details: Any) -> dict[str, Any]:
    return tool("run_in_terminal", toolSpecificData={"kind": "terminal", **details})


LINE = {"original": "pip install x", "toolEdited": "pip install x ", "userEdited": "uv add x"}
DETAILS = {"input": "{}", "output": [{"type": "embed", "isText": True, "value": "no such issue"}], "isError": True}
SHOWN = [
    case(terminal_details(commandLine=LINE), kind="shell", command="uv add x"),
    case(terminal_details(command="make", language="sh"), kind="shell", command="make"),
    case(
        terminal_details(commandLine={"original": "ls"}, terminalCommandOutput={"text": "a.py"}),
        command="ls",
        output="a.py",
    ),
    case(tool("mcp_tracker_get", resultDetails=DETAILS), kind="other", status="error", output="no such issue"),
    case(tool("mcp_tracker_get", resultError="no such tool"), status="error", output="no such tool"),
    case(tool("mcp_tracker_get", resultError=True), status="error", output=""),
    case(tool("vscode_fetchWebPage_internal"), kind="web"),
    case(tool("vscode_editFile_internal"), kind="edit"),
    case(tool("copilot_executePrompt"), kind="agent"),
]


def test_a_call_that_only_the_chat_shows_is_told_by_its_details(tmp_path: Path):
    turns, _ = only(tmp_path, request("go", *(record for record, _ in SHOWN)))
    check_calls(turns[1].tool_calls, SHOWN)


def test_a_result_is_read_from_a_tree_of_prompt_elements(tmp_path):
    leaf = [{"type": 2, "text": "one"}, {"type": 1, "children": [{"type": 2, "text": "two", "lineBreakBefore": True}]}]
    told = {"content": [{"value": {"node": {"type": 1, "children": leaf}}}, {"value": "plain"}, {"other": 1}]}
    calls = metadata(asked("read_file", "toolu_1")) | {"toolCallResults": {"toolu_1": told}}
    turns, _ = only(tmp_path, request("go", tool("copilot_readFile"), calls=calls))
    assert turns[1].tool_calls[0].output == "one\ntwo\nplain"


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


PATCH = "*** Begin Patch\n*** Update File: /a/p.py\n@@\n-old\n+new\n*** End Patch"
REPLACEMENTS = [{"filePath": f"/a/{name}.py", "oldString": "1", "newString": "2"} for name in "cd"]
REPLACED = (FileEdit("/a/c.py", "1", "2"), FileEdit("/a/d.py", "1", "2"))
CHANGES = {"filePath": "/a/b.py", "oldString": "x", "newString": "y"}
EDITS = [
    case(asked("replace_string_in_file", **CHANGES), kind="edit", edits=(FileEdit("/a/b.py", "x", "y"),)),
    case(
        asked("multi_replace_string_in_file", replacements=REPLACEMENTS), paths=("/a/c.py", "/a/d.py"), edits=REPLACED
    ),
    case(asked("insert_edit_into_file", filePath="/a/e.py", code="x"), edits=(FileEdit("/a/e.py", "", "x"),)),
    case(asked("apply_patch", input=PATCH), kind="edit", edits=(FileEdit("/a/p.py", "old", "new"),)),
    case(asked("create_file", filePath="/f.py", content="x"), kind="write", edits=(FileEdit("/f.py", "", "x"),)),
]


def test_edits_have_both_sides_in_every_form_a_tool_asks_for_them(tmp_path: Path):
    calls = metadata(*(record for record, _ in EDITS))
    turns, _ = only(tmp_path, request("go", markdown("ok"), calls=calls))
    check_calls(turns[1].tool_calls, EDITS)


def test_changes_that_no_tool_asked_for_are_an_edit_and_those_a_tool_asked_for_are_not_told_twice(tmp_path):
    edits = [[{"text": "x = 1", "range": {}}], [{"text": "y = 2"}]]
    group = {"kind": "textEditGroup", "uri": {"fsPath": "/a/b.py"}, "edits": edits}
    turns, _ = only(tmp_path, request("go", markdown("ok"), group))
    (call,) = turns[1].tool_calls
    assert (call.kind, call.status, call.paths, call.edits[0].new) == ("edit", "ok", ("/a/b.py",), "x = 1\ny = 2")
    calls = metadata(asked("replace_string_in_file", **CHANGES))
    turns, _ = only(tmp_path, request("go", tool("copilot_replaceString"), group, calls=calls))
    assert [call.name for call in turns[1].tool_calls] == ["replace_string_in_file"]


def test_questions_put_to_the_person_have_their_answers(tmp_path):
    store = {"label": "SQLite", "description": "a file"}
    questions = [{"header": "Store", "question": "Which store?", "options": [store]}]
    answers = {"answers": {"Store": {"selected": ["SQLite"], "freeText": "no server", "skipped": False}}}
    called = asked("vscode_askQuestions", "toolu_1", questions=questions)
    calls = metadata(called, results={"toolu_1": json.dumps(answers)})
    turns, _ = only(tmp_path, request("go", tool("vscode_askQuestions"), calls=calls))
    expected = (QuestionAnswer("Which store?", ("SQLite",), "SQLite\nno server", ("a file",)),)
    check_calls(turns[1].tool_calls, [case({}, kind="ask", status="ok", answers=expected)])
    assert expected[0].chosen_descriptions == "a file"


def test_a_cancelled_request_leaves_its_open_calls_interrupted_and_a_running_one_leaves_them_pending(tmp_path):
    waiting, unconfirmed = terminal("make", complete=False), terminal("make") | {"isConfirmed": None}
    del (older := terminal("make"))["isConfirmed"]
    turns, _ = only(tmp_path, request("go", unconfirmed, older, result=None, state=2))  # they did not run
    assert [call.status for call in turns[1].tool_calls] == ["interrupted", "interrupted"]
    for fields in ({"state": 2}, {"state": None, "isCanceled": True}):
        turns, _ = only(tmp_path, request("go", waiting, result=None, **fields))
        assert turns[1].tool_calls[0].status == "interrupted"
    turns, _ = only(tmp_path, request("go", waiting, result=None, state=0))
    assert turns[1].tool_calls[0].status == "pending"
    turns, _ = only(tmp_path, request("go", waiting, result=None, state=0), request("next"))
    assert turns[1].tool_calls[0].status == "interrupted"
