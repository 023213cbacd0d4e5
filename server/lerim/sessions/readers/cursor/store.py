"""Finds and reads Cursor's sessions: the editor's chats in its databases, the command line's chats, and the transcripts
its agents leave.

Most chats are in the global database; the databases of workspaces contain chats of 2023 and 2024. Both are read while
Cursor may be writing them.
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
    """Finds the sessions in a folder of the editor (`Cursor`, or its `User`) or in `~/.cursor`, by stat alone.

    Returns empty contents if there is no such folder. `folders` are working folders known on this machine, used to
    recognize folders that are named by a digest or a slug.
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
    """Lists the chats in a database, each with its stamp. Raises TranscriptError if it cannot be opened."""
    if database.path.name == _STORE:
        return cli.list_cli_chat(database, folders)
    return listing.list_editor_chats(database)


def probe_folder(transcript: Transcript) -> str:
    """Returns the working folder a session begins in; '' if neither its location nor its first records name one."""
    if transcript.cwd:
        return transcript.cwd
    try:
        if transcript.store_key and transcript.path.name != _STORE:
            return chats.find_chat_folder(transcript)
        load = cli.load_cli_chat if transcript.store_key else agents.load_agent_transcript
        return next(iter(load(transcript, brief=True).session.cwds), "")
    except LerimError:
        return ""


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """Returns a reading of one session; see WholeReading. `brief` leaves out what the catalog does not keep."""
    if transcript.path.name == _STORE:
        load = cli.load_cli_chat
    elif transcript.store_key:
        load = chats.load_editor_chat
    else:
        load = agents.load_agent_transcript
    return WholeReading(transcript, partial(load, brief=brief), resume)


def _folders(folder: Path, problems: list[Problem]) -> list[Path]:
    """Returns the folders in a folder, sorted by name; adds a problem if it cannot be listed."""
    return [Path(entry.path) for entry in list_folder(folder, problems) if is_folder(entry)]


def _chats(root: Path, folders: Sequence[str], found: StoreContents) -> None:
    """Adds the chats of the command line. Their stamps change once the folder behind a digest is known, so that they
    are read again."""
    known = folders_by_digest(folders)
    for place in _folders(root, found.problems):
        mark = zlib.crc32(known.get(place.name, "").encode("utf-8", "replace"))
        stores = [one / _STORE for one in _folders(place, found.problems)]
        for one in find_databases("cursor", stores, found.problems):
            size, written, wal, wal_written = one.stamp
            found.databases.append(Database("cursor", one.path, (size, written, wal, wal_written + mark)))


def _add(folder: Path, parent: str, cwd: str, deep: int, found: StoreContents) -> None:
    """Adds the transcripts in a folder and its subfolders; those in `<id>/subagents` belong to subagents of the session
    `<id>`."""
    for entry in list_folder(folder, found.problems):
        if entry.name.endswith(".jsonl"):
            native_id = entry.name.removesuffix(".jsonl")
            found.transcripts.extend(
                stat_transcript("cursor", entry, native_id, found.problems, parent=parent, cwd=cwd)
            )
        elif deep and entry.is_dir(follow_symlinks=False):
            above = folder.name if entry.name == "subagents" else parent
            _add(Path(entry.path), above, cwd, deep - 1, found)
