"""Find All References: the memories that link to a memory, and those that speak of a file or symbol.

In source files the editor shows them together with the references that the language's own server finds.
"""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from lerim.lsp.features.language.definitions import START
from lerim.lsp.features.language.memory_texts import (
    MemoryText,
    find_memory_path,
    find_memory_text,
    is_memory_uri,
    list_entries,
    read_memory_text,
)
from lerim.lsp.features.language.targets import (
    LINK_KEYS,
    IdTarget,
    PathTarget,
    SymbolTarget,
    Target,
    find_target_at,
    find_targets,
)
from lerim.lsp.features.memories import editor_requests
from lerim.lsp.window import Repo, Sidecar
from lerim.memory import MemoryEntry, Reference

MAX_MEMORIES = 200
"""Most memories whose files are read for one answer."""


async def find_references(sidecar: Sidecar, params: types.ReferenceParams) -> list[types.Location] | None:
    """Returns the places in memories that name what the cursor is on; None if nothing is there."""
    uri, position = params.text_document.uri, params.position
    if not is_memory_uri(sidecar, uri):
        found = await editor_requests.find_symbol_entries(sidecar, uri, position)
        if found is None:
            return None
        repo, entries, reference = found
        return await sidecar.run_in_thread(_locate_references, sidecar, repo, entries, reference)
    text = await find_memory_text(sidecar, uri)
    target = find_target_at(text, position.line, text.index(position)) if text is not None else None
    if text is None or target is None:
        return None
    return await sidecar.run_in_thread(_locate_all, sidecar, text, target, params.context.include_declaration)


def _locate_all(
    sidecar: Sidecar, text: MemoryText, target: Target, include_declaration: bool
) -> list[types.Location] | None:
    if isinstance(target, IdTarget):
        return _locate_links(sidecar, text, target.id, include_declaration)
    if text.repo is None:
        return None
    if isinstance(target, PathTarget):
        entries = text.repo.references.for_file(target.path)
        return _locate_references(sidecar, text.repo, entries, Reference(target.path))
    if isinstance(target, SymbolTarget):
        entries = text.repo.references.for_symbol(target.reference.path, target.reference.symbol)
        return _locate_references(sidecar, text.repo, entries, target.reference)
    return None


def _locate_links(
    sidecar: Sidecar, text: MemoryText, memory_id: str, include_declaration: bool
) -> list[types.Location]:
    """Returns the links to a memory in live memories, and in those that it ended, whose files name it, too."""
    if text.repo is not None:
        paths = [entry.path for entry in text.repo.references.linking_to(memory_id)]
    else:
        paths = [entry.path for entry in list_entries(sidecar, None) if memory_id in entry.links]
    own_path = find_memory_path(text, memory_id)
    own = read_memory_text(sidecar, text.repo, own_path) if own_path is not None else None
    named = [one.id for one in find_targets(own) if isinstance(one, IdTarget) and one.key in LINK_KEYS] if own else []
    paths += [path for one in named if (path := find_memory_path(text, one)) is not None]
    found = [types.Location(own.uri, START)] if own is not None and include_declaration else []
    for path in list(dict.fromkeys(paths))[:MAX_MEMORIES]:
        linking = read_memory_text(sidecar, text.repo, path)
        for one in find_targets(linking) if linking is not None else ():
            if linking is not None and isinstance(one, IdTarget) and one.key in LINK_KEYS and one.id == memory_id:
                found.append(types.Location(linking.uri, linking.range(one.span)))
    return found


def _locate_references(
    sidecar: Sidecar, repo: Repo, entries: Iterable[MemoryEntry], wanted: Reference
) -> list[types.Location]:
    """Returns where these memories name a file, or a symbol of it, in their references."""
    found: list[types.Location] = []
    for entry in list(entries)[:MAX_MEMORIES]:
        text = read_memory_text(sidecar, repo, entry.path)
        if text is None:
            continue
        places = [
            one.span
            for one in find_targets(text)
            if (isinstance(one, PathTarget) and not wanted.symbol and one.path == wanted.path)
            or (isinstance(one, SymbolTarget) and wanted.symbol and _names_same(one.reference, wanted))
        ]
        # a reference that git knows to have moved is still written as it was: then the memory itself is the place
        found += [types.Location(text.uri, text.range(span)) for span in places] or [types.Location(text.uri, START)]
    return found


def _names_same(written: Reference, wanted: Reference) -> bool:
    """Returns whether a reference names the symbol; `save` finds `Store.save`, too."""
    last = written.symbol.rpartition(".")[2]
    return written.path == wanted.path and wanted.symbol in (written.symbol, last)
