"""Assigns folders to a repository for a single sync (`lerim sync --alias`). When the sync ends, they are returned to
their previous projects; after a kill, the next sync returns them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from lerim import files
from lerim.errors import BusyError, MemoryError_
from lerim.paths import Home
from lerim.project import FolderOwners, Project, hold_project_lock, registry
from lerim.project import project as projects
from lerim.sessions import Catalog

_MAX_FILE_BYTES = 4_000_000


class _LentAliases(msgspec.Struct, frozen=True):
    """`lent.json`: the aliases of a single sync, and the folders that were the project's before it."""

    aliases: list[str]
    previous_folders: list[str] = msgspec.field(name="had")


@contextmanager
def temporary_aliases(project: Project, home: Home) -> Iterator[None]:
    """Within the block the project may have unregistered aliases; at its end, the folders they added are returned.

    Raises CatalogError; ProjectError or MemoryError_ if `lent.json` cannot be written.
    """
    path = home.project(project.key) / "lent.json"
    with suppress(BusyError):  # the running sync returns its folders itself
        _return_folders(project, home, path)
    aliases = [] if project.is_personal else sorted({*project.aliases} - {*_registered(project, home)})
    if not aliases:
        yield
        return
    with hold_project_lock(home, project.key), Catalog.open(home) as catalog:
        lent = _LentAliases(aliases, sorted(catalog.list_folders(project.key)))
        files.replace_file(path, msgspec.json.encode(lent).decode(), 0o600)
    try:
        yield
    finally:
        with suppress(BusyError):  # then the next sync does it
            _return_folders(project, home, path)


def _return_folders(project: Project, home: Home, path: Path) -> None:
    if files.is_absent(path):
        return
    try:
        lent = msgspec.json.decode(files.read_text(path, _MAX_FILE_BYTES), type=_LentAliases)
    except (msgspec.MsgspecError, MemoryError_):
        files.remove_file(path)  # unreadable: what was lent is unknown
        return
    registered = replace(project, aliases=_registered(project, home))
    others = [one for one in projects.list_projects(home)[0] if one.key != project.key]
    owners = FolderOwners([registered, *others], home=home)
    with hold_project_lock(home, project.key, "giving folders back"), Catalog.open(home) as catalog:
        borrowed = {
            folder: owners.find_owner(folder)
            for folder in catalog.list_folders(project.key)
            if folder not in lent.previous_folders
            and any(projects.is_inside_folder(folder, old) for old in lent.aliases)
        }
        catalog.return_folders(
            project.key, {folder: owner for folder, owner in borrowed.items() if owner != project.key}
        )
        files.remove_file(path)


def _registered(project: Project, home: Home) -> tuple[str, ...]:
    entry = registry.read_entry(home, project.key)
    return entry.aliases if entry else ()
