"""What the editor asks while a person reads code: hovers and lenses, from memory, in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types

from lerim.lsp import cursor, memories, uses, watching
from lerim.lsp import lenses as lens
from lerim.lsp.documents import Document
from lerim.lsp.hovers import MAX_MEMORIES, render
from lerim.lsp.protocol import SHOW_FILE_MEMORIES
from lerim.lsp.repos import Place, Repo
from lerim.lsp.sidecar import Sidecar
from lerim.memory import definitions
from lerim.memory.references import Entry
from lerim.memory.views import safe

PREFETCHED = 64


async def hover(sidecar: Sidecar, params: types.HoverParams) -> types.Hover | None:
    """The memories about the word, the path or the file under the cursor; None where there are none."""
    settings = sidecar.options.settings
    document = _document(sidecar, params.text_document.uri)
    if document is None or not settings.hover:
        return None
    place = await sidecar.repos.place(params.text_document.uri)
    if place is None:
        return None
    entries = sorted(about(document, params.position, place), key=_is_wrong(place))
    if not entries:
        return None
    wanted = [entry.path for entry in entries[:MAX_MEMORIES]]
    if place.repo.quick or all(path in place.repo.cache for path in wanted):
        stored = memories.load(place.repo, wanted)
    else:
        stored = await sidecar.run(memories.load, place.repo, wanted)
    if not stored:
        return None
    uses.hovered(sidecar, place.repo, [one.record.id for one in stored])
    text = render(
        memories.shown(sidecar, place.repo, stored),
        len(entries) - len(wanted),
        sidecar.clock(),
        trusted=sidecar.options.trusted,
    )
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


async def lenses(sidecar: Sidecar, params: types.CodeLensParams) -> list[types.CodeLens]:
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
        watching.glance(sidecar, place)
    standings = place.repo.standings
    whole = [standings.wrong(entry) or entry.label for entry in entries]
    symbols = {
        name: [standings.wrong(entry) or entry.label for entry in references.for_symbol(place.path, name)]
        for name in (references.symbols(place.path) if mode == "symbols" else ())
    }
    find = definitions.finder(place.path, document.source, document.lines) if symbols else lambda _: None
    return [_lens(uri, one) for one in lens.place(mode, whole, symbols, find)]


def _lens(uri: str, one: lens.Lens) -> types.CodeLens:
    """`data` tells our extension, which moves the lens to where the editor sees the symbol (docs/PROTOCOL.md)."""
    at = types.Position(one.line or 0, 0)
    return types.CodeLens(
        range=types.Range(at, at),
        command=types.Command(title=one.title, command=SHOW_FILE_MEMORIES, arguments=[uri]),
        data={"symbol": one.symbol, "found": bool(one.line)} if one.symbol else None,
    )


def about(document: Document, position: types.Position, place: Place) -> list[Entry]:
    """The memories about what stands at `position`: a symbol of this file, else a path, else on line 1 the file."""
    references = place.repo.references
    line = document.line(position.line)
    index = document.index(position)
    word = cursor.word_at(line, index)
    found = list(references.for_symbol(place.path, word)) if word else []
    if found:
        return found
    for path in cursor.candidates(cursor.path_at(line, index), place.folder):
        found = list(references.for_file(path))
        if found:
            return found
    return list(references.for_file(place.path)) if position.line == 0 else []


def _is_wrong(place: Place) -> Callable[[Entry], bool]:
    """What is true comes first: three memories are shown."""
    return lambda entry: place.repo.standings.wrong(entry) != ""


def _prefetch(sidecar: Sidecar, place: Place, entries: Sequence[Entry]) -> None:
    """The editor asks for lenses when a file comes into view: its memories are read before the first hover."""
    cold = [entry.path for entry in entries[:PREFETCHED] if entry.path not in place.repo.cache]
    if cold:
        sidecar.executor.submit(_read_ahead, place.repo, cold)


def _read_ahead(repo: Repo, paths: Sequence[Path]) -> None:
    for stored in memories.load(repo, paths):
        safe(stored.record)  # kept for the hover, of which it would be the longest part


def _document(sidecar: Sidecar, uri: str) -> Document | None:
    settings = sidecar.options.settings
    document = sidecar.server.documents.opened(uri) if settings.enabled else None
    if document is None or document.oversize or len(document.source) > settings.max_file_kb * 1024:
        return None
    return document
