"""What the editor asks while a person reads code: hovers and lenses, from memory, in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types

from lerim.lsp.boundary import Document
from lerim.lsp.features import watching
from lerim.lsp.features.memories import cursor, views
from lerim.lsp.features.memories import lenses as lens
from lerim.lsp.features.memories.hovers import MAX_MEMORIES, render_hover
from lerim.lsp.protocol import SHOW_FILE_MEMORIES
from lerim.lsp.window import FileLocation, Repo, Sidecar, uses
from lerim.memory import MemoryEntry, definitions, redact_record

PREFETCHED = 64


async def hover_at_position(sidecar: Sidecar, params: types.HoverParams) -> types.Hover | None:
    """The memories about the word, the path or the file under the cursor; None where there are none."""
    settings = sidecar.options.settings
    document = _document(sidecar, params.text_document.uri)
    if document is None or not settings.hover:
        return None
    place = await sidecar.repos.place(params.text_document.uri)
    if place is None:
        return None
    entries = sorted(find_entries(document, params.position, place), key=_is_wrong(place))
    if not entries:
        return None
    wanted = [entry.path for entry in entries[:MAX_MEMORIES]]
    if place.repo.quick or all(path in place.repo.cache for path in wanted):
        stored = views.load_memories(place.repo, wanted)
    else:
        stored = await sidecar.run(views.load_memories, place.repo, wanted)
    if not stored:
        return None
    uses.note_hovered(sidecar, place.repo, [one.record.id for one in stored])
    text = render_hover(
        views.make_hover_memories(sidecar, place.repo, stored),
        len(entries) - len(wanted),
        sidecar.clock(),
        trusted=sidecar.options.trusted,
    )
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


async def list_code_lenses(sidecar: Sidecar, params: types.CodeLensParams) -> list[types.CodeLens]:
    """What is known about the file, counted on its first line."""
    uri = params.text_document.uri
    document = _document(sidecar, uri)
    mode = sidecar.options.settings.code_lens
    if document is None or mode == "off":
        return []
    place = await sidecar.repos.place(uri)
    if place is None:
        return []
    references = place.repo.references
    entries = references.for_file(place.path)
    _prefetch(sidecar, place, entries)
    if entries:
        watching.check_file_soon(sidecar, place)
    standings = place.repo.standings
    whole = [standings.wrong(entry) or entry.label for entry in entries]
    symbols = {
        name: [standings.wrong(entry) or entry.label for entry in references.for_symbol(place.path, name)]
        for name in (references.symbols(place.path) if mode == "symbols" else ())
    }
    find = definitions.make_symbol_finder(place.path, document.source, document.lines) if symbols else lambda _: None
    return [_lens(uri, one) for one in lens.place_lenses(mode, whole, symbols, find)]


def _lens(uri: str, one: lens.Lens) -> types.CodeLens:
    """`data` tells our extension, which moves the lens to where the editor sees the symbol (docs/PROTOCOL.md)."""
    at = types.Position(one.line or 0, 0)
    return types.CodeLens(
        range=types.Range(at, at),
        command=types.Command(title=one.title, command=SHOW_FILE_MEMORIES, arguments=[uri]),
        data={"symbol": one.symbol, "found": bool(one.line)} if one.symbol else None,
    )


def find_entries(document: Document, position: types.Position, place: FileLocation) -> list[MemoryEntry]:
    """The memories about what stands at `position`: a symbol of this file, else a path, else on line 1 the file."""
    references = place.repo.references
    line = document.line(position.line)
    index = document.index(position)
    word = cursor.word_at(line, index)
    found = list(references.for_symbol(place.path, word)) if word else []
    if found:
        return found
    for path in cursor.candidate_paths(cursor.path_at(line, index), place.folder):
        found = list(references.for_file(path))
        if found:
            return found
    return list(references.for_file(place.path)) if position.line == 0 else []


def _is_wrong(place: FileLocation) -> Callable[[MemoryEntry], bool]:
    """What is true comes first: three memories are shown."""
    return lambda entry: place.repo.standings.wrong(entry) != ""


def _prefetch(sidecar: Sidecar, place: FileLocation, entries: Sequence[MemoryEntry]) -> None:
    """The editor asks for lenses when a file comes into view: its memories are read before the first hover."""
    cold = [entry.path for entry in entries[:PREFETCHED] if entry.path not in place.repo.cache]
    if cold:
        sidecar.executor.submit(_read_ahead, place.repo, cold)


def _read_ahead(repo: Repo, paths: Sequence[Path]) -> None:
    for stored in views.load_memories(repo, paths):
        redact_record(stored.record)  # kept for the hover, of which it would be the longest part


def _document(sidecar: Sidecar, uri: str) -> Document | None:
    settings = sidecar.options.settings
    document = sidecar.server.documents.opened(uri) if settings.enabled else None
    if document is None or document.oversize or len(document.source) > settings.max_file_kb * 1024:
        return None
    return document
