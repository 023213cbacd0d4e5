"""Go to Definition in memory files, for ids, files, symbols in them and turns of transcripts; and links."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from lsprotocol import types

from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features.language.memory_texts import MemoryText, find_memory_path, find_memory_text, find_source_path
from lerim.lsp.features.language.symbol_places import find_symbol_place
from lerim.lsp.features.language.targets import IdTarget, PathTarget, SymbolTarget, Target, find_target_at, find_targets
from lerim.lsp.window import Sidecar

MAX_LINKS = 200
START = types.Range(types.Position(0, 0), types.Position(0, 0))


async def find_definition(sidecar: Sidecar, params: types.DefinitionParams) -> types.Location | None:
    """Returns where what the cursor is on is defined; None if that is nothing, or if it is gone."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    target = find_target_at(text, params.position.line, text.index(params.position)) if text is not None else None
    if text is None or target is None:
        return None
    return await sidecar.run_in_thread(_locate, sidecar, text, target)


def _locate(sidecar: Sidecar, text: MemoryText, target: Target) -> types.Location | None:
    if isinstance(target, IdTarget):
        path = find_memory_path(text, target.id)
        return types.Location(path_to_uri(path), START) if path is not None else None
    if isinstance(target, PathTarget):
        path = find_source_path(text.repo, target.path)
        return types.Location(path_to_uri(path), START) if path is not None and path.is_file() else None
    if isinstance(target, SymbolTarget):
        place = find_symbol_place(sidecar, text.repo, target.reference) if text.repo is not None else None
        if place is not None:
            return types.Location(place.uri, place.range)
        path = find_source_path(text.repo, target.reference.path)
        return types.Location(path_to_uri(path), START) if path is not None and path.is_file() else None
    from lerim.lsp.features.language import transcripts  # imported late: the readers of sessions load slowly

    if not sidecar.options.trusted or not transcripts.can_show_transcripts(sidecar):
        return None
    return transcripts.turn_location(sidecar, target.turn)


async def list_document_links(sidecar: Sidecar, params: types.DocumentLinkParams) -> list[types.DocumentLink] | None:
    """Returns the links of a memory file to memories and files that exist."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    return None if text is None else await sidecar.run_in_thread(_list_links, text)


def _list_links(text: MemoryText) -> list[types.DocumentLink]:
    return list(islice(_find_links(text), MAX_LINKS))


def _find_links(text: MemoryText) -> Iterator[types.DocumentLink]:
    for target in find_targets(text):
        if isinstance(target, IdTarget) and target.key != "id":
            path = find_memory_path(text, target.id)
        elif isinstance(target, PathTarget):
            path = find_source_path(text.repo, target.path)
            path = path if path is not None and path.is_file() else None
        else:
            continue
        if path is not None:
            yield types.DocumentLink(text.range(target.span), path_to_uri(path))
