"""The parts of a memory file's text with their positions, and which files are such documents."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lerim.memory.record import primitive_of
from lerim.memory.reference import comma_list_item

DocumentKind = Literal["memory", "candidate"]
COMMA_KEYS = frozenset(("references", "supersedes", "resolves", "related"))
"""The lists whose items are looked at one by one and that may also be written as one text with commas."""
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A part of a text. Lines and characters count from zero, the end is exclusive. Characters are offsets into the
    line as a Python string; a language server converts them to its client's units."""

    start_line: int
    start_character: int
    end_line: int
    end_character: int

    def contains(self, line: int, character: int) -> bool:
        """Returns whether a position is inside the span or at its end, where a person who types into it is."""
        start, end = (self.start_line, self.start_character), (self.end_line, self.end_character)
        return start <= (line, character) <= end


@dataclass(frozen=True, slots=True)
class Value:
    """One scalar of a field: its value, an item of its list, or a key of an item.

    `key` is the field's key, or a dotted one such as `evidence.turn`. `text` is the value that YAML reads, always as a
    string; `span` is what is written in the file, without quotation marks.
    """

    key: str
    text: str
    span: TextSpan


@dataclass(frozen=True, slots=True)
class Field:
    """A key of the frontmatter with its values. `span` reaches from the key to the end of the last value."""

    key: str
    key_span: TextSpan
    values: tuple[Value, ...]
    span: TextSpan

    @property
    def text(self) -> str:
        """The first value; "" if there is none."""
        return self.values[0].text if self.values else ""


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """Why the frontmatter cannot be read, and where. `code` is stable."""

    code: str
    message: str
    span: TextSpan


@dataclass(frozen=True, slots=True)
class MemoryDocument:
    """A memory or candidate file as text.

    `frontmatter` is the text between the two `---` lines, None if there is none. If it is not valid YAML, `problems`
    says where, and `fields` are those that can be recognised line by line.
    """

    text: str
    frontmatter: TextSpan | None
    fields: tuple[Field, ...]
    body: TextSpan
    problems: tuple[DocumentProblem, ...]

    def field(self, key: str) -> Field | None:
        """Returns the field with this key; the last one if there are several, because its value counts."""
        return next((field for field in reversed(self.fields) if field.key == key), None)

    def values(self, key: str) -> tuple[Value, ...]:
        """Returns the values with this key, which may be dotted (`evidence.turn`)."""
        return tuple(value for field in self.fields for value in field.values if value.key == key)

    def items(self, key: str) -> tuple[Value, ...]:
        """Returns the items of a list, also of one that is written as one text with commas."""
        return tuple(item for field in self.fields for item in self.split_field(field) if item.key == key)

    def split_field(self, field: Field) -> Iterator[Value]:
        """Yields the values of a field, with a list that is written as one text with commas taken apart."""
        for value in field.values:
            if not self.is_comma_list(field, value):
                yield value
                continue
            line, start = value.span.start_line, value.span.start_character
            for found in comma_list_item(value.key).finditer(value.text):
                yield Value(value.key, found.group(), TextSpan(line, start + found.start(), line, start + found.end()))

    def is_comma_list(self, field: Field, value: Value) -> bool:
        """Returns whether a value is a list written as one text with commas: on the line of its key, without
        brackets."""
        key, span = field.key_span, value.span
        if value.key not in COMMA_KEYS or "," not in value.text or not key.end_line == span.start_line == span.end_line:
            return False
        lines = Lines(self.text)
        start, end = (
            lines.offset(span.start_line, span.start_character),
            lines.offset(span.end_line, span.end_character),
        )
        between = self.text[lines.offset(key.end_line, key.end_character) : start]
        return "[" not in between and self.text[start:end] == value.text


class Lines:
    """Converts offsets into a text to lines and characters, and back. A line ends with `\\n`, `\\r\\n` or `\\r`, as in
    the language server protocol."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self._length = len(text)

    def span(self, start: int, end: int) -> TextSpan:
        """Returns the span between two offsets."""
        end = max(start, end)
        line = bisect_right(self._starts, start) - 1
        end_line = bisect_right(self._starts, end, line) - 1
        return TextSpan(line, start - self._starts[line], end_line, end - self._starts[end_line])

    def offset(self, line: int, character: int) -> int:
        """Returns the offset of a position."""
        start = self._starts[line] if line < len(self._starts) else self._length
        return min(start + character, self._length)


def text_span(text: str, start: int, end: int) -> TextSpan:
    """Returns the span between two offsets of a text."""
    return Lines(text).span(start, end)


def kind_of_document(path: Path, personal_folder: Path | None = None) -> DocumentKind | None:
    """Returns whether a file is, by its folder, a memory, a candidate or neither; the file is not read.

    `personal_folder` is the folder of the person's own memories, if it has another name than `.lerim/memory`.
    """
    if path.suffix != ".md":
        return None
    if personal_folder is not None and path.is_relative_to(personal_folder):
        return "memory" if primitive_of(path) else None
    parts = path.parts
    if ".lerim" not in parts:
        return None
    inside = parts[len(parts) - parts[::-1].index(".lerim") :]
    if inside[:1] == ("memory",):
        return "memory" if primitive_of(path) else None
    if inside[:1] == ("projects",):  # a bare repository has its candidates in the home folder
        inside = inside[2:]
    return "candidate" if inside[:1] == ("review",) and len(inside) == 2 else None
