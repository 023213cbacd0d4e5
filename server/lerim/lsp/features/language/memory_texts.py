"""Memory files as the editor or the disk has them, with positions in the editor's units."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from lerim import files
from lerim.errors import LerimError
from lerim.lsp.boundary import count_units, find_column, path_to_uri, split_lines, uri_to_path
from lerim.lsp.features.memories import loading
from lerim.lsp.window import Repo, Sidecar
from lerim.memory import (
    MAX_FILE_BYTES,
    MemoryDocument,
    MemoryEntry,
    Store,
    TextSpan,
    kind_of_document,
    parse_memory_document,
)

_parse = functools.lru_cache(maxsize=8)(parse_memory_document)
"""Editors ask about a text several times before it changes."""


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A memory or candidate file as text. `version` is the editor's if the file is open. `repo` is None for a personal
    memory, and `store` has the memories that its links can name."""

    path: Path
    uri: str
    version: int | None
    encoding: str
    lines: Sequence[str]
    document: MemoryDocument
    repo: Repo | None
    store: Store

    def line(self, number: int) -> str:
        """Returns a line without its end; "" past the last one."""
        return self.lines[number].rstrip("\r\n") if 0 <= number < len(self.lines) else ""

    def index(self, position: types.Position) -> int:
        """Returns where a position is in its line, in characters."""
        return find_column(self.line(position.line), position.character, self.encoding)

    def range(self, span: TextSpan) -> types.Range:
        """Returns a span in the editor's units."""
        return types.Range(
            self._position(span.start_line, span.start_character), self._position(span.end_line, span.end_character)
        )

    def part(self, span: TextSpan) -> str:
        """Returns the text of a span within one line; "" if it has several lines."""
        if span.start_line != span.end_line:
            return ""
        return self.line(span.start_line)[span.start_character : span.end_character]

    def _position(self, line: int, character: int) -> types.Position:
        return types.Position(line, count_units(self.line(line)[:character], self.encoding))


def is_memory_uri(sidecar: Sidecar, uri: str) -> bool:
    """Returns whether a URI is that of a memory or a candidate, by its folder alone."""
    path = uri_to_path(uri) if uri.endswith(".md") else None
    return path is not None and kind_of_document(Path(path), sidecar.home.memory) is not None


async def find_memory_text(sidecar: Sidecar, uri: str) -> MemoryText | None:
    """Returns the memory or candidate that the editor has open under this URI; None for any other document."""
    settings = sidecar.options.settings
    document = sidecar.server.documents.find_open_document(uri) if settings.enabled else None
    if document is None or document.oversize or not is_memory_uri(sidecar, uri):
        return None
    location = await sidecar.repos.locate_file(uri)
    if location is not None:
        repo, path = location.repo, location.repo.project.root / location.path  # also of a folder opened by a link
    else:
        repo, path = None, Path(str(uri_to_path(uri)))
        if not path.is_relative_to(sidecar.home.memory):
            return None
    return MemoryText(
        path,
        uri,
        document.version,
        document.encoding,
        document.lines,
        _parse(document.source),
        repo,
        store_of(sidecar, repo),
    )


def read_memory_text(sidecar: Sidecar, repo: Repo | None, path: Path) -> MemoryText | None:
    """Returns a memory's text: from the editor if it is open there, else from its file (blocking). None if it cannot
    be read."""
    uri = path_to_uri(path)
    store = store_of(sidecar, repo)
    document = sidecar.server.documents.find_open_document(uri)
    if document is not None and not document.oversize:
        version = document.version  # first, so that the editor refuses an edit if the text changes meanwhile
        text = document.source
    else:
        try:
            text = files.read_text(path, MAX_FILE_BYTES, store.anchor)
        except LerimError:
            return None  # the file's own diagnostic says so
        version = None
    encoding = sidecar.server.documents.encoding_name
    return MemoryText(path, uri, version, encoding, split_lines(text), _parse(text), repo, store)


def store_of(sidecar: Sidecar, repo: Repo | None) -> Store:
    """Returns the store of a repository's memories, or of the personal ones."""
    return repo.store if repo is not None else loading.personal_store(sidecar)


def list_entries(sidecar: Sidecar, repo: Repo | None) -> Sequence[MemoryEntry]:
    """Returns the live memories of a repository, or the personal ones, newest first (blocking)."""
    return repo.references.entries if repo is not None else sidecar.repos.list_personal_memories()


def find_memory_path(text: MemoryText, memory_id: str) -> Path | None:
    """Returns the file of a memory that a link names, live or archived; None if there is none (blocking)."""
    entry = text.repo.references.entry_of_id(memory_id) if text.repo is not None else None
    return entry.path if entry is not None else text.store.path_of(memory_id)


def find_source_path(repo: Repo | None, path: str) -> Path | None:
    """Returns a file or folder of the repository that exists; None if it does not, or if links lead out of the
    repository (blocking)."""
    if repo is None:
        return None
    root = repo.project.root
    try:
        real = Path(os.path.realpath(root / path, strict=True))
    except (OSError, ValueError):
        return None
    return root / path if real.is_relative_to(os.path.realpath(root)) else None
