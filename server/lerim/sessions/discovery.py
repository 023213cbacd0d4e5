"""Finds the sessions of every agent on this machine by stat alone, and determines which of them changed since the
catalog last read them."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from lerim.errors import LerimError, Problem
from lerim.files import decode_path, encode_path
from lerim.sessions.model import DamagedStore, Database, Platform, Stamp, StoreStamp, Transcript
from lerim.sessions.readers import OLDER_STATE, claude_folder_name, find_sessions, list_sessions


@dataclass(frozen=True, slots=True)
class TranscriptChanges:
    """The discovered transcripts compared with the catalog: new, changed, unchanged (a count) and vanished (their
    places)."""

    new: tuple[Transcript, ...]
    changed: tuple[Transcript, ...]
    unchanged: int
    vanished: tuple[str, ...]


@dataclass(slots=True)
class DiscoveredStores:
    """The results of `discover_stores` and `open_databases` on this machine.

    `copied_places` are the places of files that are not read because another file contains the same session.
    `opened_databases` are the databases whose sessions were listed, `damaged_stores` those that turned out to be
    unreadable.
    """

    transcripts: list[Transcript] = field(default_factory=list)
    copied_places: set[str] = field(default_factory=set)
    databases: list[Database] = field(default_factory=list)
    opened_databases: list[Database] = field(default_factory=list)
    damaged_stores: list[DamagedStore] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


Roots = Mapping[Platform, Sequence[Path]]


Listings = dict[Database, tuple[list[Transcript], list[Problem]]]
"""The transcripts and problems listed from each database. A database that changed has another stamp and so is a
different key."""


def discover_stores(roots: Roots, folders: Sequence[str] = ()) -> DiscoveredStores:
    """Finds every transcript file and database of every agent by stat alone, and the problems met on the way.

    `folders` are the working folders known on this machine: some stores name a session's folder only by a digest.
    """
    stores = DiscoveredStores()
    for platform, places in roots.items():
        for root in places:
            found = find_sessions(platform, root, folders)
            stores.transcripts += found.transcripts
            stores.copied_places |= {one.place for one in found.copies}
            known_paths = {one.path for one in stores.databases}  # OPENCODE_DB may also name one in the data folder
            stores.databases += [one for one in found.databases if one.path not in known_paths]
            stores.problems += found.problems
    return stores


def open_databases(
    stores: DiscoveredStores,
    indexed_stamps: Mapping[Path, StoreStamp],
    folders: Sequence[str] = (),
    damaged: Mapping[Path, DamagedStore] = MappingProxyType({}),
    listings: Listings | None = None,
) -> None:
    """Adds the sessions of the databases that changed since the catalog last indexed all of them.

    A database that cannot be read becomes a problem. If it is damaged, it is not opened again until it changes
    (`damaged` are the databases found damaged earlier); if a lock or the system prevented reading, it is tried in
    every cycle. `listings` caches the listed sessions, so that a second call lists only the databases that changed
    since.
    """
    listings = {} if listings is None else listings
    for database in stores.databases:
        if indexed_stamps.get(database.path) == database.stamp:
            continue
        earlier = damaged.get(database.path)
        if earlier is not None and earlier.database.stamp == database.stamp:
            stores.problems.append(earlier.problem)
            continue
        try:
            if database not in listings:
                listings[database] = list_sessions(database, folders)
        except LerimError as error:
            problem = error.problem(str(database.path))
            stores.problems.append(problem)
            if not isinstance(error.__cause__, OSError):
                stores.damaged_stores.append(DamagedStore(database, problem))
            continue
        transcripts, problems = listings[database]
        stores.problems += problems
        if any(problem.code == OLDER_STATE for problem in problems):
            # Only an older state could be read: sessions missing from it are not gone, and what was indexed before is
            # newer.
            stores.transcripts += transcripts if database.path not in indexed_stamps else []
            continue
        stores.opened_databases.append(database)
        stores.transcripts += transcripts


def compare_stamps(stores: DiscoveredStores, stamps: Mapping[str, Stamp]) -> TranscriptChanges:
    """Compares the discovered transcripts with `Catalog.load_stamps`.

    A known transcript that was not found counts as gone only if it no longer exists: a folder that could not be listed
    only hides its files, and the sessions of a database that was not opened are unchanged. If a session is both in a
    database and in a file, the database is used: agents that switched to a database left their old files behind.
    """
    new: list[Transcript] = []
    changed: list[Transcript] = []
    unchanged = 0
    missing = dict.fromkeys(stamps)
    transcripts, duplicates = deduplicate_transcripts(stores, stamps)
    for transcript in transcripts:
        place = transcript.place
        known_stamp = stamps.get(place)
        if known_stamp is None:
            new.append(transcript)
            continue
        missing.pop(place, None)
        if known_stamp == transcript.stamp:
            unchanged += 1
        else:
            changed.append(transcript)
    opened = {encode_path(database.path) for database in stores.opened_databases}
    unopened = {encode_path(database.path) for database in stores.databases} - opened
    duplicates |= stores.copied_places
    vanished = [place for place in missing if place in duplicates or _is_gone(place, opened, unopened)]
    return TranscriptChanges(tuple(new), tuple(changed), unchanged, tuple(vanished))


def deduplicate_transcripts(stores: DiscoveredStores, stamps: Mapping[str, Stamp]) -> tuple[list[Transcript], set[str]]:
    """Returns the discovered transcripts, each session only once, and the places of files whose session is also in a
    database."""
    known = _find_database_sessions(stores, stamps)

    def is_duplicate(one: Transcript) -> bool:
        return not one.store_key and (one.platform, one.session_id) in known

    places = {one.place for one in stores.transcripts if is_duplicate(one)}
    return [one for one in stores.transcripts if not is_duplicate(one)], places


def _find_database_sessions(stores: DiscoveredStores, stamps: Mapping[str, Stamp]) -> set[tuple[Platform, str]]:
    """Returns the sessions that are in any database, including databases that were not opened this time."""
    sessions = {(one.platform, one.session_id) for one in stores.transcripts if one.store_key}
    platforms = {encode_path(database.path): database.platform for database in stores.databases}
    for place in stamps if platforms else ():
        path, _, within = place.rpartition("#")
        if platform := platforms.get(path):
            sessions.add((platform, within))
    return sessions


def _is_gone(place: str, opened: Collection[str], unopened: Collection[str]) -> bool:
    path, mark, _ = place.rpartition("#")
    if mark and (path in opened or path in unopened):
        return path in opened  # its database was listed, without this session
    try:
        if mark and stat.S_ISREG(decode_path(path).stat().st_mode):
            return False
    except (FileNotFoundError, NotADirectoryError):
        pass  # a plain file with a `#` in its name, or a database that is gone
    except OSError:
        return False
    try:
        os.lstat(decode_path(place))
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def split_likely_transcripts(
    transcripts: Iterable[Transcript], project_places: Iterable[str], folders: Iterable[str]
) -> tuple[list[Transcript], list[Transcript]]:
    """Splits transcripts into those that probably belong to a project and the rest, both newest first, without opening
    any.

    `project_places` are known to contain turns of the project (`Catalog.find_project_places`), `folders` its worktrees
    and aliases. Claude Code names a session's folder after the working folder it was started in; other stores record
    that folder.
    """
    known_places = frozenset(project_places)
    folder_names = tuple(str(folder) for folder in folders)
    slugs = tuple(claude_folder_name(folder) for folder in folder_names)

    likely: list[Transcript] = []
    others: list[Transcript] = []
    for one in sorted(transcripts, key=lambda one: one.mtime_ns, reverse=True):
        is_in_folder = (
            one.cwd.startswith(folder_names) if one.cwd else any(p.name.startswith(slugs) for p in one.path.parents[:4])
        )
        (likely if is_in_folder or one.place in known_places else others).append(one)
    return likely, others
