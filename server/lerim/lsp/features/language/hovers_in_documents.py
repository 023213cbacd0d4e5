"""Hovers in memory files: the memory that an id names, whether a path exists, where a symbol is defined, who said what,
and what each key is for.

All that comes from files is escaped. Anywhere else in a document, the memories about the word there are shown.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

from lsprotocol import types

from lerim.errors import LerimError
from lerim.lsp.boundary import escape_block, escape_line, shorten_text
from lerim.lsp.features.language.key_hovers import describe_key
from lerim.lsp.features.language.memory_texts import (
    MemoryText,
    find_memory_path,
    find_memory_text,
    find_source_path,
)
from lerim.lsp.features.language.symbol_places import find_symbol_place
from lerim.lsp.features.language.targets import (
    IdTarget,
    PathTarget,
    SymbolTarget,
    Target,
    TurnTarget,
    find_target_at,
    find_targets,
)
from lerim.lsp.features.memories import HoverMemory, editor_requests, loading, render_hover
from lerim.lsp.protocol import OPEN_TURN, redact_text
from lerim.lsp.window import HandleTarget, Repo, Sidecar
from lerim.memory import Reference, SourceReader, StoredMemory, TextSpan, definitions, describe_missing

MAX_QUOTED = 600
"""Characters of a turn in a hover."""
MAX_QUICK_SOURCE = 16 * 1024
"""Bytes of a source file that is read and parsed in 2 ms or so."""


async def hover_at_position(sidecar: Sidecar, params: types.HoverParams) -> types.Hover | None:
    """Returns what is known about the place under the cursor; None if that is nothing."""
    text = await find_memory_text(sidecar, params.text_document.uri) if sidecar.options.settings.hover else None
    if text is not None:
        position = params.position
        target = find_target_at(text, position.line, text.index(position))
        if target is not None:
            if _is_quick(text, target):
                shown = _describe(sidecar, text, target)  # a thread would take longer
            else:
                shown = await sidecar.run_in_thread(_describe, sidecar, text, target)
            return _make_hover(text, shown, target.span)
        head, character = text.document.frontmatter, text.index(position)
        if head is not None and position.line <= head.end_line:  # a hover on the body waits for no thread
            help_text = await sidecar.run_in_thread(_describe_key, sidecar, text, position.line, character)
            if help_text is not None:
                return _make_hover(text, *help_text)
    return await editor_requests.hover_at_position(sidecar, params)


def _make_hover(text: MemoryText, shown: str, span: TextSpan) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, shown), text.range(span))


def _describe_key(sidecar: Sidecar, text: MemoryText, line: int, character: int) -> tuple[str, TextSpan] | None:
    return describe_key(text, line, character, trusted=sidecar.options.trusted)


def _is_quick(text: MemoryText, target: Target) -> bool:
    """Returns whether a target is described faster here than in a thread: its memory has been read or is read
    quickly, or its symbol is in a small file."""
    repo = text.repo
    if repo is None:
        return False
    if isinstance(target, IdTarget):
        entry = repo.references.entry_of_id(target.id)
        return repo.is_fast_to_read or (entry is not None and entry.path in repo.cache)
    if not isinstance(target, SymbolTarget) or not repo.is_fast_to_read:
        return False
    stamp = SourceReader(repo.project.root).stamp(target.reference.path)
    return stamp != () and stamp[1] <= MAX_QUICK_SOURCE


def _describe(sidecar: Sidecar, text: MemoryText, target: Target) -> str:
    if isinstance(target, IdTarget):
        return _describe_memory(sidecar, text, target.id)
    if isinstance(target, TurnTarget):
        return redact_text(_describe_turn(sidecar, text, target.session, target.turn))
    if text.repo is None:
        return "A personal memory belongs to no repository, so its references lead nowhere."
    if isinstance(target, PathTarget):
        said, count = _describe_path(text.repo, target.path)
    else:
        said, count = _describe_symbol(sidecar, text.repo, target.reference)
    return redact_text(f"{said} {count} {'memory refers' if count == 1 else 'memories refer'} to it.")


def _describe_memory(sidecar: Sidecar, text: MemoryText, memory_id: str) -> str:
    path = find_memory_path(text, memory_id)
    if path is None:
        return f"There is no memory with the id {escape_line(memory_id[:200])}."
    stored = _load_memory(text, path)
    if stored is None:
        return f"The memory {escape_line(memory_id[:200])} cannot be read. Its file shows why."
    if text.repo is not None:
        memory = loading.make_hover_memory(sidecar, text.repo, stored.record)
    else:
        handle = sidecar.handles.make_handle(HandleTarget(sidecar.home.root, stored.record.id))
        memory = HoverMemory(stored.record, handle, is_own=True)
    shown = render_hover(memory, sidecar.clock(), trusted=sidecar.options.trusted, with_links=sidecar.has_extension)
    ender = stored.record.superseded_by or stored.record.resolved_by
    state = stored.status if not ender else f"{stored.status} by {ender}"
    return f"{escape_line(redact_text(state)).capitalize()}\n\n{shown}"


def _load_memory(text: MemoryText, path: Path) -> StoredMemory | None:
    if text.repo is not None:
        return next(loading.load_memories(text.repo, [path]), None)
    try:
        return text.store.load(path)[0]
    except LerimError:
        return None


def prefetch_targets(sidecar: Sidecar, text: MemoryText) -> None:
    """Reads the live memories and source files that a text names in the background, before somebody hovers over one."""
    repo = text.repo
    if repo is None or not sidecar.options.settings.hover:
        return
    targets = list(find_targets(text))
    ids = dict.fromkeys(one.id for one in targets if isinstance(one, IdTarget) and one.key != "id")
    editor_requests.prefetch_memories(sidecar, repo, list(filter(None, map(repo.references.entry_of_id, ids))))
    symbols = {one.reference.path: one.reference for one in targets if isinstance(one, SymbolTarget)}
    for reference in list(symbols.values())[: definitions.MAX_KEPT_FILES]:
        sidecar.executor.submit(find_symbol_place, sidecar, repo, reference)


def _describe_path(repo: Repo, path: str) -> tuple[str, int]:
    is_there = find_source_path(repo, path) is not None
    said = f"{path} exists" if is_there else describe_missing(Reference(path))
    return f"{escape_line(said)}.", len(repo.references.for_file(path))


def _describe_symbol(sidecar: Sidecar, repo: Repo, reference: Reference) -> tuple[str, int]:
    place = find_symbol_place(sidecar, repo, reference)
    name, path = escape_line(reference.symbol), escape_line(reference.path)
    count = len(repo.references.for_symbol(reference.path, reference.symbol))
    if place is None:
        return f"{escape_line(describe_missing(reference))}, or is defined there more than once.", count
    return f"{name} is defined in {path}, line {place.line + 1}.", count


def _describe_turn(sidecar: Sidecar, text: MemoryText, session: str, turn: str) -> str:
    if not sidecar.options.trusted:
        return "The transcript is off in Restricted Mode."
    from lerim.lsp.features.language import transcripts  # imported late: the readers of sessions load slowly

    found = transcripts.find_turn(sidecar, turn)
    if found is None:
        return f"Session {escape_line(session[:80])} is not on this machine."
    said = escape_block(shorten_text(found.text, MAX_QUOTED))
    shown = f"**{escape_line(found.speaker)}** in {escape_line(found.title)}\n\n{said}"
    if not sidecar.has_extension:
        return shown
    root = text.repo.uris[0] if text.repo is not None else None
    argument = quote(json.dumps([{"root": root, "session": session, "turn": turn}]), safe="")
    return f"{shown}\n\n[Open the transcript](command:{OPEN_TURN}?{argument})"
