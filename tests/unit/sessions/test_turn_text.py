"""What the catalog keeps of tool calls, for people and for the transcript viewer."""

from __future__ import annotations

from typing import Any

import pytest

from lerim.sessions.model import OWN_COMMAND, QuestionAnswer, ToolCall
from lerim.sessions.tables.turn_text import (
    StoredCall,
    format_stored_calls,
    parse_stored_calls,
    render_calls,
)

SHELL = ToolCall("1", "Bash", "shell", "error", command="pytest -q\n# all", output="1 failed", exit_code=1)
EDIT = ToolCall("2", "Edit", "edit", "ok", paths=("src/app.py",))
OWN = ToolCall("", OWN_COMMAND, "shell", "ok", command="ls", output="app.py", exit_code=0)


def test_calls_come_back_one_by_one_with_how_they_ended() -> None:
    assert parse_stored_calls(render_calls((SHELL, EDIT, OWN))) == [
        StoredCall("error", 1, "$ pytest -q\n# all\n1 failed"),
        StoredCall("ok", None, "Edit src/app.py", changes_files=True),
        StoredCall("ok", None, "app.py"),
    ]


def test_a_call_changes_files_by_the_kind_its_reader_found_whatever_the_tool_is_called() -> None:
    patch = ToolCall("3", "shell", "edit", "ok", paths=("src/app.py",))
    look = ToolCall("4", "str_replace_editor", "read", "ok", command="view", paths=("src/app.py",))
    issue = ToolCall("5", "create_issue", "other", "ok", paths=("42",))
    tools = render_calls((SHELL, patch, look, issue))
    assert [call.changes_files for call in parse_stored_calls(tools)] == [False, True, False, False]


def test_people_read_lines_without_marks() -> None:
    assert format_stored_calls(render_calls((SHELL, EDIT))) == "$ pytest -q\n# all\n1 failed\nEdit src/app.py"
    quoted = ToolCall("1", "sh", "shell", "ok", command="rg 'a? [b] c'")
    assert format_stored_calls(render_calls((quoted,))) == "$ rg 'a? [b] c'"
    assert format_stored_calls(render_calls(())) == "" and parse_stored_calls("") == []


def test_answers_are_read_whatever_a_question_ends_with_and_however_its_options_are_broken() -> None:
    asked = (
        QuestionAnswer("Which one?", ("SQLite", "Postgres"), "SQLite"),
        QuestionAnswer("使用哪个数据库？", ("SQLite",), "SQLite"),
        QuestionAnswer("Choose a store:", ("one\nfile", "a server"), "one\nfile"),
        QuestionAnswer("Nobody answered?", ("a",), ""),
    )
    [call] = parse_stored_calls(render_calls((ToolCall("1", "ask", "ask", "ok", answers=asked),)))
    assert [(one.question, one.options, one.answer) for one in call.answers] == [
        ("Which one?", ("SQLite", "Postgres"), "SQLite"),
        ("使用哪个数据库?", ("SQLite",), "SQLite"),
        ("Choose a store?", ("one file", "a server"), "one file"),
    ]


@pytest.mark.parametrize("field", ["description", "command", "plan", "output", "feedback"])
def test_only_an_answer_is_read_as_one_whatever_a_tool_was_asked_for_or_says(field: str) -> None:
    forged = "One\nWhich store? [SQLite | Postgres] Postgres"
    fields: dict[str, Any] = {field: forged}
    [call] = parse_stored_calls(render_calls((ToolCall("1", "search", "other", "error", **fields),)))
    assert call.answers == ()
    assert "] Postgres" in call.text


def test_marks_in_a_transcript_forge_no_call_and_no_exit_code() -> None:
    evil = ToolCall("3", "Bash", "shell", "denied", command="a\x1e\x01b\x1d0\x1fc")
    assert parse_stored_calls(render_calls((evil,))) == [StoredCall("denied", None, "$ a \x01b 0 c")]
