"""The open documents: lines as the editor counts them, columns in its units, nothing of files that are too large.

pygls splits lines at form feeds and U+2028 too, where an editor does not, so that its columns and edits go astray in
such files; it also splits the whole text again at each access. Both are replaced here.
"""

# ruff: noqa: TID251 - the two files that may
from __future__ import annotations

import re
from collections import deque
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

EXOTIC = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
MAX_BYTES = 512 * 1024
SPLIT = 4


def split_lines(text: str) -> list[str]:
    """Lines with their ends; only `\\n`, `\\r\\n` and `\\r` end a line."""
    return LINE.findall(text) if EXOTIC.search(text) else text.splitlines(keepends=True)


def find_column(line: str, character: int, encoding: str = "utf-16") -> int:
    """The index in `line` of the editor's column; past the end is the end of the line's text."""
    text = line.rstrip("\r\n")
    if text.isascii():
        return min(character, len(text))
    codec, size = UNITS.get(encoding, UNITS["utf-16"])
    units = text.encode(codec, "surrogatepass")[: character * size]
    return len(units.decode(codec, "replace" if codec == "utf-8" else "surrogatepass"))


class Document(TextDocument):
    """One open document. `oversize` ones keep no text and are answered with nothing until they are opened again."""

    def __init__(self, *arguments: Any, encoding: str, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._encoding = encoding
        self._lines: list[str] | None = None
        self.oversize = False
        self._measure()

    @property
    def lines(self) -> list[str]:
        if self._lines is None:
            self._lines = split_lines(self.source)
        return self._lines

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
        self._lines = None
        self._measure()

    def forget_lines(self) -> None:
        """Lets go of the lines; they are made again when they are needed."""
        self._lines = None

    def line(self, number: int) -> str:
        """The line without its end; "" past the last."""
        return self.lines[number].rstrip("\r\n") if 0 <= number < len(self.lines) else ""

    def index(self, position: types.Position) -> int:
        """The index of a position in its line."""
        return find_column(self.line(position.line), position.character, self._encoding)

    def _offset(self, position: types.Position) -> int:
        if position.line >= len(self.lines):
            return len(self.source)
        return sum(map(len, self.lines[: position.line])) + self.index(position)

    def _measure(self) -> None:
        text = self._source or ""
        if len(text) > MAX_BYTES or (len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "replace")) > MAX_BYTES):
            self.oversize, self._source, self._lines = True, "", None


class Documents(Workspace):
    """pygls' workspace with our documents in it. Only the few last asked for are kept split into lines."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._split: deque[Document] = deque(maxlen=SPLIT)

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Document:
        return Document(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            encoding=str(getattr(self.position_encoding, "value", self.position_encoding)),
        )

    def opened(self, uri: str) -> Document | None:
        """The document if the editor has it open; a file is never read from disk for it."""
        found = self.text_documents.get(unquote(uri))
        if not isinstance(found, Document):
            return None
        if found not in self._split:
            if len(self._split) == self._split.maxlen:
                self._split[0].forget_lines()
            self._split.append(found)
        return found
