"""The header of a rules file: the patterns of the files it is for, and what it says it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lerim.errors import MemoryError_
from lerim.memory import Yaml, load_header, split_header

_PATTERN_KEYS = ("paths", "globs", "applyTo", "fileMatchPattern")
_GLOBS_LINE = re.compile(r"^(?:globs|applyTo|paths|fileMatchPattern):[ \t]*(?P<value>[^\n]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RulesHeader:
    """`patterns` are those of the files that the rules are for. `body` is the text below the header, whose first line
    has the number `first_line`. `description` is what it says about itself; `kind` the type of an agent's memory."""

    body: str
    first_line: int = 1
    patterns: tuple[str, ...] = ()
    description: str = ""
    kind: str = ""


def read_rules_header(text: str) -> RulesHeader:
    """Returns the header of a rules file. One that is not valid YAML, as Cursor's often are, is read line by line."""
    text = text.removeprefix("\ufeff")
    parts = split_header(text)
    if parts is None:
        return RulesHeader(text)
    head = text[parts.start : parts.end]
    first_line = text[: parts.body].count("\n") + 1
    try:
        fields: Mapping[str, Yaml] = load_header(head, "")
    except MemoryError_:
        patterns = [found["value"].strip("'\" ") for found in _GLOBS_LINE.finditer(head)]
        return RulesHeader(text[parts.body :], first_line, tuple(_split_patterns(patterns)))
    values = [value for key in _PATTERN_KEYS for value in _texts(fields.get(key))]
    metadata = fields.get("metadata")
    kind = fields.get("type") or (metadata.get("type") if isinstance(metadata, dict) else None)
    description = fields.get("description")
    return RulesHeader(
        text[parts.body :],
        first_line,
        tuple(_split_patterns(values)),
        description.strip() if isinstance(description, str) else "",
        kind if isinstance(kind, str) else "",
    )


def _texts(value: Yaml) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _split_patterns(values: Iterable[str]) -> Iterable[str]:
    """Splits patterns at commas, except for those between braces."""
    for value in values:
        depth, start = 0, 0
        for at, character in enumerate(f"{value},"):
            depth += (character == "{") - (character == "}")
            if character == "," and depth <= 0:
                if value[start:at].strip():
                    yield value[start:at].strip()
                start = at + 1
