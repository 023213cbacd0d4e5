"""Finds and reads OpenCode's sessions: in its database, in the files of its earlier versions, and in exported files."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import stat
import zlib
from collections.abc import Sequence
from functools import partial
from heapq import nlargest
from pathlib import Path

from lerim.errors import Problem, reason_of
from lerim.sessions.model import Database, StoreContents, Transcript
from lerim.sessions.readers.engine import LoadedSession, WholeReading, list_folder
from lerim.sessions.readers.live import column_number, column_text, is_table_missing, live, read_rows, table_columns
from lerim.sessions.readers.opencode import forms
from lerim.sessions.readers.opencode.exports import find_exports
from lerim.sessions.readers.opencode.forks import find_originals
from lerim.sessions.readers.opencode.forms import select_columns
from lerim.sessions.readers.opencode.turns import fold_session

__all__ = ["list_database", "open_session", "probe_folder", "scan_root"]

MESSAGE_BYTES = 16 * 1024
"""The approximate size of a message with its parts in the database, used to estimate the size of a session without
reading more."""

_DATABASE = re.compile(r"opencode(?:-[A-Za-z0-9._-]{1,100})?\.db")
_LAST = 2
"""Number of messages that may still be written: the newest answer, and a prompt waiting behind it."""


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """Finds the databases, the sessions in old files and the exported sessions under OpenCode's data folder or a folder
    of exports; if `root` is a file, finds that one database.

    A session in both a database and a file is found in both, under one id. Of several files, old files take precedence
    over exports, and newer exports over older ones. `folders` is not used: sessions name their own.
    """
    found = StoreContents()
    if root.exists() and not root.is_dir():
        found.databases.extend(live.find_databases("opencode", [root], found.problems))
        return found
    inside = list_folder(root, found.problems)
    named = [Path(entry.path) for entry in inside if _DATABASE.fullmatch(entry.name)]
    found.databases.extend(live.find_databases("opencode", named, found.problems))
    storage = root / "storage"
    for project in list_folder(storage / "session", found.problems):
        for entry in list_folder(Path(project.path), found.problems):
            if entry.name.endswith(".json"):
                _add(storage, Path(entry.path), found)
    there = {one.session_id for one in found.transcripts}
    for one in find_exports(root, inside, found.problems):
        (found.copies if one.session_id in there else found.transcripts).append(one)
        there.add(one.session_id)
    return found


def _add(storage: Path, path: Path, found: StoreContents) -> None:
    """Adds a session in old files. Its own file is seldom written, so its newest messages show whether it grew."""
    try:
        known = path.stat()
        if not stat.S_ISREG(known.st_mode):
            raise OSError(errno.EINVAL, "it is not a file")
        messages = [one for one in list_folder(storage / "message" / path.stem, found.problems) if one.is_file()]
        stamps = [(known.st_size, known.st_mtime_ns)]
        for message in messages[-_LAST:]:
            stamps.append(_stamp(message))
            stamps += [_stamp(part) for part in list_folder(storage / "part" / Path(message.path).stem, found.problems)]
    except OSError as error:
        what = f"This session cannot be read: {reason_of(error)}"
        found.problems.append(Problem("unreadable", str(path), what))
        return
    found.transcripts.append(
        Transcript(
            platform="opencode",
            path=path,
            session_id=path.stem,
            size=known.st_size + MESSAGE_BYTES * len(messages),
            mtime_ns=max(when for _, when in stamps),
            inode=_digest(stamps),
        )
    )


def _stamp(entry: os.DirEntry[str]) -> tuple[int, int]:
    try:
        known = entry.stat()
    except FileNotFoundError:  # deleted in the meantime
        return (0, 0)
    return (known.st_size, known.st_mtime_ns)


def _digest(what: object) -> int:
    return zlib.crc32(repr(what).encode())


def list_database(database: Database, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """Lists the sessions in a database. The stamp of each combines its own time with the times and numbers of its
    messages and of the newest messages' parts, because the session's own time does not change while an answer is being
    written. Raises TranscriptError if the database cannot be read."""
    problems: list[Problem] = []
    found = live.read_database(database.path, lambda db: _sessions(db, database.path), problems)
    transcripts, lost = found
    if lost:
        what = f"{lost} rows of this database are damaged; sessions may be incomplete"
        problems.append(Problem("bad-record", str(database.path), what))
    return live.keep_newest_sessions(database, transcripts, lambda one: (one.mtime_ns, one.size), problems), problems


def _sessions(db: sqlite3.Connection, path: Path) -> tuple[list[Transcript], int]:
    lost: list[int] = []
    there = table_columns(db, "session")
    if "id" not in there and not is_table_missing(db, "session"):
        return [], 0
    needed = {"session": {"id"}, **forms.REQUIRED_COLUMNS}
    if not all(names <= table_columns(db, table) for table, names in needed.items()):
        raise live.missing_tables_error(path)
    news = _news(db, lost)
    wanted = ("parent_id", "directory", "time_updated", "revert")
    found: list[Transcript] = []
    for native_id, parent, directory, updated, revert in read_rows(
        db, "session", f"id, {select_columns(there, wanted)}", "true", (), lost
    ):
        session = column_text(native_id)
        if not session:
            continue
        messages, when, parts = news.get(session, (0, 0, ()))
        newest = max(column_number(updated), when, *(part[1] for part in parts), 0)
        found.append(
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
    return found, len(lost)


_News = dict[str, tuple[int, int, tuple[tuple[int, int], ...]]]
"""For each session: the number of messages, when the last of them changed, and the number and time of the newest
messages' parts."""


def _news(db: sqlite3.Connection, lost: list[int]) -> _News:
    there = table_columns(db, "message")
    if not {"id", "session_id"} <= there:
        return {}
    wanted = f"id, session_id, {select_columns(there, ('time_created', 'time_updated'))}"
    seen: dict[str, tuple[int, int, list[tuple[int, str]]]] = {}
    for native_id, session, created, updated in read_rows(db, "message", wanted, "true", (), lost):
        count, when, newest = seen.get(column_text(session), (0, 0, []))
        this = (column_number(created), column_text(native_id))
        if len(newest) < _LAST or this > newest[-1]:
            newest = nlargest(_LAST, [*newest, this])
        seen[column_text(session)] = (count + 1, max(when, column_number(updated)), newest)
    by_message = _indexed(db)
    return {
        session: (count, when, tuple(_parts(db, one) for _, one in newest) if by_message else ())
        for session, (count, when, newest) in seen.items()
    }


def _indexed(db: sqlite3.Connection) -> bool:
    """Returns whether the parts of a message can be found without reading all parts, as in every version of
    OpenCode."""
    if not {"message_id", "time_updated"} <= table_columns(db, "part"):
        return False
    plan = db.execute("EXPLAIN QUERY PLAN SELECT 1 FROM part WHERE message_id = ''").fetchall()
    return any("INDEX" in column_text(step[3]) for step in plan)


def _parts(db: sqlite3.Connection, message: str) -> tuple[int, int]:
    try:
        told = db.execute("SELECT count(*), max(time_updated) FROM part WHERE message_id = ?", (message,)).fetchone()
    except sqlite3.DatabaseError:  # a damaged page, reported when the session is read
        return (0, 0)
    return (column_number(told[0]), column_number(told[1]))


def probe_folder(transcript: Transcript) -> str:
    """Returns the working folder of a session; '' if it is unknown."""
    if transcript.cwd or transcript.store_key:
        return transcript.cwd
    return forms.find_stored_folder(transcript.path)


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """Returns a reading of one session. Iterating it raises TranscriptError if the session cannot be read."""
    return WholeReading(transcript, partial(_load, brief=brief), resume)


def _load(transcript: Transcript, *, brief: bool) -> LoadedSession:
    kept = forms.load_stored_session(transcript, brief=brief)
    kept.origins = find_originals(transcript, kept)
    return fold_session(transcript, kept)
