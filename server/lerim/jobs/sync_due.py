"""Whether a sync would find something: one stat pass over the agents' stores, compared with the catalog."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lerim.files import is_readable
from lerim.paths import Home
from lerim.project import FolderOwners, list_projects
from lerim.sessions import (
    Catalog,
    Database,
    DiscoveredStores,
    Platform,
    Transcript,
    compare_stamps,
    discover_stores,
    find_platform_roots,
    find_settling_time,
    open_databases,
)

log = logging.getLogger("lerim.sync")


@dataclass(frozen=True, slots=True)
class StoreFolder:
    """A folder in which agents write sessions, and the pattern of their files, for a file watcher."""

    path: Path
    pattern: str


@dataclass(frozen=True, slots=True)
class StoreSnapshot:
    """The result of one stat pass over the agents' stores: a `digest` over the stamps of all transcripts and databases,
    the paths that were written to recently (`unsettled`), in how many seconds the first of them settles, and
    the `folders` they are in."""

    digest: bytes
    unsettled: frozenset[str]
    settles_in: float | None = None
    folders: frozenset[StoreFolder] = frozenset()


def snapshot_stores(transcripts: Iterable[Transcript], databases: Iterable[Database], now_ns: int) -> StoreSnapshot:
    """Makes a snapshot of the agents' stores by stat alone; `now_ns` is the time in nanoseconds."""
    digest = hashlib.blake2b(digest_size=16)
    unsettled: dict[str, float] = {}
    seen = [(str(one.path), repr(one.stamp), one.mtime_ns) for one in transcripts]
    seen += [(str(one.path), repr(one.stamp), max(one.stamp[1], one.stamp[3])) for one in databases]
    for path, stamp, written in sorted(seen):
        digest.update(f"{path}\0{stamp}\n".encode("utf-8", "surrogatepass"))
        settles_at = find_settling_time(written / 1e9, now_ns / 1e9)
        if settles_at is not None:
            unsettled[path] = settles_at - now_ns / 1e9
    return StoreSnapshot(digest.digest(), frozenset(unsettled), min(unsettled.values(), default=None))


def is_sync_due(current: StoreSnapshot, previous: StoreSnapshot | None, is_catalog_behind: Callable[[], bool]) -> bool:
    """Returns whether a sync would find something.

    Either a session whose last exchange was held back has settled, or something changed since the last complete sync
    (`previous`) and the catalog is behind, which is only checked then.
    """
    if previous is not None and previous.unsettled - current.unsettled:
        return True
    if previous is not None and previous.digest == current.digest:
        return False
    return is_catalog_behind()


def check_stores(
    home: Home, environ: Mapping[str, str], projects: Sequence[str], previous: StoreSnapshot | None
) -> tuple[StoreSnapshot, bool]:
    """Returns the state of the agents' stores and whether a sync of these projects (their keys) would find something.

    `previous` is the state at the last complete sync. Raises CatalogError and SettingsError.
    """

    owners = FolderOwners(list_projects(home)[0], home=home)
    with Catalog.open(home) as catalog:  # the same folders as a sync: some sessions' stamps depend on them
        folders = [*owners.folders, *catalog.list_folders()]
    roots = find_platform_roots(environ, home)
    stores = discover_stores(roots, folders)
    for problem in stores.problems:
        log.info("%s: %s", problem.code, problem.path)
    snapshot = snapshot_stores(stores.transcripts, stores.databases, time.time_ns())
    snapshot = replace(snapshot, folders=list_store_folders(stores, roots))
    return snapshot, is_sync_due(
        snapshot, previous, lambda: _is_catalog_behind(home, projects, stores, owners, folders)
    )


def list_store_folders(stores: DiscoveredStores, roots: Mapping[Platform, Sequence[Path]]) -> frozenset[StoreFolder]:
    """Returns where sessions are written: of each store, the folder directly below its root that contains sessions, and
    for a store without any its root itself, in which such a folder may appear. A database is watched with the files
    beside it."""
    parents: dict[Platform, set[Path]] = {}
    for one in stores.transcripts:
        if not one.store_key:
            parents.setdefault(one.platform, set()).add(one.path.parent)
    folders = {StoreFolder(one.path.parent, f"{one.path.name}*") for one in stores.databases}
    for platform, places in roots.items():
        for root in places:
            below = [path for path in parents.get(platform, ()) if root in path.parents]
            folders |= {StoreFolder(root / path.relative_to(root).parts[0], "**/*") for path in below}
            if not below and root.is_dir():
                folders.add(StoreFolder(root, "*"))
    return frozenset(folders)


def find_next_settling(home: Home, projects: Sequence[str]) -> float | None:
    """Returns when the first session of these projects (their keys) settles whose last exchange was not over at its
    last sync, in epoch seconds; None if there is none. Raises CatalogError."""
    with Catalog.open(home) as catalog:
        times = (catalog.find_settling_jobs(project)[1] for project in projects)
        return min((at for at in times if at is not None), default=None)


def _is_catalog_behind(
    home: Home, projects: Sequence[str], stores: DiscoveredStores, owners: FolderOwners, folders: Sequence[str]
) -> bool:
    """Returns whether a transcript changed since the catalog read it, or an interrupted sync left work to do.

    Some agents write to their database all the time. A changed database is listed here and its stamp stored if it has
    nothing new, since starting a job costs more. Only sessions of these projects count in a database.
    """

    with Catalog.open(home) as catalog:
        open_databases(stores, catalog.load_store_stamps(), folders, catalog.load_damaged_stores())
        catalog.keep_damaged_stores(stores.damaged_stores)
        found = compare_stamps(stores, catalog.load_stamps())
        stale = (*found.new, *found.changed)
        project_places = frozenset[str]().union(*(catalog.find_project_places(project) for project in projects))
        closed = catalog.find_unopened_places() if stale else frozenset()
        for entry in stale:
            if entry.place in closed and (entry.store_key or not is_readable(entry.path)):
                continue
            if (
                not entry.store_key
                or not entry.cwd
                or entry.place in project_places
                or owners.find_owner(entry.cwd) in projects
            ):
                return True
        unread = {entry.path for entry in stale}
        catalog.mark_vanished(found.vanished)
        catalog.keep_store_stamps(entry for entry in stores.opened_databases if entry.path not in unread)
        return any(_has_due_jobs(catalog, project) for project in projects)


def has_due_jobs(home: Home, project: str) -> bool:
    """Returns whether sessions of a project (its key) wait to be read, or an interrupted sync left some. Raises
    CatalogError."""
    with Catalog.open(home) as catalog:
        return _has_due_jobs(catalog, project)


def _has_due_jobs(catalog: Catalog, project: str) -> bool:
    return bool(catalog.count_due_jobs(project) or catalog.count_jobs_by_state(project).get("running"))
