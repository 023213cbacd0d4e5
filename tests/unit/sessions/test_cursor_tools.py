"""Tool calls of Cursor: kinds by name, exit codes, edits, questions, plans, and how they ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cursor_store import Editor, only, prompt, reply, tool
from lerim.sessions.model import FileEdit, ToolCall
from reader_checks import CallCase, case, check_calls


def read_calls(root: Path, bubbles: Sequence[dict[str, Any]]) -> list[ToolCall]:
    numbered = [one | {"bubbleId": f"t{number}"} for number, one in enumerate(bubbles)]
    Editor(root).chat([prompt("Go"), *numbered])
    return [call for turn in only(root)[0] for call in turn.tool_calls]


def shell(result: Any, status: str, code: int | None = None) -> CallCase:
    asked = tool("run_terminal_command_v2", {"command": "make", "cwd": ""}, result)
    return case(asked, kind="shell", command="make", exit_code=code, status=status)


def reads(expected: str, output: str = "", **fields: str) -> CallCase:
    asked = tool("read_file", {"target_file": "a.py"}, None, **fields)
    return case(asked, kind="read", paths=("a.py",), status=expected, output=output)


PATCH = "*** Begin Patch\n*** Update File: c.py\n@@\n-old\n+new\n*** End Patch"
DIFF = {"diff": {"chunks": [{"diffString": " a\n-b\n+c"}]}}
REMOTE = "vscode-remote://ssh-remote%2Bhost/srv/a.py"
PLAN = {"name": "Move", "plan": "1. Use SQLite", "overview": "Short"}
EDITS = [{"old_string": "x", "new_string": "y"}, {"note": "nothing to replace"}]
RAW = json.dumps({"file_path": "b.py", "contents": "hello"})
CALLS = [
    shell({"output": "ok", "exitCodeV2": 0}, "ok", 0),
    shell({"output": "no", "exitCode": 2, "rejected": False}, "error", 2),
    shell({"output": "no", "exitCodeV2": 1, "exitCode": 0}, "error", 1),
    shell({"output": "ok", "rejected": False}, "ok"),
    shell({"output": "", "rejected": True}, "denied"),
    shell({"output": "x", "notInterrupted": False}, "interrupted"),
    shell("Exit code: 101\n\nCommand output:\nboom", "error", 101),
    shell("not json {", "ok"),
    reads("ok", status="completed"),
    reads("error", "No such file", status="error", error='{"clientVisibleErrorMessage": "No such file"}'),
    reads("interrupted", status="cancelled"),
    reads("pending", status="running"),
    reads("denied", status="completed", userDecision="rejected"),
    reads("ok", status="completed", userDecision="accepted"),
    case(
        tool("StrReplace", {"file_path": "a.py", "old_string": "x", "new_string": "y"}),
        kind="edit",
        edits=(FileEdit("a.py", "x", "y"),),
    ),
    case(tool("MultiEdit", {"filePath": "a.py", "edits": EDITS}), edits=(FileEdit("a.py", "x", "y"),)),
    case(tool("mcp_issues_find", {"filter": {"assignee": "ana"}}), kind="other", description="ana"),
    case(tool("write", {"path": "b.py"}, rawArgs=RAW), kind="write", edits=(FileEdit("b.py", "", "hello"),)),
    case(tool("apply_patch", {"patch": PATCH}), paths=("c.py",), edits=(FileEdit("c.py", "old", "new"),)),
    case(tool("edit_file", {"relativeWorkspacePath": "d.py"}, DIFF), edits=(FileEdit("d.py", "a\nb", "a\nc"),)),
    case(tool("create_plan", PLAN), kind="plan", plan="1. Use SQLite", status="pending"),
    case(tool("task_v2", {"description": "Look"}, {"agentId": "a1"}), kind="agent", description="Look"),
    case(tool("read_file_v2", {"effectiveUri": REMOTE}), kind="read", paths=("/srv/a.py",)),
    case(tool("ripgrep_raw_search", {"pattern": "x"}), kind="search", command="x"),
    case(tool("WebSearch", {"search_term": "x"}), kind="web", command="x"),
    case(tool("mcp-linear-get", {}), kind="other"),
]


def test_calls_have_their_kind_input_result_and_end(tmp_path: Path):
    check_calls(read_calls(tmp_path, [record for record, _ in CALLS]), CALLS)


def test_an_edit_is_the_lines_that_differ_between_the_bodies_before_and_after(tmp_path: Path):
    changes = {
        ("one\ntwo\nthree\n", "one\n2\nthree\n"): [("two\n", "2\n")],
        ("", "new\n"): [("", "new\n")],
        ("same", "same"): [],
        ("a\nb\n", "a\nx\nb\n"): [("a\n", "a\nx\n")],
        ("b\n", "x\nb\n"): [("b\n", "x\nb\n")],
        ("a\na\n", "a\n"): [("a\n", "")],
        ("a\n", ""): [("a\n", "")],
    }
    editor = Editor(tmp_path)
    editor.put("secret://key", "hidden")
    for number, bodies in enumerate(changes):
        for name, body in zip(("before", "after"), bodies, strict=True):
            editor.put(f"composer.content.{name}{number}", body)
    keys = [(f"composer.content.before{at}", f"composer.content.after{at}") for at in range(len(changes))]
    results = [{"beforeContentId": one, "afterContentId": other} for one, other in (*keys, (None, "secret://key"))]
    edited = [tool("edit_file_v2", {"relativeWorkspacePath": "/a.txt"}, result) for result in results]
    found = [[(one.old, one.new) for one in call.edits] for call in read_calls(tmp_path, edited)]
    assert found == [*changes.values(), []]


def test_questions_carry_their_options_and_the_answer(tmp_path: Path):
    options = [{"id": "a", "label": "Postgres"}, {"id": "b", "label": "SQLite"}]
    questions = {"questions": [{"id": "q1", "prompt": "Which store?", "options": options}]}
    newer = [{"questionId": "q1", "selectedOptionIds": ["b"], "freeformText": "and quick"}]
    asked = [tool("ask_question", questions, {"answers": one}) for one in (newer, [{"q1": ["b", "and quick"]}])]
    for call in read_calls(tmp_path, asked):
        [answer] = call.answers
        assert call.kind == "ask"
        assert (answer.question, answer.options) == ("Which store?", ("Postgres", "SQLite"))
        assert answer.answer == "SQLite, and quick"


ORDER = "Implement the plan as specified, it is attached for your reference. Do NOT edit the plan file itself.\n\nGo."


@pytest.mark.parametrize(
    ("accepted", "typed"),
    [
        (prompt("Implement the plan", "u2", isSimulatedMsg=True), []),
        (prompt(ORDER, "u2"), []),
        (prompt(f"Use WAL, too\n\n{ORDER}", "u2"), ["Use WAL, too"]),
    ],
)
def test_a_plan_is_approved_by_the_message_that_has_it_carried_out(tmp_path: Path, accepted, typed):
    plan = tool("create_plan", {"plan": "1. Use SQLite"}, {}, "t1")
    Editor(tmp_path).chat([prompt("Plan it"), plan, reply("Here is the plan.", "a2"), accepted])
    turns, _, _ = only(tmp_path)
    assert [call.status for call in turns[1].tool_calls] == ["ok"]
    assert [turn.text for turn in turns[3:]] == typed
