"""Checks that the tests of several readers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lerim.sessions.model import ToolCall

CallCase = tuple[dict[str, Any], dict[str, Any]]
"""A stored tool call, and the fields it has once it is read."""


def case(record: dict[str, Any], **expected: Any) -> CallCase:
    return record, expected


def check_calls(calls: Sequence[ToolCall], cases: Sequence[CallCase]) -> None:
    """Checks the named fields of each tool call."""
    expected = [fields for _, fields in cases]
    found = [{name: getattr(one, name) for name in fields} for one, fields in zip(calls, expected, strict=True)]
    assert found == expected
