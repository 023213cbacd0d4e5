"""Folders that are a repository's for one sync alone (`lerim sync --alias`): at its end they belong to whom they
belonged before. Where a kill came first, the next sync gives them back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from lerim import project as projects
from lerim import registry
from lerim.errors import BusyError, MemoryError_
from lerim.lock import project_lock
from lerim.memory import files
from lerim.paths import Home
from lerim.project import Owners, Project
from lerim.sessions.catalog import Catalog

MAX_BYTES = 4_000_000


class _Lent(msgspec.Struct, frozen=True):
    """The aliases of one sync alone, and the folders that were the project's before it."""

    aliases: list[str]
    had: list[str]


@contextmanager
def lent(project: Project, home: Home) -> Iterator[None]:
    """A sync of a project with aliases of its own: what they brought is given back at the end.

    Raises CatalogError; ProjectError, MemoryError_ where it cannot be kept what is to be given back.
    """
    note = home.project(project.key) / "lent.json"
    with suppress(BusyError):  # who is at it gives back what is theirs
        _give_back(project, home, note)
    once = [] if project.is_personal else sorted({*project.aliases} - {*_kept(project, home)})
    if not once:
        yield
        return
    with project_lock(home, project.key), Catalog.open(home) as catalog:
        lent = _Lent(once, sorted(catalog.folders(project.key)))
        files.replace(note, msgspec.json.encode(lent).decode(), 0o600)
    try:
        yield
    finally:
        with suppress(BusyError):  # then the next sync does
            _give_back(project, home, note)


def _give_back(project: Project, home: Home, note: Path) -> None:
    if files.is_absent(note):
        return
    try:
        lent = msgspec.json.decode(files.read_text(note, MAX_BYTES), type=_Lent)
    except (msgspec.MsgspecError, MemoryError_):
        files.remove(note)  # nobody can tell from it what was lent
        return
    kept = replace(project, aliases=_kept(project, home))
    others = [one for one in projects.listed(home)[0] if one.key != project.key]
    owners = Owners([kept, *others], home=home)
    with project_lock(home, project.key, "giving folders back"), Catalog.open(home) as catalog:
        came = {
            folder: owners.owner(folder)
            for folder in catalog.folders(project.key)
            if folder not in lent.had and any(projects.is_below(folder, old) for old in lent.aliases)
        }
        catalog.give_back(project.key, {folder: owner for folder, owner in came.items() if owner != project.key})
        files.remove(note)


def _kept(project: Project, home: Home) -> tuple[str, ...]:
    entry = registry.read(home, project.key)
    return entry.aliases if entry else ()
