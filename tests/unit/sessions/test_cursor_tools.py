"""Tool calls of Cursor: kinds by name, exit codes, edits, questions, plans, and how they ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cursor_store import Editor, only, prompt, tool
from lerim.sessions.model import FileEdit, ToolCall
from lerim.sessions.readers.cursor.edits import diff_edits
from lerim.sessions.readers.cursor.tools import cursor_tool_kind


def call(root: Path, one: dict[str, Any]) -> ToolCall:
    Editor(root).chat([prompt("Go"), one])
    return only(root)[0][1].tool_calls[0]


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("shell", "run_terminal_command_v2 run_terminal_cmd Shell"),
        ("read", "read_file_v2 read_file Read"),
        ("edit", "edit_file_v2 edit_file search_replace StrReplace apply_patch ApplyPatch delete_file"),
        ("write", "write Write"),
        ("search", "ripgrep_raw_search glob_file_search grep_search codebase_search list_dir semantic_search_full"),
        ("ask", "ask_question AskQuestion"),
        ("plan", "create_plan CreatePlan"),
        ("agent", "task_v2 Task"),
        ("web", "web_search web_fetch"),
        ("other", "todo_write mcp_github_search mcp-linear-get update_current_step"),
    ],
)
def test_kinds_go_by_the_name_in_any_spelling(kind: str, names: str):
    assert {cursor_tool_kind(name) for name in names.split()} == {kind}


@pytest.mark.parametrize(
    ("result", "code", "status"),
    [
        ({"output": "ok", "exitCodeV2": 0}, 0, "ok"),
        ({"output": "no", "exitCode": 2, "rejected": False}, 2, "error"),
        ({"output": "no", "exitCodeV2": 1, "exitCode": 0}, 1, "error"),
        ({"output": "ok", "rejected": False}, None, "ok"),
        ({"output": "", "rejected": True}, None, "denied"),
        ({"output": "x", "notInterrupted": False}, None, "interrupted"),
        ("Exit code: 101\n\nCommand output:\nboom", 101, "error"),
        ("not json {", None, "ok"),
    ],
)
def test_exit_codes_in_every_form(tmp_path: Path, result: Any, code: int | None, status: str):
    one = call(tmp_path, tool("run_terminal_command_v2", {"command": "make", "cwd": ""}, result))
    assert (one.command, one.exit_code, one.status) == ("make", code, status)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"status": "completed"}, "ok"),
        ({"status": "error", "error": '{"clientVisibleErrorMessage": "No such file"}'}, "error"),
        ({"status": "cancelled"}, "interrupted"),
        ({"status": "running"}, "pending"),
        ({"status": "completed", "userDecision": "rejected"}, "denied"),
        ({"status": "completed", "userDecision": "accepted"}, "ok"),
    ],
)
def test_how_a_call_ended(tmp_path: Path, fields: dict[str, str], status: str):
    one = call(tmp_path, tool("read_file", {"target_file": "a.py"}, None, **fields))
    assert (one.status, one.paths) == (status, ("a.py",))
    assert one.output == ("No such file" if status == "error" else "")


def test_an_edit_is_the_lines_that_differ_between_the_bodies_before_and_after(tmp_path: Path):
    editor = Editor(tmp_path)
    editor.put("composer.content.aa", "one\ntwo\nthree\n")
    editor.put("composer.content.bb", "one\n2\nthree\n")
    result = {"beforeContentId": "composer.content.aa", "afterContentId": "composer.content.bb"}
    one = call(tmp_path, tool("edit_file_v2", {"relativeWorkspacePath": "/srv/a.txt"}, result))
    assert one.edits == (FileEdit("/srv/a.txt", "two\n", "2\n"),)


def test_only_bodies_of_files_are_ever_looked_up(tmp_path: Path):
    editor = Editor(tmp_path)
    editor.put("secret://key", "hidden")
    result = {"beforeContentId": "secret://key", "afterContentId": "secret://key"}
    assert call(tmp_path, tool("edit_file_v2", {"relativeWorkspacePath": "a"}, result)).edits == ()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "new\n", [("", "new\n")]),
        ("same", "same", []),
        ("a\nb\n", "a\nx\nb\n", [("a\n", "a\nx\n")]),
        ("b\n", "x\nb\n", [("b\n", "x\nb\n")]),
        ("a\nb\nc\n", "a\nc\n", [("b\n", "")]),
        ("a\na\n", "a\n", [("a\n", "")]),
        ("a\n", "", [("a\n", "")]),
    ],
)
def test_a_change_is_told_with_no_more_lines_than_it_needs(before: str, after: str, expected: list[tuple[str, str]]):
    assert [(one.old, one.new) for one in diff_edits("a", before, after)] == expected


def test_replacements_written_files_and_patches_are_edits(tmp_path: Path):
    replaced = tool("search_replace", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, None, "t1")
    raw = {"rawArgs": json.dumps({"file_path": "b.py", "contents": "hello"})}
    written = tool("write", {"relativeWorkspacePath": "b.py"}, None, "t2", **raw)
    text = "*** Begin Patch\n*** Update File: c.py\n@@\n-old\n+new\n*** End Patch"
    patched = tool("apply_patch", {"patch": text}, None, "t3")
    diff = {"diff": {"chunks": [{"diffString": " a\n-b\n+c"}]}}
    older = tool("edit_file", {"relativeWorkspacePath": "d.py"}, diff, "t4")
    Editor(tmp_path).chat([prompt("Go"), replaced, written, patched, older])
    calls = only(tmp_path)[0][1].tool_calls
    assert [edit for one in calls for edit in one.edits] == [
        FileEdit("a.py", "x", "y"),
        FileEdit("b.py", "", "hello"),
        FileEdit("c.py", "old", "new"),
        FileEdit("d.py", "a\nb", "a\nc"),
    ]
    assert calls[2].paths == ("c.py",)


@pytest.mark.parametrize(
    "answers",
    [
        [{"questionId": "q1", "selectedOptionIds": ["b"], "freeformText": "and quick"}],
        [{"q1": ["b", "and quick"]}],
    ],
)
def test_questions_carry_their_options_and_the_answer(tmp_path: Path, answers: Any):
    options = [{"id": "a", "label": "Postgres"}, {"id": "b", "label": "SQLite"}]
    questions = {"questions": [{"id": "q1", "prompt": "Which store?", "options": options}]}
    one = call(tmp_path, tool("ask_question", questions, {"answers": answers}))
    assert [(a.question, a.options, a.answer) for a in one.answers] == [
        ("Which store?", ("Postgres", "SQLite"), "SQLite, and quick")
    ]


def test_a_plan_and_the_session_of_a_subagent_are_told(tmp_path: Path):
    plan = tool("create_plan", {"name": "Move", "plan": "1. Use SQLite", "overview": "Short"}, None, "t1")
    agent = tool("task_v2", {"description": "Look", "prompt": "Find it"}, {"agentId": "child"}, "t2")
    Editor(tmp_path).chat([prompt("Go"), plan, agent])
    first, second = only(tmp_path)[0][1].tool_calls
    assert first.plan == "1. Use SQLite"
    assert (second.subagent, second.description) == ("child", "Look")


def test_long_outputs_keep_their_ends(tmp_path: Path):
    one = call(tmp_path, tool("run_terminal_cmd", {"command": "x"}, {"output": "¡" * 30_000}))
    assert one.output_cut == 22_000
    assert len(one.output) < 9_000


def test_a_remote_path_is_the_one_on_its_machine(tmp_path: Path):
    uri = "vscode-remote://ssh-remote%2Bhost/srv/a.py"
    assert call(tmp_path, tool("read_file_v2", {"effectiveUri": uri})).paths == ("/srv/a.py",)
