"""Open documents, with lines split and columns counted as the editor does, and without the text of large files.

pygls also splits lines at form feeds and U+2028, which editors do not, so its positions and edits would be wrong in
such files. It also splits the whole text again at each access. This module replaces both.
"""

# ruff: noqa: TID251 - the two files that may
from __future__ import annotations

import re
from collections import deque
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

UNUSUAL_LINE_BREAKS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
LINE_PATTERN = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
CODE_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
MAX_BYTES = 512 * 1024
MAX_SPLIT_DOCUMENTS = 4


def split_lines(text: str) -> list[str]:
    """Splits text into lines that keep their line endings. Only `\\n`, `\\r\\n` and `\\r` end a line."""
    if any(unusual in text for unusual in UNUSUAL_LINE_BREAKS):  # a pattern takes 200 times as long to find none
        return LINE_PATTERN.findall(text)
    return text.splitlines(keepends=True)


def find_column(line: str, character: int, encoding: str = "utf-16") -> int:
    """Converts the editor's column to an index in `line`. A column past the end gives the end of the line's text."""
    text = line.rstrip("\r\n")
    if text.isascii():
        return min(character, len(text))
    codec, size = CODE_UNITS.get(encoding, CODE_UNITS["utf-16"])
    units = text.encode(codec, "surrogatepass")[: character * size]
    return len(units.decode(codec, "replace" if codec == "utf-8" else "surrogatepass"))


def count_units(text: str, encoding: str = "utf-16") -> int:
    """Returns the editor's column at the end of `text`, which is the start of a line: the inverse of `find_column`."""
    if text.isascii():
        return len(text)
    codec, size = CODE_UNITS.get(encoding, CODE_UNITS["utf-16"])
    return len(text.encode(codec, "surrogatepass")) // size


class Document(TextDocument):
    """One open document. An `oversize` one has no text, so requests for it find nothing until it is reopened."""

    def __init__(self, *arguments: Any, encoding: str, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.encoding = encoding
        self._split: tuple[str, list[str]] | None = None
        """The text that was split last, and its lines."""
        self.oversize = False
        self._drop_if_oversize()

    @property
    def lines(self) -> list[str]:
        source, split = self.source, self._split  # another thread may change both
        if split is None or split[0] is not source:
            split = self._split = source, split_lines(source)
        return split[1]

    @property
    def source(self) -> str:
        return self._source or ""

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        if self.oversize:
            return
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = self._offset(change.range.start), self._offset(change.range.end)
            self._source = self.source[:start] + change.text + self.source[max(start, end) :]
        else:
            self._source = change.text
        self._drop_if_oversize()

    def forget_lines(self) -> None:
        """Frees the split lines; they are split again when needed."""
        self._split = None

    def line(self, number: int) -> str:
        """Returns the line without its line ending; "" past the last line."""
        return self.lines[number].rstrip("\r\n") if 0 <= number < len(self.lines) else ""

    def index_in_line(self, position: types.Position) -> int:
        """Converts a position to an index in its line."""
        return find_column(self.line(position.line), position.character, self.encoding)

    def _offset(self, position: types.Position) -> int:
        if position.line >= len(self.lines):
            return len(self.source)
        return sum(map(len, self.lines[: position.line])) + self.index_in_line(position)

    def _drop_if_oversize(self) -> None:
        text = self._source or ""
        if len(text) > MAX_BYTES or (len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "replace")) > MAX_BYTES):
            self.oversize, self._source, self._split = True, "", None


class Documents(Workspace):
    """A pygls workspace that holds our `Document`s. Only the most recently used ones keep their split lines."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._recently_split: deque[Document] = deque(maxlen=MAX_SPLIT_DOCUMENTS)

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Document:
        return Document(doc_uri, source=source, version=version, language_id=language_id, encoding=self.encoding_name)

    @property
    def encoding_name(self) -> str:
        """The units in which the editor counts columns: `utf-8`, `utf-16` or `utf-32`."""
        return str(getattr(self.position_encoding, "value", self.position_encoding))

    def find_open_document(self, uri: str) -> Document | None:
        """Returns the document if the editor has it open, else None. Never reads the file from disk."""
        found = self.text_documents.get(unquote(uri))
        if not isinstance(found, Document):
            return None
        if found not in self._recently_split:
            if len(self._recently_split) == self._recently_split.maxlen:
                self._recently_split[0].forget_lines()
            self._recently_split.append(found)
        return found
