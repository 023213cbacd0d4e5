"""Parses a memory file's text into fields with positions.

YAML gives the positions (`compose`, which creates no values). Text that YAML refuses still gives a document: with the
problem at the place that YAML names, and the fields that single lines show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lerim.errors import MemoryError_
from lerim.memory.documents.document import DocumentProblem, Field, Lines, MemoryDocument, TextSpan, Value
from lerim.memory.documents.line_scan import scan_fields
from lerim.memory.header import (
    MAX_HEADER,
    UNSAFE_CHARACTERS,
    compose_header,
    load_header,
    load_plain_header,
    split_header,
)
from lerim.memory.header_lines import value_end

_OPEN = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\Z)")
_FRONTMATTER_LINE = re.compile(r"(?:[A-Za-z_][\w-]*[ \t]*:|[ \t]+\S|-[ \t]|#)[^\r\n]*(?:\r\n|\n|\r|\Z)")
_MARKS = "\"'"
_PROPERTIES = re.compile(r"(?:[!&]\S*\s*)+")
"""The tag and anchor of a YAML value."""


def parse_memory_document(text: str) -> MemoryDocument:
    """Parses the text of a memory or candidate file. Never raises: what cannot be read is one of `problems`."""
    lines = Lines(text)
    parts = split_header(text)
    if parts is None:
        return _without_frontmatter(text, lines)
    head = text[parts.start : parts.end]
    problems: list[DocumentProblem] = []
    fields: tuple[Field, ...] | None = None
    try:
        if "\\" in head or load_plain_header(head) is None:
            fields = _composed_fields(head, parts.start, lines)
            load_header(head, "")
        # else single lines show all there is, fifty times faster
    except MemoryError_ as error:
        span = _unreadable_span(error, head, parts.start, fields or (), lines)
        problems.append(DocumentProblem("frontmatter", error.explanation, span))
    return MemoryDocument(
        text,
        lines.span(parts.start, parts.end),
        fields if fields is not None else scan_fields(text, parts.start, parts.end, lines),
        lines.span(parts.body, len(text)),
        tuple(problems),
    )


def _without_frontmatter(text: str, lines: Lines) -> MemoryDocument:
    opening = _OPEN.match(text)
    first = lines.span(0, _line_end(text, 0))
    if opening is None:
        message = "This file has no header between two --- lines. Add one, or move the file away."
        problems = (DocumentProblem("no-frontmatter", message, first),)
        return MemoryDocument(text, None, (), lines.span(0, len(text)), problems)
    end = opening.end()
    while end < len(text) and (line := _FRONTMATTER_LINE.match(text, end)):
        end = line.end()
    problems = (DocumentProblem("frontmatter", "The header has no end. Write --- on a line of its own.", first),)
    fields = scan_fields(text, opening.end(), end, lines)
    return MemoryDocument(text, lines.span(opening.end(), end), fields, lines.span(end, len(text)), problems)


def _composed_fields(head: str, start: int, lines: Lines) -> tuple[Field, ...]:
    """Returns the fields of valid YAML. Raises MemoryError_ if YAML cannot read it, or only slowly."""
    import yaml

    marks = len(head) - len(head.lstrip("\ufeff"))  # libyaml skips these and does not count them
    head, start = head[marks:], start + marks
    if len(head) > MAX_HEADER:
        message = f"The header is longer than {MAX_HEADER // 1024} kB."
        raise MemoryError_(message, todo="Shorten it between the --- lines.")
    try:
        root = compose_header(head, "")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        load_header(head, "")  # raises the error with its message for people
        raise MemoryError_("The header is not valid YAML.", todo="Correct the lines between the --- lines.") from error
    if root is None or not isinstance(root, yaml.MappingNode):
        return ()
    found: list[Field] = []
    for key, node in root.value:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
        values = tuple(_node_values(name, node, head, start, lines))
        key_start, key_end = start + key.start_mark.index, start + key.end_mark.index
        end = start + len(head[: max(key.end_mark.index, value_end(node))].rstrip())
        found.append(Field(name, lines.span(key_start, key_end), values, lines.span(key_start, end)))
    return tuple(found)


def _node_values(key: str, node: Any, head: str, start: int, lines: Lines) -> Iterator[Value]:
    import yaml

    if isinstance(node, yaml.ScalarNode):
        first, last = node.start_mark.index, node.end_mark.index
        if properties := _PROPERTIES.match(head, first, last):
            first = properties.end()
        if node.style in ("'", '"') and head[first : first + 1] in _MARKS:
            first, last = first + 1, max(first + 1, last - 1)
        if last > first or node.style:  # nothing at all is no value, but "" is one
            yield Value(key, str(node.value), lines.span(start + first, start + last))
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _node_values(key, item, head, start, lines)
    else:
        for name, item in node.value:
            inner = str(name.value) if isinstance(name, yaml.ScalarNode) else ""
            yield from _node_values(f"{key}.{inner}", item, head, start, lines)


def _unreadable_span(error: MemoryError_, head: str, start: int, fields: tuple[Field, ...], lines: Lines) -> TextSpan:
    """Returns the line that YAML names, else the value that alone cannot be read, else the first line."""
    mark = getattr(error.__cause__, "problem_mark", None)
    unsafe = UNSAFE_CHARACTERS.search(head)
    if mark is not None:
        at = start + min(mark.index, len(head))
        line = lines.span(at, at).start_line
        return lines.span(lines.offset(line, 0), _line_end(head, lines.offset(line, 0) - start) + start)
    for field in fields:
        for value in field.values:
            if not _is_readable(value.text):
                return value.span
    at = unsafe.start() if unsafe is not None and not fields else 0
    return lines.span(start + at, start + _line_end(head, at))


def _is_readable(value: str) -> bool:
    try:
        load_header(f"key: {value}\n" if "\n" not in value else "", "")
    except MemoryError_:
        return False
    return True


def _line_end(text: str, start: int) -> int:
    found = re.compile(r"[^\r\n]*").match(text, start)
    return found.end() if found else start
