"""Go to Definition in memory files: the memory of an id, a file, a symbol in it, and a turn in its transcript."""

from __future__ import annotations

from lsprotocol import types

from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features.language.memory_texts import MemoryText, find_memory_path, find_memory_text, find_source_path
from lerim.lsp.features.language.symbol_places import find_symbol_place
from lerim.lsp.features.language.targets import IdTarget, PathTarget, SymbolTarget, Target, find_target_at
from lerim.lsp.window import Sidecar

START = types.Range(types.Position(0, 0), types.Position(0, 0))


async def find_definition(sidecar: Sidecar, params: types.DefinitionParams) -> types.Location | None:
    """Where what the cursor is on is defined; None if that is nothing, or if it is gone."""
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
