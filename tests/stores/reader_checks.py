"""Checks that the tests of several readers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lerim.sessions.model import Session, ToolCall, Turn

CallCase = tuple[dict[str, Any], dict[str, Any]]
"""A stored tool call, and the fields it has once it is read."""


def case(record: dict[str, Any], **expected: Any) -> CallCase:
    return record, expected


def check_calls(calls: Sequence[ToolCall], cases: Sequence[CallCase]) -> None:
    """Checks the named fields of each tool call."""
    expected = [fields for _, fields in cases]
    found = [{name: getattr(one, name) for name in fields} for one, fields in zip(calls, expected, strict=True)]
    assert found == expected


def check_brief(whole: tuple[list[Turn], Session], brief: tuple[list[Turn], Session]) -> None:
    """Checks that a brief reading lacks only what the catalog does not keep."""
    assert brief[1] == whole[1]
    same = [[(turn.id, turn.text, turn.ordinal, turn.kind) for turn in turns] for turns, _ in (whole, brief)]
    assert same[0] == same[1]
    calls = [[call for turn in turns for call in turn.tool_calls] for turns, _ in (whole, brief)]
    kept = [[(one.id, one.command, one.status, one.exit_code, one.paths) for one in some] for some in calls]
    assert kept[0] == kept[1]
    assert not any(turn.reasoning for turn in brief[0])
    succeeded = [one for one in calls[1] if one.status == "ok" and one.kind not in ("ask", "plan")]
    assert not any(one.output or one.edits for one in succeeded)
