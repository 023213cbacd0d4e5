"""The editor's requests for hovers and code lenses, answered within milliseconds."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types

from lerim.lsp.boundary import Document, EncodedResult
from lerim.lsp.features import watching
from lerim.lsp.features.memories import loading
from lerim.lsp.features.memories.hovers import link_more, render_hover
from lerim.lsp.features.memories.lenses import encode_lenses, place_lenses
from lerim.lsp.features.memories.used_symbols import find_used_symbol
from lerim.lsp.protocol import FileMemoriesParams
from lerim.lsp.window import FileLocation, Repo, Sidecar, uses
from lerim.memory import MemoryEntry, Reference, StoredMemory, definitions, redact_record

MAX_PREFETCHED = 64
MAX_WORD = 200
MAX_PATH = 400
PATH_PUNCTUATION = frozenset("./\\_-+@~#$%")
TRAILING_PUNCTUATION = ".,"


async def hover_at_position(sidecar: Sidecar, params: types.HoverParams) -> types.Hover | None:
    """Returns the memories about the word, path or file under the cursor; None if there are none."""
    settings = sidecar.options.settings
    document = _find_document(sidecar, params.text_document.uri)
    if document is None or not settings.hover:
        return None
    location = await sidecar.repos.locate_file(params.text_document.uri)
    if location is None:
        return None
    place, entries = find_entries(document, params.position, location)
    if not entries:
        return None
    if location.repo.is_fast_to_read or entries[0].path in location.repo.cache:
        stored = _load_first(location.repo, entries)
    else:
        stored = await sidecar.run_in_thread(_load_first, location.repo, entries)
    if stored is None:
        return None
    uses.note_hovered(sidecar, location.repo, stored.record.id)
    position = params.position
    shown = loading.make_hover_memory(sidecar, location.repo, stored.record, place)
    more = link_more(len(entries) - 1, params.text_document.uri, position.line, position.character)
    text = render_hover(
        shown, sidecar.clock(), trusted=sidecar.options.trusted, more=more, with_links=sidecar.has_extension
    )
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


async def list_file_memories(sidecar: Sidecar, params: FileMemoriesParams) -> loading.MemoryList:
    """Returns every memory that refers to a file, or those about one place in it, the one that a hover shows there
    first."""
    location = await sidecar.repos.locate_file(params.uri)
    if location is None:
        return loading.MemoryList([])
    references = location.repo.references
    entries: Sequence[MemoryEntry] = references.for_file(location.path)
    if params.symbol:
        entries = references.for_symbol(location.path, params.symbol)
    elif params.line is not None:
        document = _find_document(sidecar, params.uri)
        position = types.Position(params.line, params.character)
        entries = find_entries(document, position, location)[1] if document is not None else []
    paths = [entry.path for entry in entries][: loading.MAX_RESULTS]
    return await sidecar.run_in_thread(_make_list, sidecar, location.repo, paths)


def _make_list(sidecar: Sidecar, repo: Repo, paths: Sequence[Path]) -> loading.MemoryList:
    found = loading.load_memories(repo, paths)
    return loading.MemoryList([loading.make_memory_view(sidecar, repo, stored) for stored in found])


async def list_code_lenses(sidecar: Sidecar, params: types.CodeLensParams) -> EncodedResult:
    """Returns the code lenses of a file."""
    uri = params.text_document.uri
    document = _find_document(sidecar, uri)
    mode = sidecar.options.settings.code_lens
    location = await sidecar.repos.locate_file(uri) if document is not None and mode != "off" else None
    if document is None or location is None:
        return EncodedResult(encode_lenses(uri, []))
    references = location.repo.references
    entries = references.for_file(location.path)
    drift = location.repo.drift
    place = Reference(location.path)

    def find_labels(name: str) -> list[str]:
        symbol = Reference(location.path, name)
        return [drift.wrong_state(entry, symbol) or entry.label for entry in symbols[name]]

    whole = [drift.wrong_state(entry, place) or entry.label for entry in entries]
    symbols = references.by_symbol(location.path) if mode == "symbols" else {}
    find = definitions.make_symbol_finder(location.path, document.source, document.lines) if symbols else lambda _: None
    encoded = encode_lenses(uri, place_lenses(whole, list(symbols), find_labels, find))
    if entries:
        prefetch_memories(sidecar, location.repo, entries)  # last: its thread would delay the answer
        watching.schedule_file_check(sidecar, location)
    return EncodedResult(encoded)


def find_entries(
    document: Document, position: types.Position, location: FileLocation
) -> tuple[Reference, list[MemoryEntry]]:
    """Returns the symbol at `position`, or else the path there, or else, on line 1, the file itself, and the
    memories about it. The one that a hover shows comes first: what is about the file itself before what is about a
    symbol of it, decisions before questions, and last what drifted or is not found."""
    place, found = find_named_entries(document, position, location)
    references, drift = location.repo.references, location.repo.drift
    about_file: set[str] = set()
    if not found and position.line == 0:
        found = list(references.for_file(location.path))
        about_file = {entry.name for entry in found if references.is_about_file(entry, location.path)}
    found.sort(
        key=lambda entry: (
            drift.wrong_state(entry, place) != "",
            entry.name not in about_file,
            entry.primitive == "question",
        )
    )
    return place, found


def find_named_entries(
    document: Document, position: types.Position, location: FileLocation
) -> tuple[Reference, list[MemoryEntry]]:
    """Returns the symbol at `position`, of this file or used in it, or else the path there, and the memories about
    it."""
    references = location.repo.references
    line = document.line(position.line)
    index = document.index_in_line(position)
    word = word_at(line, index)
    found = list(references.for_symbol(location.path, word)) if word else []
    if found:
        return Reference(location.path, word), found
    for path in possible_paths(path_at(line, index), location.folder):
        found = list(references.for_file(path))
        if found:
            return Reference(path), found
    used = find_used_symbol(document, position.line, index, word, location) if word else None
    return (used, list(references.for_symbol(used.path, used.symbol))) if used else (Reference(location.path), [])


async def find_symbol_entries(
    sidecar: Sidecar, uri: str, position: types.Position
) -> tuple[Repo, list[MemoryEntry], Reference] | None:
    """Returns the memories about the symbol or path at a place of a source file; None if there are none."""
    document = _find_document(sidecar, uri)
    location = await sidecar.repos.locate_file(uri) if document is not None else None
    if document is None or location is None:
        return None
    reference, entries = find_named_entries(document, position, location)
    return (location.repo, entries, reference) if entries else None


def prefetch_memories(sidecar: Sidecar, repo: Repo, entries: Sequence[MemoryEntry]) -> None:
    """Reads memories in the background before the first hover, when the document that they belong to is shown."""
    not_cached = [entry.path for entry in entries[:MAX_PREFETCHED] if entry.path not in repo.cache]
    if not_cached:
        sidecar.executor.submit(_load_for_hover, repo, not_cached)


def _load_first(repo: Repo, entries: Sequence[MemoryEntry]) -> StoredMemory | None:
    return next(loading.load_memories(repo, (entry.path for entry in entries[:MAX_PREFETCHED])), None)


def _load_for_hover(repo: Repo, paths: Sequence[Path]) -> None:
    for stored in loading.load_memories(repo, paths):
        redact_record(stored.record)  # cached for the hover: redaction would be its slowest part


def _find_document(sidecar: Sidecar, uri: str) -> Document | None:
    settings = sidecar.options.settings
    document = sidecar.server.documents.find_open_document(uri) if settings.enabled else None
    if document is None or document.oversize or len(document.source) > settings.max_file_kb * 1024:
        return None
    return document


def word_at(line: str, index: int) -> str:
    """Returns the identifier that covers `index` or ends right before it; "" if there is none or it is too long."""
    start, end = _expand(line, index, lambda character: character.isalnum() or character in "_$", MAX_WORD)
    return line[start:end] if end - start <= MAX_WORD else ""


def path_at(line: str, index: int) -> str:
    """Returns the path-like text that covers `index`, with forward slashes; "" if it has neither a slash nor a dot."""
    start, end = _expand(line, index, lambda character: character.isalnum() or character in PATH_PUNCTUATION, MAX_PATH)
    text = line[start:end].partition("#")[0].replace("\\", "/").rstrip(TRAILING_PUNCTUATION)
    if end - start > MAX_PATH or not ("/" in text or "." in text.strip(".")):
        return ""
    return text


def possible_paths(text: str, folder: str) -> tuple[str, ...]:
    """Returns the paths in the repository that `text` may name in a file of `folder` ("" is the root); none leads
    outside. An `@` before a path is how files for agents include another one."""
    joined = [path for one in (text, text.lstrip("@")) for path in (posixpath.join(folder, one), one.lstrip("/"))]
    normalized = (posixpath.normpath(path) for path in dict.fromkeys(joined))
    return tuple(
        path for path in dict.fromkeys(normalized) if not path.startswith(("../", "/")) and path not in (".", "..")
    )


def _expand(line: str, index: int, is_part: Callable[[str], bool], limit: int) -> tuple[int, int]:
    start = end = min(index, len(line))
    while start > 0 and index - start <= limit and is_part(line[start - 1]):
        start -= 1
    while end < len(line) and end - index <= limit and is_part(line[end]):
        end += 1
    return start, end
