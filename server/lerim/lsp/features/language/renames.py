"""Renames a memory's id: in its file, in the file's name, and in every link to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from lsprotocol import types

from lerim.errors import MemoryError_, NotFoundError
from lerim.lsp.boundary import path_to_uri, uri_to_path
from lerim.lsp.features.language.edits import can_edit_files, edit_file, make_workspace_edit
from lerim.lsp.features.language.memory_texts import (
    MemoryText,
    find_memory_path,
    find_memory_text,
    list_entries,
    read_memory_text,
    store_of,
)
from lerim.lsp.features.language.targets import LINK_KEYS, IdTarget, find_target_at
from lerim.lsp.window import Repo, Sidecar, candidate_counts
from lerim.memory import slug


async def prepare_rename(sidecar: Sidecar, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    """Returns the id under the cursor; None if there is none, or if no memory has it."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    target = _find_id(text, params.position) if text is not None else None
    if text is None or target is None:
        return None
    path = await sidecar.run_in_thread(find_memory_path, text, target.id)
    return types.PrepareRenamePlaceholder(text.range(target.span), target.id) if path is not None else None


async def rename_id(sidecar: Sidecar, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Returns the edit that gives the memory under the cursor another id. Raises MemoryError_ if that id is not
    possible."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    target = _find_id(text, params.position) if text is not None else None
    if text is None or target is None:
        return None
    if not can_edit_files(sidecar, types.ResourceOperationKind.Rename):
        todo = "Rename the memory's file instead, or change its id, its links and its file name by hand."
        raise MemoryError_("This editor cannot rename a file as part of an edit.", where=target.id, todo=todo)
    return await sidecar.run_in_thread(_rename, sidecar, text, target.id, params.new_name.strip())


def _find_id(text: MemoryText, position: types.Position) -> IdTarget | None:
    target = find_target_at(text, position.line, text.index(position))
    return target if isinstance(target, IdTarget) and target.key != "targets" else None


def _rename(sidecar: Sidecar, text: MemoryText, old: str, new: str) -> types.WorkspaceEdit | None:
    path = find_memory_path(text, old)
    if path is None:
        raise NotFoundError(f"There is no memory {old[:80]!r}.", where=str(text.path), todo="See `lerim memory list`.")
    if old == new:
        return None
    if not slug.is_id(new):
        todo = "Use letters, digits and hyphens, such as 20260801-use-sqlite."
        raise MemoryError_(f"{new[:80]!r} cannot be an id, because it cannot be a file name.", where=old, todo=todo)
    if text.store.path_of(new) is not None:
        raise MemoryError_(f"There is already a memory {new[:80]!r}.", where=old, todo="Choose another id.")
    renamed = path.with_name(f"{new}.md")
    # The file is renamed first: an editor that saves by itself would write an edited text under the old name again.
    edits = [_follow_rename(edit, path, renamed) for edit in edit_id(sidecar, text.repo, path, old, new)]
    if not sidecar.capability("workspace", "file_operations", "did_rename"):  # else `keep_quotes` does it
        text.store.quotes.copy_quotes(old, new)
    sidecar.id_rename = (path, renamed)
    return make_workspace_edit(sidecar, edits, {path: renamed})


def _follow_rename(edit: types.TextDocumentEdit, old: Path, new: Path) -> types.TextDocumentEdit:
    """Returns the edit under the file's new name, if it is of this file."""
    if edit.text_document.uri != path_to_uri(old):
        return edit
    return types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(path_to_uri(new)), edit.edits)


def edit_id(sidecar: Sidecar, repo: Repo | None, path: Path, old: str, new: str) -> list[types.TextDocumentEdit]:
    """Returns the edits that change an id in its own file and in each link to it, also in archived memories and in
    candidates (blocking)."""
    found: list[types.TextDocumentEdit] = []
    for other in _files_naming(sidecar, repo, old):
        text = read_memory_text(sidecar, repo, other)
        if text is None:
            continue
        keys = LINK_KEYS | {"id"} if other == path else LINK_KEYS

        def change(key: str, value: str, keys: frozenset[str] = keys) -> str:
            if key == "targets" and value.partition("@")[0] == old:
                return new + value[len(old) :]
            return new if key in keys and value == old else value

        found += edit_file(text, change)
    return found


def _files_naming(sidecar: Sidecar, repo: Repo | None, memory_id: str) -> Iterator[Path]:
    """Yields the files that may name a memory: live ones by the map of links; archived ones, candidates, unreadable
    files and those open in the editor by their text."""
    live = {entry.name: memory_id in (entry.id, *entry.links) for entry in list_entries(sidecar, repo)}
    documents = sidecar.server.documents
    opened = {path for uri in list(documents.text_documents) if (path := uri_to_path(uri)) is not None}
    opened_names = {path.name for path in opened}
    found = store_of(sidecar, repo).find_files(archived=True)[0]
    names_id = {  # making ten thousand paths would take longer than all the rest
        one.path: live.get(one.name)
        for one in found
        if live.get(one.name, True) or one.name.rpartition("/")[2] in opened_names
    }
    if repo is not None:
        review = candidate_counts.find_review_paths(sidecar, repo).review
        with suppress(OSError):
            candidates = sorted(path for path in review.iterdir() if path.suffix == ".md" and path.name[0] != ".")
            names_id |= dict.fromkeys(candidates)
    wanted = memory_id.encode("utf-8", "replace")
    for path, by_map in names_id.items():
        if path in opened and (document := documents.find_open_document(path_to_uri(path))) and not document.oversize:
            names_it = memory_id in document.source
        elif by_map is not None:
            names_it = by_map
        else:
            names_it = False
            with suppress(OSError):
                names_it = wanted in path.read_bytes()
        if names_it:
            yield path
