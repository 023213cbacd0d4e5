"""Old paths of a repository, its aliases: for good, or for a single sync.

The user gives the old path as an alias. If no repository exists there any more, the moved repository takes over the key
of the old project. The private folder and the catalog rows belong to the key and therefore stay where they are; only
the registry file that says which repository the key belongs to is replaced.

For a single sync (`lerim sync --alias`), the alias's folders are lent to the repository. When the sync ends, they are
returned to their previous projects; after a kill, the next sync returns them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from lerim import files, process
from lerim.errors import BusyError, MemoryError_, ProjectError
from lerim.paths import Home
from lerim.project import FolderOwners, Project, hold_project_lock, registry
from lerim.project import project as projects
from lerim.review import ReviewPaths, open_ledger
from lerim.sessions import Catalog

_MAX_FILE_BYTES = 4_000_000


def with_alias(project: Project, old: str, home: Home) -> Project:
    """Returns the project with the alias `old`, and with the key of the project registered there if its repository no
    longer exists.

    Writes nothing. Raises ProjectError if `old` cannot be an alias or if both projects have reviewed candidates.
    """
    with_own_key = projects.add_alias(project, old)
    former = projects.find_gone_project(old, home)
    if former is None or former.key == project.key:
        return with_own_key
    if _has_decisions(project, home):
        forget = process.format_command_line("lerim", "project", "remove", "--repo", former.root)
        raise ProjectError(
            "Candidates were reviewed here and in the repository that was there before; only one review can continue.",
            where=old,
            todo=f"To continue with this one, run `{forget}`. To continue with the other, move"
            f" {home.project(project.key)} away; rejections and undo made here are then forgotten. Then try again.",
        )
    aliases = dict.fromkeys((*former.aliases, *project.aliases, former.root, old))
    return replace(with_own_key, key=former.key, aliases=tuple(aliases))


def register_aliases(project: Project, home: Home) -> Project:
    """Registers the project with its aliases. If it took over the key of a moved project, removes its own former entry
    and the candidates that wait under that.

    Returns the registered project. Raises ProjectError, BusyError, MemoryError_.
    """
    own = projects.without_aliases(project)
    if own.key == project.key:
        return projects.add_project(project, home)
    with (
        hold_project_lock(home, own.key, "taking a moved project over"),
        hold_project_lock(home, project.key, "moving"),
    ):
        registered = projects.add_project(project, home)
        registry.remove_entry(home, own.key)  # the entry just added replaces it
        _remove_pending(ReviewPaths(own, home), ReviewPaths(registered, home))
    return registered


def _has_decisions(project: Project, home: Home) -> bool:
    private = home.project(project.key)
    if files.is_absent(private / "review.sqlite3"):
        return False
    with open_ledger(private) as ledger:
        return ledger.has_actions()


def _remove_pending(abandoned: ReviewPaths, current: ReviewPaths) -> None:
    """Removes the candidates that wait under the abandoned key; the next sync proposes them again."""
    if files.is_absent(abandoned.private / "review.sqlite3"):
        return
    with (
        abandoned.lock(),
        open_ledger(abandoned.private) as abandoned_ledger,
        current.lock(),
        open_ledger(current.private) as current_ledger,
    ):
        current_states = current_ledger.states()
        for name, state in abandoned_ledger.states().items():
            if state == "pending" and name not in current_states:
                files.remove_file(current.candidate_path(name))


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
