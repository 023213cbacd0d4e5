"""Reading the sessions of Cursor: chats of the editor in its databases, of its command line, and what its agents leave.

The database of all windows holds most; what a workspace's own database holds is of 2023 and 2024. Both are read while
Cursor writes them.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lerim.errors import LerimError, Problem
from lerim.sessions import cursor_agents, cursor_chats, cursor_cli, cursor_listing
from lerim.sessions.cursor_folders import by_digest, of_project
from lerim.sessions.live import databases
from lerim.sessions.model import Database, Found, Transcript
from lerim.sessions.session_files import entries, is_folder, transcript
from lerim.sessions.whole import WholeReading

_STORE = "store.db"
_STATE = "state.vscdb"
_DEEP = 3


def find(root: Path, folders: Sequence[str]) -> Found:
    """What lies in a folder of the editor (`Cursor`, or its `User`) or in `~/.cursor`, by stat alone.

    Nothing where there is no such folder.

    `folders` are working folders known on this machine, by which those named by a digest or a slug are recognised.
    """
    found = Found()
    for user in (root, root / "User"):
        places = [user / "globalStorage" / _STATE]
        places += [one / _STATE for one in _folders(user / "workspaceStorage", found.problems)]
        found.databases.extend(databases("cursor", places, found.problems))
    _chats(root / "chats", folders, found)
    for project in _folders(root / "projects", found.problems):
        _add(project / "agent-transcripts", "", of_project(project, folders), _DEEP, found)
    return found


def listed(database: Database, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """The chats in a database, each with its stamp. Raises TranscriptError if it cannot be opened."""
    if database.path.name == _STORE:
        return cursor_cli.listed(database, folders)
    return cursor_listing.listed(database)


def probe(transcript: Transcript) -> str:
    """The working folder a session begins in; '' where neither its place nor its first records tell."""
    if transcript.cwd:
        return transcript.cwd
    try:
        if transcript.within and transcript.path.name != _STORE:
            return cursor_chats.begins_in(transcript)
        load = cursor_cli.load if transcript.within else cursor_agents.load
        return next(iter(load(transcript, brief=True).session.cwds), "")
    except LerimError:
        return ""


def read(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """A reading of one session; see WholeReading. `brief` leaves out what the catalog does not keep."""
    if transcript.path.name == _STORE:
        load = cursor_cli.load
    elif transcript.within:
        load = cursor_chats.load
    else:
        load = cursor_agents.load
    return WholeReading(transcript, partial(load, brief=brief), resume)


def _folders(folder: Path, problems: list[Problem]) -> list[Path]:
    """The folders in a folder, in order; one that cannot be listed is a Problem."""
    return [Path(entry.path) for entry in entries(folder, problems) if is_folder(entry)]


def _chats(root: Path, folders: Sequence[str], found: Found) -> None:
    """Chats of the command line. Once the folder a digest stands for is known, they are looked at again."""
    known = by_digest(folders)
    for place in _folders(root, found.problems):
        mark = zlib.crc32(known.get(place.name, "").encode("utf-8", "replace"))
        stores = [one / _STORE for one in _folders(place, found.problems)]
        for one in databases("cursor", stores, found.problems):
            size, written, wal, wal_written = one.stamp
            found.databases.append(Database("cursor", one.path, (size, written, wal, wal_written + mark)))


def _add(folder: Path, parent: str, cwd: str, deep: int, found: Found) -> None:
    """The transcripts in a folder and in those below it; what lies in `<id>/subagents` works for the session `<id>`."""
    for entry in entries(folder, found.problems):
        if entry.name.endswith(".jsonl"):
            native = entry.name.removesuffix(".jsonl")
            found.transcripts.extend(transcript("cursor", entry, native, found.problems, parent=parent, cwd=cwd))
        elif deep and entry.is_dir(follow_symlinks=False):
            above = folder.name if entry.name == "subagents" else parent
            _add(Path(entry.path), above, cwd, deep - 1, found)
