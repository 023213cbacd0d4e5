"""Recognises the fields of a frontmatter line by line, while somebody types in it and YAML cannot read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lerim.memory.documents.document import Field, Lines, TextSpan, Value

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
    number, offset = lines.span(start, start).start_line, start
    for _ in range(MAX_LINES):
        if offset >= end:
            break
        line_end = min(end, _LINE.match(text, offset).end())  # type: ignore[union-attr]  # matches any text
        line = _Line(text, number, lines.offset(number, 0), line_end)
        key = _KEY.match(text, offset, line_end)
        if key is not None:
            values = tuple(_values(key[1], line, key.end()))
            span = line.span(offset, _end(text, offset, line_end))
            found.append(Field(key[1], line.span(*key.span(1)), values, span))
        elif found:
            last = found[-1]
            values = tuple(_item_values(last.key, line, offset))
            if values:
                end_character = _end(text, offset, line_end) - line.start
                span = TextSpan(last.span.start_line, last.span.start_character, number, end_character)
                found[-1] = Field(last.key, last.key_span, (*last.values, *values), span)
        number, offset = number + 1, line_end
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a text: its number, and the offsets where it starts and ends."""

    text: str
    number: int
    start: int
    end: int

    def span(self, start: int, end: int) -> TextSpan:
        """Returns the span between two offsets in this line."""
        return TextSpan(self.number, start - self.start, self.number, max(start, end) - self.start)


def _end(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())


def _item_values(key: str, line: _Line, start: int) -> Iterator[Value]:
    text, end = line.text, line.end
    lead = _ITEM.match(text, start, end) or _INDENT.match(text, start, end)
    if lead is None:
        return
    nested = _KEY.match(text, lead.end(), end)
    if nested is not None:
        yield from _values(f"{key}.{nested[1]}", line, nested.end())
    elif lead[0].strip():
        yield from _values(key, line, lead.end())


def _values(key: str, line: _Line, start: int) -> Iterator[Value]:
    text, end = line.text, line.end
    if text[start : start + 1] != "[":
        quoted = _QUOTED.match(text, start, end)
        if quoted is not None:
            yield _quoted_value(key, quoted, line)
        elif plain := _PLAIN.match(text, start, end):
            yield Value(key, plain[0], line.span(*plain.span()))
        return
    at = start + 1
    while at < end and text[at] != "]":
        if quoted := _QUOTED.match(text, at, end):
            yield _quoted_value(key, quoted, line)
            at = quoted.end()
        elif plain := _FLOW_ITEM.match(text, at, end):
            yield Value(key, plain[0], line.span(*plain.span()))
            at = plain.end()
        else:
            at += 1


def _quoted_value(key: str, quoted: re.Match[str], line: _Line) -> Value:
    group = 1 if quoted[1] is not None else 2
    return Value(key, quoted[group], line.span(*quoted.span(group)))
