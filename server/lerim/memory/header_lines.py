"""Writes header lines: the only place where text becomes YAML, and the only way to change a header.

A change replaces only the lines of its own keys: order, comments, quoting and unknown keys are preserved byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from lerim.errors import MemoryError_
from lerim.memory.header import UNSAFE_CHARACTERS, Yaml, compose_header, is_plain_scalar, load_header
from lerim.times import format_utc

Item = str | Mapping[str, str]
HeaderValue = str | float | datetime | Sequence[Item] | None
"""The values a header key can be set to; None removes the key. A sequence contains strings or small mappings."""
_FLOW_LIST_KEYS = frozenset({"tags", "flags"})
_ESCAPED_CHARACTERS = re.compile(f"{UNSAFE_CHARACTERS.pattern}|[\u202a-\u202e\u2066-\u2069]")
"""The unsafe characters, and those that change the direction of a line where it is shown."""


def yaml_scalar(value: str, *, in_list: bool = False) -> str:
    """Returns a string as YAML: unquoted if that is safe, else in double quotes with unsafe characters escaped."""
    if is_plain_scalar(value, in_list=in_list):
        return value
    quoted = json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return _ESCAPED_CHARACTERS.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)


def quote_scalar(value: str, quote: str = "", *, in_list: bool = False) -> str:
    """Returns a string as written between the quotation marks `quote`, or without any, then in marks of its own if
    YAML would read it otherwise."""
    if quote == "'":
        return value.replace("'", "''")
    written = yaml_scalar(value, in_list=in_list)
    if not quote:
        return written
    return written[1:-1] if written.startswith('"') else json.dumps(value, ensure_ascii=False)[1:-1]


def key_lines(key: str, value: HeaderValue) -> list[str]:
    """Returns the header lines of one key, without line endings."""
    if isinstance(value, datetime):
        return [f"{key}: {format_utc(value)}"]
    if isinstance(value, int | float):
        digits = f"{value:.4f}".rstrip("0")
        return [f"{key}: {digits}0" if digits.endswith(".") else f"{key}: {digits}"]
    if isinstance(value, str):
        return [f"{key}: {yaml_scalar(value)}"]
    if not value:
        return [f"{key}: []"]
    if key in _FLOW_LIST_KEYS:
        return [f"{key}: [{', '.join(yaml_scalar(str(item), in_list=True) for item in value)}]"]
    lines = [f"{key}:"]
    for item in value:
        if isinstance(item, str):
            lines.append(f"  - {yaml_scalar(item)}")
        else:
            fields = [f"{name}: {yaml_scalar(text)}" for name, text in item.items()]
            lines += [f"  - {fields[0]}", *(f"    {field}" for field in fields[1:])]
    return lines


def read_back_value(value: HeaderValue) -> Yaml:
    """Returns what `load_header` reads for a value written by `key_lines`."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return round(float(value), 4)
    return [item if isinstance(item, str) else dict(item) for item in value]


def change_header(head: str, changes: Mapping[str, HeaderValue], order: Sequence[str], newline: str, where: str) -> str:
    """Returns `head` with the lines of the keys in `changes` replaced, added (in `order`) or removed.

    Raises MemoryError_ if the header cannot be changed line by line, for example because two keys share a line.
    """
    before = load_header(head, where)
    wanted = {
        key: value
        for key, value in changes.items()
        if (
            key in before
            if value is None
            else key not in before or not _equals_wanted(before[key], read_back_value(value))
        )
    }
    if not wanted:
        return head
    spans = _find_key_spans(head, where)
    if head and not head.endswith("\n"):
        head += newline
    edits: list[tuple[int, int, str]] = []
    places = {key: place for place, key in enumerate(order)}
    for key, value in sorted(wanted.items(), key=lambda item: places.get(item[0], len(places))):
        if key in spans:
            edits.append(_replace_edit(head, key, value, spans[key], newline))
        elif value is not None:
            at = _insertion_offset(key, spans, order, len(head))
            edits.append((at, at, "".join(line + newline for line in key_lines(key, value))))
    changed = head
    # from the end, so that offsets stay valid; at equal offsets the replacement first, then the last insertion
    edits.sort(key=lambda edit: edit[:2])
    for start, end, text in reversed(edits):
        changed = changed[:start] + text + changed[end:]
    _verify_change(before, wanted, load_header(changed, where), where)
    return changed


def _verify_change(
    before: Mapping[str, Yaml], wanted: Mapping[str, HeaderValue], after: Mapping[str, Yaml], where: str
) -> None:
    """Raises MemoryError_, before anything is written, unless the changed header has exactly the expected values."""
    expected = {key: value for key, value in before.items() if key not in wanted}
    expected |= {key: read_back_value(value) for key, value in wanted.items() if value is not None}
    if expected.keys() != after.keys() or any(not _is_same(expected[key], after[key]) for key in expected):
        raise _make_lines_error(where)


def _make_lines_error(where: str) -> MemoryError_:
    message = "This header cannot be changed line by line."
    return MemoryError_(message, where=where, todo="Give each key a line of its own.")


def _equals_wanted(written: Yaml, wanted: Yaml) -> bool:
    """Returns whether a value equals the wanted one: a bare date counts as midnight, a time without a zone as UTC."""
    if isinstance(written, datetime) and written.tzinfo is None:
        written = written.replace(tzinfo=UTC)
    elif isinstance(written, date) and not isinstance(written, datetime):
        written = datetime(written.year, written.month, written.day, tzinfo=UTC)
    return written == wanted


def _is_same(one: Yaml, other: Yaml) -> bool:
    # nan is the only YAML value that does not equal itself
    return one == other or (one != one and other != other)


@dataclass(frozen=True, slots=True)
class _KeySpan:
    """The offsets of a top-level key: the start of its first line, the end of its value and the end of its last line
    (`\\n` excluded)."""

    start: int
    stop: int
    line_end: int
    is_list: bool


def _find_key_spans(head: str, where: str) -> dict[str, _KeySpan]:
    root = compose_header(head, where)
    if root is None:
        return {}
    spans: dict[str, _KeySpan] = {}
    taken = -1
    for key, value in root.value:
        start = head.rfind("\n", 0, key.start_mark.index) + 1
        if root.flow_style or start <= taken or head[start : key.start_mark.index].strip("\ufeff"):
            raise _make_lines_error(where)
        stop = max(key.end_mark.index, value_end(value))
        stop = start + len(head[start:stop].rstrip())
        found = head.find("\n", stop)
        line_end = len(head) if found < 0 else found
        if head[:line_end].endswith("\r"):
            line_end -= 1
        spans[str(key.value)] = _KeySpan(start, stop, line_end, not isinstance(value.value, str))
        taken = line_end
    return spans


def value_end(node: Any) -> int:
    """Returns the offset at which a YAML node ends, white space after a block included."""
    if isinstance(node.value, str) or node.flow_style:
        return int(node.end_mark.index)
    children = [child for item in node.value for child in (item if isinstance(item, tuple) else (item,))]
    return max((value_end(child) for child in children), default=int(node.end_mark.index))


def _replace_edit(head: str, key: str, value: HeaderValue, span: _KeySpan, newline: str) -> tuple[int, int, str]:
    old = head[span.start : span.stop]
    inside = old.split("\n")[1:] if span.is_list else []
    comments = [line.rstrip("\r") for line in inside if line.lstrip().startswith("#")]
    if value is None:
        after = head.find("\n", span.line_end) + 1 or len(head)
        return span.start, after, "".join(comment + newline for comment in comments)
    lines = key_lines(key, value)
    trailing = head[span.stop : span.line_end]
    if re.fullmatch(r"[ \t]+#.*", trailing) and ("\n" not in old or len(lines) == 1):
        lines[0] += trailing
    return span.start, span.line_end, newline.join(lines + comments)


def _insertion_offset(key: str, spans: Mapping[str, _KeySpan], order: Sequence[str], end: int) -> int:
    later = set(order[order.index(key) + 1 :]) if key in order else set()
    return min((span.start for name, span in spans.items() if name in later), default=end)
