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
from lerim.sessions.model import Database, StoreContents, Transcript
from lerim.sessions.readers.cursor import agents, chats, cli, listing
from lerim.sessions.readers.cursor.folders import folder_of_project, folders_by_digest
from lerim.sessions.readers.engine import WholeReading, is_folder, list_folder, stat_transcript
from lerim.sessions.readers.live import find_databases

_STORE = "store.db"
_STATE = "state.vscdb"
_DEEP = 3


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """What lies in a folder of the editor (`Cursor`, or its `User`) or in `~/.cursor`, by stat alone.

    Nothing where there is no such folder.

    `folders` are working folders known on this machine, by which those named by a digest or a slug are recognised.
    """
    found = StoreContents()
    for user in (root, root / "User"):
        places = [user / "globalStorage" / _STATE]
        places += [one / _STATE for one in _folders(user / "workspaceStorage", found.problems)]
        found.databases.extend(find_databases("cursor", places, found.problems))
    _chats(root / "chats", folders, found)
    for project in _folders(root / "projects", found.problems):
        _add(project / "agent-transcripts", "", folder_of_project(project, folders), _DEEP, found)
    return found


def list_database(database: Database, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """The chats in a database, each with its stamp. Raises TranscriptError if it cannot be opened."""
    if database.path.name == _STORE:
        return cli.list_cli_chat(database, folders)
    return listing.list_editor_chats(database)


def probe_folder(transcript: Transcript) -> str:
    """The working folder a session begins in; '' where neither its place nor its first records tell."""
    if transcript.cwd:
        return transcript.cwd
    try:
        if transcript.within and transcript.path.name != _STORE:
            return chats.find_chat_folder(transcript)
        load = cli.load_cli_chat if transcript.within else agents.load_agent_transcript
        return next(iter(load(transcript, brief=True).session.cwds), "")
    except LerimError:
        return ""


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """A reading of one session; see WholeReading. `brief` leaves out what the catalog does not keep."""
    if transcript.path.name == _STORE:
        load = cli.load_cli_chat
    elif transcript.within:
        load = chats.load_editor_chat
    else:
        load = agents.load_agent_transcript
    return WholeReading(transcript, partial(load, brief=brief), resume)


def _folders(folder: Path, problems: list[Problem]) -> list[Path]:
    """The folders in a folder, in order; one that cannot be listed is a Problem."""
    return [Path(entry.path) for entry in list_folder(folder, problems) if is_folder(entry)]


def _chats(root: Path, folders: Sequence[str], found: StoreContents) -> None:
    """Chats of the command line. Once the folder a digest stands for is known, they are looked at again."""
    known = folders_by_digest(folders)
    for place in _folders(root, found.problems):
        mark = zlib.crc32(known.get(place.name, "").encode("utf-8", "replace"))
        stores = [one / _STORE for one in _folders(place, found.problems)]
        for one in find_databases("cursor", stores, found.problems):
            size, written, wal, wal_written = one.stamp
            found.databases.append(Database("cursor", one.path, (size, written, wal, wal_written + mark)))


def _add(folder: Path, parent: str, cwd: str, deep: int, found: StoreContents) -> None:
    """The transcripts in a folder and in those below it; what lies in `<id>/subagents` works for the session `<id>`."""
    for entry in list_folder(folder, found.problems):
        if entry.name.endswith(".jsonl"):
            native = entry.name.removesuffix(".jsonl")
            found.transcripts.extend(stat_transcript("cursor", entry, native, found.problems, parent=parent, cwd=cwd))
        elif deep and entry.is_dir(follow_symlinks=False):
            above = folder.name if entry.name == "subagents" else parent
            _add(Path(entry.path), above, cwd, deep - 1, found)
