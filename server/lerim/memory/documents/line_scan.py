"""Recognises the fields of a frontmatter line by line, while somebody types in it and YAML cannot read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lerim.memory.documents.document import Field, Lines, Value

MAX_LINES = 2_000
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?=[ \t\r\n]|\Z)[ \t]*")
_ITEM = re.compile(r"[ \t]*-(?=[ \t\r\n]|\Z)[ \t]*")
_INDENT = re.compile(r"[ \t]+")
_QUOTED = re.compile(r'"((?:[^"\\\r\n]|\\[^\r\n])*)"|\'([^\'\r\n]*)\'')
_PLAIN = re.compile(r"[^\s#,\[\]\"'](?:[^\s]|[ \t]+(?=[^\s#]))*")
_FLOW_ITEM = re.compile(r"[^\s,\[\]\"'](?:[^\s,\[\]]|[ \t]+(?=[^\s,\[\]]))*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


def scan_fields(text: str, start: int, end: int, lines: Lines) -> tuple[Field, ...]:
    """Returns the fields between two offsets of a text, as far as single lines show them."""
    found: list[Field] = []
    offset = start
    for _ in range(MAX_LINES):
        if offset >= end:
            break
        line_end = min(end, _LINE.match(text, offset).end())  # type: ignore[union-attr]  # matches any text
        key = _KEY.match(text, offset, line_end)
        if key is not None:
            values = tuple(_values(key[1], text, key.end(), line_end, lines))
            span = lines.span(offset, _end(text, offset, line_end))
            found.append(Field(key[1], lines.span(*key.span(1)), values, span))
        elif found:
            last = found[-1]
            values = tuple(_item_values(last.key, text, offset, line_end, lines))
            if values:
                span = lines.span(
                    lines.offset(last.span.start_line, last.span.start_character), _end(text, offset, line_end)
                )
                found[-1] = Field(last.key, last.key_span, (*last.values, *values), span)
        offset = line_end
    return tuple(found)


def _end(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())


def _item_values(key: str, text: str, start: int, end: int, lines: Lines) -> Iterator[Value]:
    """Yields what a line below a key holds: an item of its list, or a key of an item."""
    lead = _ITEM.match(text, start, end) or _INDENT.match(text, start, end)
    if lead is None:
        return
    nested = _KEY.match(text, lead.end(), end)
    if nested is not None:
        yield from _values(f"{key}.{nested[1]}", text, nested.end(), end, lines)
    elif lead[0].strip():
        yield from _values(key, text, lead.end(), end, lines)


def _values(key: str, text: str, start: int, end: int, lines: Lines) -> Iterator[Value]:
    """Yields the scalars of a line's value: one, or those of a list in brackets."""
    if text[start : start + 1] != "[":
        quoted = _QUOTED.match(text, start, end)
        if quoted is not None:
            yield _quoted_value(key, quoted, lines)
        elif plain := _PLAIN.match(text, start, end):
            yield Value(key, plain[0], lines.span(*plain.span()))
        return
    at = start + 1
    while at < end and text[at] != "]":
        if quoted := _QUOTED.match(text, at, end):
            yield _quoted_value(key, quoted, lines)
            at = quoted.end()
        elif plain := _FLOW_ITEM.match(text, at, end):
            yield Value(key, plain[0], lines.span(*plain.span()))
            at = plain.end()
        else:
            at += 1


def _quoted_value(key: str, quoted: re.Match[str], lines: Lines) -> Value:
    group = 1 if quoted[1] is not None else 2
    return Value(key, quoted[group], lines.span(*quoted.span(group)))
