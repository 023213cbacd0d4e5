"""The YAML header of a memory file: its position in the text, and its values.

Headers may be edited by hand or come from a stranger's repository: size, nesting and aliases are limited, only YAML's
safe types are created, and anything unreadable raises a `MemoryError_` that names the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeAlias

from lerim.errors import MemoryError_

Yaml: TypeAlias = "str | int | float | bool | date | datetime | list[Yaml] | dict[str, Yaml] | None"
MAX_HEADER = 64 * 1024
MAX_DEPTH = 8
MAX_VALUES = 2_000
_MAX_NUMBER = 200
_OPEN = re.compile(r"\ufeff?---[ \t]*(\r?\n)")
_CLOSE = re.compile(r"\n---[ \t]*(?:\r?\n|\r?\Z)")
# Characters that YAML reads as line breaks or rejects; our writer escapes all of them.
UNSAFE_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_PLAIN = re.compile(r"(?:\d{8}-)?[^\W\d_](?:[\w./@+;()',-]++| (?=[^\s#])|(?<=\S)[:#](?=[^\s]))*+")
_PLAIN_IN_LIST = re.compile(r"(?:\d{8}-)?[^\W\d_][\w./+-]*")
_RESERVED_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_QUOTED = re.compile(r'"(?:[^"\\]|\\["\\nrtbf/]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4})*"')
_FLOW_ITEM = re.compile(f"{_QUOTED.pattern}|{_PLAIN_IN_LIST.pattern}")
_FLOW_LIST = re.compile(rf"\[(?:(?:{_FLOW_ITEM.pattern})(?:, (?:{_FLOW_ITEM.pattern}))*+)?\]")
_unquote = json.JSONDecoder(strict=False).decode  # a quoted string may contain a raw tab
_KEY_PATTERN = re.compile(r"[a-z_]+")
_COMMON_KEY_NAMES = """
    id title created updated source confidence tags kind references evidence verified supersedes resolves superseded_by
    resolved_by related quote turn who
"""
_COMMON_KEYS = frozenset(_COMMON_KEY_NAMES.split())
"""Common keys, accepted without matching `_KEY_PATTERN`."""
_NUMBER = re.compile(r"(?:0|[1-9]\d{0,5})\.\d{1,9}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z")


@dataclass(frozen=True, slots=True)
class HeaderOffsets:
    """Offsets into a memory file's text: header `[start, end)`, body from `body`; `newline` is its line ending."""

    start: int
    end: int
    body: int
    newline: str


@dataclass(frozen=True, slots=True)
class HeaderFault:
    """What is wrong with the value of a header's key, and was replaced by a default. `item` is the wrong item of a
    list, as it is written; None if the fault is not about one text."""

    key: str
    message: str
    item: str | None = None


def split_header(text: str) -> HeaderOffsets | None:
    """Finds the header between the first two `---` lines; returns None if there is none."""
    opening = _OPEN.match(text)
    if opening is None:
        return None
    closing = _CLOSE.search(text, opening.end() - 1)
    if closing is None:
        return None
    return HeaderOffsets(opening.end(), closing.start() + 1, closing.end(), opening.group(1))


def is_plain_scalar(value: str, *, in_list: bool = False) -> bool:
    """Returns whether YAML reads this text, written without quotes, as exactly this string."""
    pattern = _PLAIN_IN_LIST if in_list else _PLAIN
    return bool(pattern.fullmatch(value)) and value.lower() not in _RESERVED_WORDS


def load_header(head: str, where: str) -> dict[str, Yaml]:
    """Reads a header's keys and values. Raises MemoryError_ for anything that is not a plain, small YAML mapping."""
    if len(head) > MAX_HEADER:
        raise MemoryError_(
            f"The header is longer than {MAX_HEADER // 1024} kB.", where=where, todo="Shorten it between the --- lines."
        )
    quick = load_plain_header(head)
    return quick if quick is not None else _load_yaml(head, where)


def load_raw_header(head: str) -> dict[str, Yaml]:
    """Reads a header with all values as written (`Yes`, `1.10`). Only for headers that `load_header` accepted."""
    import yaml

    loaded = yaml.load(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))  # creates strings only
    return {str(key): value for key, value in loaded.items()} if isinstance(loaded, dict) else {}


def _load_yaml(head: str, where: str) -> dict[str, Yaml]:
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    try:
        _refuse_yaml_bombs(yaml.parse(head, Loader=_safe_loader()), where)
        loaded = YAMLHandler().load(head)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        at = f", line {line + 2}" if line is not None else ""
        what = str(getattr(error, "problem", "") or error).splitlines()[0][:120]
        place = f"{where}:{line + 2}" if line is not None and where else where
        raise MemoryError_(
            f"The header is not valid YAML{at}: {what}.", where=place, todo="Correct the lines between the --- lines."
        ) from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise MemoryError_("The header is not a list of `key: value` lines.", where=where, todo="Correct it by hand.")
    return {str(key): value for key, value in loaded.items()}


def compose_header(head: str, where: str) -> Any:
    """Returns a header's YAML nodes, with their places; None if it is empty. Raises MemoryError_ as `load_header` for
    what would take long, and YAMLError, ValueError and RecursionError."""
    import yaml

    _refuse_yaml_bombs(yaml.parse(head, Loader=_safe_loader()), where)
    return yaml.compose(head, Loader=_safe_loader())


def _safe_loader() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _refuse_yaml_bombs(events: Iterable[Any], where: str) -> None:
    """Raises MemoryError_ for YAML that would take long to load, before any value is built: aliases (they multiply),
    deep nesting, thousands of values, and very long numbers."""
    import yaml

    depth = values = 0
    for event in events:
        if isinstance(event, yaml.NodeEvent):
            values += 1
            if values > MAX_VALUES:
                todo = "Keep what a memory needs there."
                raise MemoryError_(f"The header has more than {MAX_VALUES:,} values.", where=where, todo=todo)
        if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and _is_endless(event.value):
            raise MemoryError_("The header contains an infinite number.", where=where, todo="Write it in quotes.")
        if isinstance(event, yaml.AliasEvent):
            raise MemoryError_("The header uses YAML aliases (`*name`).", where=where, todo="Write the values out.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise MemoryError_("The header is nested too deeply.", where=where, todo="Flatten it.")


def _is_endless(value: str) -> bool:
    return len(value) > _MAX_NUMBER and value[0] in "+-.0123456789"


def load_plain_header(head: str) -> dict[str, Yaml] | None:
    """Reads the form our own writer produces, about fifty times faster than YAML; returns None for anything else.

    A property test checks that the result equals PyYAML's.
    """
    if UNSAFE_CHARACTERS.search(head):
        return None
    found: dict[str, Yaml] = {}
    lines = head.split("\n")
    if lines.pop() != "" or len(lines) > MAX_VALUES:
        return None
    index = 0
    while index < len(lines):
        key, text = _split_entry(lines[index])
        if not key or key in found:
            return None
        index += 1
        if text:
            value = _parse_value(text)
        else:
            start = index
            while index < len(lines) and lines[index].startswith("  "):
                index += 1
            value = _parse_block(lines[start:index]) if index > start else None
        if value is _UNSUPPORTED:
            return None
        found[key] = value
    return found


_UNSUPPORTED: dict[str, Yaml] = {}  # marks a value that our writer would not produce; compared by identity


def _split_entry(line: str) -> tuple[str, str]:
    """Returns a line's key and its value's text, "" if the value is on the next lines; the key is "" if it is no
    entry."""
    key, sign, text = line.partition(": ")
    if sign:
        if not text or text[0].isspace():
            return "", ""
    elif line.endswith(":"):
        key = line[:-1]
    else:
        return "", ""
    return (key, text) if key in _COMMON_KEYS or _KEY_PATTERN.fullmatch(key) else ("", "")


def _parse_value(text: str) -> Yaml:
    first = text[0]
    if first == "[":
        return _parse_flow_list(text)
    if first in "0123456789":
        if _NUMBER.fullmatch(text):
            return float(text)
        if _TIME.fullmatch(text):
            try:
                return datetime.fromisoformat(text)
            except ValueError:
                return _UNSUPPORTED
    return _parse_scalar(text)


def _parse_scalar(text: str) -> Yaml:
    if text[0] == '"':
        if "\\" not in text and text.find('"', 1) == len(text) - 1 > 0:
            return text[1:-1]
        return str(_unquote(text)) if _QUOTED.fullmatch(text) else _UNSUPPORTED
    return text if is_plain_scalar(text) else _UNSUPPORTED


def _parse_flow_list(text: str) -> Yaml:
    if not _FLOW_LIST.fullmatch(text):
        return _UNSUPPORTED
    items = _FLOW_ITEM.findall(text)
    if len(items) > MAX_VALUES or not _RESERVED_WORDS.isdisjoint(map(str.lower, items)):
        return _UNSUPPORTED
    return [_unquote(item) if item[0] == '"' else item for item in items]


def _parse_block(lines: list[str]) -> Yaml:
    items: list[Yaml] = []
    for line in lines:
        if line.startswith("  - "):
            text = line[4:]
            value = _parse_scalar(text) if text else _UNSUPPORTED
            if value is _UNSUPPORTED:
                key, field = _parse_field(text)
                if not key:
                    return _UNSUPPORTED
                value = {key: field}
            items.append(value)
            continue
        last = items[-1] if items else None
        key, field = _parse_field(line[4:]) if line.startswith("    ") else ("", None)
        if not isinstance(last, dict) or not key or key in last:
            return _UNSUPPORTED
        last[key] = field
    return items


def _parse_field(line: str) -> tuple[str, Yaml]:
    key, text = _split_entry(line)
    value = _parse_scalar(text) if text else _UNSUPPORTED
    return ("", None) if value is _UNSUPPORTED else (key, value)
