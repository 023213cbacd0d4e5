"""Keeps references right when the editor renames or moves files or folders, and links when it renames a memory's."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from lerim.lsp.boundary import uri_to_path
from lerim.lsp.features.language.edits import edit_file, make_workspace_edit
from lerim.lsp.features.language.memory_texts import is_memory_uri, read_memory_text, store_of
from lerim.lsp.features.language.renames import edit_id
from lerim.lsp.window import Repo, Sidecar
from lerim.memory import parse_reference, slug

LINE_NUMBERS = re.compile(r":\d+(?:[-:]\d+)*$")


@dataclass(frozen=True, slots=True)
class Move:
    """A file or folder of a repository that is about to move: its path inside before and after."""

    repo: Repo
    old: str
    new: str


async def edit_before_renames(sidecar: Sidecar, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
    """Returns the edit of memories that belongs to files about to be renamed; None if it would change nothing."""
    if not sidecar.options.settings.enabled:
        return None
    moves: list[Move] = []
    edits: list[types.TextDocumentEdit] = []
    for file in params.files:
        if is_memory_uri(sidecar, file.old_uri) and is_memory_uri(sidecar, file.new_uri):
            edits += await _edit_renamed_memory(sidecar, file)
        elif move := await _find_move(sidecar, file):
            moves.append(move)
    for repo in {id(move.repo): move.repo for move in moves}.values():
        own = [move for move in moves if move.repo is repo]
        edits += await sidecar.run_in_thread(_edit_references, sidecar, repo, own)
    return make_workspace_edit(sidecar, edits) if edits else None


async def keep_quotes(sidecar: Sidecar, params: types.RenameFilesParams) -> None:
    """Keeps the private quotes of memories whose files were renamed. They are stored by id."""
    for file in params.files:
        if is_memory_uri(sidecar, file.old_uri) and is_memory_uri(sidecar, file.new_uri):
            old, new = (Path(str(uri_to_path(uri))) for uri in (file.old_uri, file.new_uri))
            location = await sidecar.repos.locate_file(file.new_uri)
            quotes = store_of(sidecar, location.repo if location is not None else None).quotes
            if old.stem != new.stem:
                await sidecar.run_in_thread(quotes.copy_quotes, old.stem, new.stem)


async def _find_move(sidecar: Sidecar, file: types.FileRename) -> Move | None:
    """Returns the move of a file inside one repository; None if it leaves it."""
    new = uri_to_path(file.new_uri)
    location = await sidecar.repos.locate_file(file.old_uri)
    if new is None or location is None:
        return None
    sidecar.repos.forget_file(file.old_uri)
    inside = await sidecar.run_in_thread(_path_inside, location.repo, Path(new))
    return Move(location.repo, location.path, inside) if inside else None


def _path_inside(repo: Repo, path: Path) -> str:
    """Returns a path relative to the repository, with forward slashes; "" if it leads out of it (blocking)."""
    real = Path(os.path.realpath(path.parent), path.name)
    return real.relative_to(repo.project.root).as_posix() if real.is_relative_to(repo.project.root) else ""


def _edit_references(sidecar: Sidecar, repo: Repo, moves: Sequence[Move]) -> list[types.TextDocumentEdit]:
    entries = {entry.path: entry for move in moves for entry in repo.references.for_folder(move.old)}
    found: list[types.TextDocumentEdit] = []
    for path in entries:
        text = read_memory_text(sidecar, repo, path)
        if text is not None:
            found += edit_file(text, lambda key, value: move_reference(key, value, moves))
    return found


def move_reference(key: str, value: str, moves: Sequence[Move]) -> str:
    """Returns a reference as it is after these moves; any other value as it is. Symbols and line numbers stay."""
    reference = parse_reference(value) if key == "references" else None
    if reference is None:
        return value
    for move in moves:
        if reference.path == move.old or reference.path.startswith(f"{move.old}/"):
            written, sign, symbol = value.partition("#")
            lines = LINE_NUMBERS.search(written.rstrip())
            inside = reference.path[len(move.old) :]
            return f"{move.new}{inside}{lines.group() if lines else ''}{sign}{symbol}"
    return value


async def _edit_renamed_memory(sidecar: Sidecar, file: types.FileRename) -> list[types.TextDocumentEdit]:
    """Returns the edits of links to a memory whose file gets another name; none if that is a part of `rename_id`."""
    old, new = (Path(str(uri_to_path(uri))) for uri in (file.old_uri, file.new_uri))
    if old.stem == new.stem or not slug.is_id(new.stem):
        return []
    if sidecar.id_rename == (old, new):
        sidecar.id_rename = None
        return []
    location = await sidecar.repos.locate_file(file.old_uri)
    repo = location.repo if location is not None else None
    if repo is None and not old.is_relative_to(sidecar.home.memory):
        return []
    return await sidecar.run_in_thread(edit_id, sidecar, repo, old, old.stem, new.stem)
