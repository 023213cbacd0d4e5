"""Reads the fields of records that agents store as plain JSON: texts, lists, questions, numbers and times."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath, PureWindowsPath

from lerim.sessions.model import QuestionAnswer, ToolKind
from lerim.sessions.readers.engine.fields import without_nul

_IMPLAUSIBLE_COUNT = 1 << 48
_IMPLAUSIBLE_TIME = 1e14


def kinds_by_name(names_by_kind: Mapping[ToolKind, str]) -> dict[str, ToolKind]:
    """Returns the kind of each tool. `names_by_kind` lists the names of each kind, separated by spaces."""
    return {name: kind for kind, names in names_by_kind.items() for name in names.split()}


def find_text(fields: Mapping[str, object], *names: str) -> str:
    """Returns the first of the named fields that is a text and not empty; '' if there is none."""
    return next((without_nul(value) for name in names if isinstance(value := fields.get(name), str) and value), "")


def list_texts(value: object) -> tuple[str, ...]:
    """Returns the texts in a list; empty if `value` is not a list."""
    return tuple(without_nul(one) for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def list_objects(value: object) -> list[dict[str, object]]:
    """Returns the objects in a list; empty if `value` is not a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def parse_question(question: Mapping[str, object], *names: str) -> QuestionAnswer:
    """Returns a question without an answer yet. Its text is in the first of the named fields, its `options` are objects
    or plain texts."""
    options = list_objects(question.get("options"))
    labels = tuple(find_text(option, "label") for option in options)
    descriptions = tuple(find_text(option, "description") for option in options)
    return QuestionAnswer(
        find_text(question, *names),
        labels or list_texts(question.get("options")),
        "",
        descriptions if any(descriptions) else (),
    )


def file_name(path: str) -> str:
    """Returns the last part of a path of any system."""
    return (PureWindowsPath(path) if "\\" in path else PurePosixPath(path)).name


def plausible_count(number: float | None) -> int:
    """Returns a count as an integer; 0 if it is missing or implausible."""
    return int(number) if number and 0 < number < _IMPLAUSIBLE_COUNT else 0


def milliseconds_to_time(milliseconds: float | None) -> datetime | None:
    """Converts milliseconds since 1970; returns None if they are missing or implausible."""
    if not milliseconds or not 0 < milliseconds < _IMPLAUSIBLE_TIME:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
