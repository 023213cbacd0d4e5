"""Finds and reads OpenCode's sessions: in its database, in the files of its earlier versions, and in exported files."""

from __future__ import annotations

import os
import re
import sqlite3
import zlib
from collections.abc import Sequence
from functools import partial
from heapq import nlargest
from pathlib import Path

from lerim.errors import Problem
from lerim.sessions.model import Database, StoreContents, Transcript
from lerim.sessions.readers.engine import LoadedSession, WholeReading, list_folder, stat_regular_file
from lerim.sessions.readers.live import column_number, column_text, is_table_missing, live, read_rows, table_columns
from lerim.sessions.readers.opencode import forms
from lerim.sessions.readers.opencode.exports import find_exports
from lerim.sessions.readers.opencode.forks import find_originals
from lerim.sessions.readers.opencode.forms import select_columns
from lerim.sessions.readers.opencode.turns import build_loaded_session

MESSAGE_BYTES = 16 * 1024
"""The approximate size of a message with its parts in the database, used to estimate the size of a session without
reading more."""

_DATABASE = re.compile(r"opencode(?:-[A-Za-z0-9._-]{1,100})?\.db")
_REQUIRED_COLUMNS = {
    "session": {"id"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "session_id", "data"},
}
"""The columns without which no conversation can be read, by table."""

_OPEN_MESSAGES = 2
"""Number of messages that may still be written: the newest answer, and a prompt waiting behind it."""


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """Finds the databases, the sessions in old files and the exported sessions under OpenCode's data folder or a folder
    of exports; if `root` is a file, finds that one database.

    A session in both a database and a file is found in both, under one id. Of several files, old files take precedence
    over exports, and newer exports over older ones. `folders` is not used: sessions name their own.
    """
    contents = StoreContents()
    if root.exists() and not root.is_dir():
        contents.databases.extend(live.find_databases("opencode", [root], contents.problems))
        return contents
    entries = list_folder(root, contents.problems)
    database_paths = [Path(entry.path) for entry in entries if _DATABASE.fullmatch(entry.name)]
    contents.databases.extend(live.find_databases("opencode", database_paths, contents.problems))
    storage = root / "storage"
    for project in list_folder(storage / "session", contents.problems):
        for entry in list_folder(Path(project.path), contents.problems):
            if entry.name.endswith(".json"):
                _add_file_session(storage, entry, contents)
    listed_ids = {one.session_id for one in contents.transcripts}
    for one in find_exports(root, entries, contents.problems):
        (contents.copies if one.session_id in listed_ids else contents.transcripts).append(one)
        listed_ids.add(one.session_id)
    return contents


def _add_file_session(storage: Path, entry: os.DirEntry[str], contents: StoreContents) -> None:
    """Adds a session in old files. Its own file is seldom written, so its newest messages show whether it grew."""
    if (file_stat := stat_regular_file("opencode", entry, contents.problems)) is None:
        return
    path = Path(entry.path)
    messages = list_folder(storage / "message" / path.stem, contents.problems)
    stamps = [(file_stat.st_size, file_stat.st_mtime_ns)]
    for message in messages[-_OPEN_MESSAGES:]:
        parts = list_folder(storage / "part" / Path(message.path).stem, contents.problems)
        stamps += map(_stamp, (message, *parts))
    contents.transcripts.append(
        Transcript(
            platform="opencode",
            path=path,
            session_id=path.stem,
            size=file_stat.st_size + MESSAGE_BYTES * len(messages),
            mtime_ns=max(when for _, when in stamps),
            inode=_digest(stamps),
        )
    )


def _stamp(entry: os.DirEntry[str]) -> tuple[int, int]:
    try:
        file_stat = entry.stat()
    except OSError:  # deleted in the meantime, or reported when the session is read
        return (0, 0)
    return (file_stat.st_size, file_stat.st_mtime_ns)


def _digest(value: object) -> int:
    return zlib.crc32(repr(value).encode())


def list_database(database: Database, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """Lists the sessions in a database. The stamp of each combines its own time with the times and numbers of its
    messages and of the newest messages' parts, because the session's own time does not change while an answer is being
    written. Raises TranscriptError if the database cannot be read."""
    problems: list[Problem] = []
    transcripts, lost_count = live.read_database(database.path, lambda db: _list_rows(db, database.path), problems)
    if lost_count:
        what = f"Rows of this database are damaged ({lost_count}); sessions may be incomplete"
        problems.append(Problem("bad-record", str(database.path), what))
    return live.keep_newest_sessions(database, transcripts, lambda one: (one.mtime_ns, one.size), problems), problems


def _list_rows(db: sqlite3.Connection, path: Path) -> tuple[list[Transcript], int]:
    lost: list[int] = []
    columns = table_columns(db, "session")
    if "id" not in columns and not is_table_missing(db, "session"):
        return [], 0
    if not all(names <= table_columns(db, table) for table, names in _REQUIRED_COLUMNS.items()):
        raise live.missing_tables_error(path)
    stamps = _read_message_stamps(db, lost)
    optional = ("parent_id", "directory", "time_updated", "revert")
    transcripts: list[Transcript] = []
    for native_id, parent, directory, updated, revert in read_rows(
        db, "session", f"id, {select_columns(columns, optional)}", "true", (), lost
    ):
        session = column_text(native_id)
        if not session:
            continue
        messages, when, parts = stamps.get(session, (0, 0, ()))
        newest = max(column_number(updated), when, *(part[1] for part in parts), 0)
        transcripts.append(
            Transcript(
                platform="opencode",
                path=path,
                session_id=session,
                size=max(messages, 1) * MESSAGE_BYTES,
                mtime_ns=min(newest * 1_000_000, (1 << 63) - 1),
                inode=_digest((column_number(updated), messages, when, parts, revert, column_text(parent))),
                parent=column_text(parent) if column_text(parent) != session else "",
                store_key=session,
                cwd=column_text(directory),
            )
        )
    return transcripts, len(lost)


_MessageStamps = dict[str, tuple[int, int, tuple[tuple[int, int], ...]]]
"""For each session: the number of messages, when the last of them changed, and the number and time of the newest
messages' parts."""


def _read_message_stamps(db: sqlite3.Connection, lost: list[int]) -> _MessageStamps:
    columns = table_columns(db, "message")
    if not {"id", "session_id"} <= columns:
        return {}
    selection = f"id, session_id, {select_columns(columns, ('time_created', 'time_updated'))}"
    newest_messages: dict[str, tuple[int, int, list[tuple[int, str]]]] = {}
    for native_id, session, created, updated in read_rows(db, "message", selection, "true", (), lost):
        count, changed, newest = newest_messages.get(column_text(session), (0, 0, []))
        message = (column_number(created), column_text(native_id))
        if len(newest) < _OPEN_MESSAGES or message > newest[-1]:
            newest = nlargest(_OPEN_MESSAGES, [*newest, message])
        newest_messages[column_text(session)] = (count + 1, max(changed, column_number(updated)), newest)
    return {
        session: (count, changed, tuple(_stamp_parts(db, one) for _, one in newest))
        for session, (count, changed, newest) in newest_messages.items()
    }


def _stamp_parts(db: sqlite3.Connection, message: str) -> tuple[int, int]:
    try:
        row = db.execute("SELECT count(*), max(time_updated) FROM part WHERE message_id = ?", (message,)).fetchone()
    except sqlite3.DatabaseError:  # a damaged page, reported when the session is read
        return (0, 0)
    return (column_number(row[0]), column_number(row[1]))


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """Returns a reading of one session. Iterating it raises TranscriptError if the session cannot be read."""
    return WholeReading(transcript, partial(_load, brief=brief), resume)


def _load(transcript: Transcript, *, brief: bool) -> LoadedSession:
    stored = forms.load_stored_session(transcript, brief=brief)
    stored.origins = find_originals(transcript, stored)
    return build_loaded_session(transcript, stored)
