"""Loads an OpenCode session from any of its three forms: database rows, old files or an export."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from lerim.errors import Problem, TranscriptError
from lerim.files import make_unreadable_error, open_buffered
from lerim.sessions.model import ToolCall, Transcript
from lerim.sessions.readers.engine import list_folder, parse_object, split_json_array, without_nul
from lerim.sessions.readers.live import column_number, column_text, live, read_rows, table_columns
from lerim.sessions.readers.opencode.exports import convert_to_utf8
from lerim.sessions.readers.opencode.records import (
    ExportedMessage,
    OpenCodeExport,
    OpenCodeInfo,
    OpenCodeMessage,
    OpenCodePart,
    OpenCodeProject,
    OpenCodeTimes,
    Revert,
)
from lerim.sessions.readers.opencode.tools import parse_opencode_call

FILE_LIMIT = 64 * 1024 * 1024
"""The largest file that is read, in bytes; larger ones are skipped and reported."""

REQUIRED_COLUMNS = {"message": {"id", "session_id", "data"}, "part": {"id", "message_id", "session_id", "data"}}
"""The columns without which no conversation can be read, by table."""

_TYPES = ("text", "reasoning", "tool", "file", "compaction", "subtask")


class OpenCodePiece(NamedTuple):
    """The used content of a part: its type (`synthetic` for text that OpenCode inserted), its text and its tool
    call."""

    id: str
    type: str
    text: str
    call: ToolCall | None = None


class ForkOrigin(NamedTuple):
    """The message that a fork's message was copied from; `child`: it is in the session of a subagent."""

    id: str
    child: bool


@dataclass(slots=True)
class StoredSession:
    """A session as stored. `pieces` contains those of each message, in order; `worktree` is its project's; `origins`
    maps the ids of messages copied by a fork to their originals."""

    info: OpenCodeInfo
    messages: list[OpenCodeMessage] = field(default_factory=list)
    pieces: dict[str, list[OpenCodePiece]] = field(default_factory=dict)
    worktree: str = ""
    problems: list[Problem] = field(default_factory=list)
    origins: dict[str, ForkOrigin] = field(default_factory=dict)

    def say(self, message: bytes | msgspec.Raw, native_id: str, where: str) -> None:
        """Adds a message; `native_id` is its id if the store keeps it outside the record."""
        try:
            found = parse_object(message, OpenCodeMessage)
        except ValueError:
            self.lost("message", where)
            return
        found.id = without_nul(native_id or found.id)
        if found.id:
            self.messages.append(found)

    def add(self, part: bytes | msgspec.Raw, native_id: str, message: str, where: str, *, brief: bool) -> None:
        """Adds a part of a message."""
        try:
            found = parse_object(part, OpenCodePart)
        except ValueError:
            self.lost("part", where)
            return
        kind = found.type or ""
        if kind not in _TYPES or (brief and kind == "reasoning"):
            return
        if kind == "text" and (found.synthetic or found.ignored):
            kind = "synthetic"
        call = parse_opencode_call(found, brief=brief) if kind == "tool" else None
        said = _label(found) if kind == "file" else without_nul(found.text)
        self.pieces.setdefault(message, []).append(OpenCodePiece(native_id or without_nul(found.id), kind, said, call))

    def lost(self, what: str, where: str) -> None:
        """Reports a record that cannot be read."""
        self.problems.append(Problem("bad-record", where, f"A {what} of this session could not be read: skipped"))

    def ordered(self) -> StoredSession:
        """Sorts the messages and their pieces chronologically and returns the session. Ids begin with the time, but
        start over every 795 days, so messages are sorted by their time first."""
        self.messages.sort(key=lambda one: ((one.time and one.time.created) or 0, one.id or ""))
        for found in self.pieces.values():
            found.sort(key=lambda one: one.id)
        return self


def _label(part: OpenCodePart) -> str:
    image = (part.mime or "").startswith("image/")
    return "image" if image else without_nul(part.filename) or without_nul(part.mime) or "file"


def load_stored_session(transcript: Transcript, *, brief: bool) -> StoredSession:
    """Loads the session of a transcript. Raises TranscriptError if none of it can be read."""
    if transcript.store_key:
        problems: list[Problem] = []
        kept = live.read_database(transcript.path, lambda db: _rows(db, transcript, brief=brief), problems)
        kept.problems += problems
        return kept.ordered()
    data = _session_file(transcript.path)
    if data is None:
        raise TranscriptError(
            "This session is too long to be read", where=str(transcript.path), todo="Export it again."
        )
    try:
        info, export = _opened(data)
    except ValueError as error:
        what = "This session cannot be read: its file is damaged or incomplete"
        todo = "Lerim tries again when the file changes."
        raise TranscriptError(what, where=str(transcript.path), todo=todo) from error
    kept = StoredSession(info)
    if export is None:
        _files(kept, transcript, brief=brief)
    else:
        _exported(kept, export, transcript.path, brief=brief)
    return kept.ordered()


def find_stored_folder(path: Path) -> str:
    """Returns the working folder of a session in an old file or an export; '' if it is unknown."""
    try:
        info, export = _opened(_session_file(path) or b"")
    except (TranscriptError, ValueError):
        return ""
    return without_nul(info.directory) or (_worktree(path.parents[2], info) if export is None else "")


def _opened(data: bytes) -> tuple[OpenCodeInfo, OpenCodeExport | None]:
    """Decodes a session's own record, and the export that contains it if the data is one. Raises ValueError."""
    export = parse_object(data, OpenCodeExport)
    if bytes(export.info) == b"null":
        return parse_object(data, OpenCodeInfo), None
    return parse_object(export.info, OpenCodeInfo), export


def _rows(db: sqlite3.Connection, transcript: Transcript, *, brief: bool) -> StoredSession:
    session, place = transcript.store_key, transcript.place
    wanted = ("parent_id", "project_id", "directory", "title", "version", "time_created", "time_updated", "revert")
    found = list(
        read_rows(db, "session", select_columns(table_columns(db, "session"), wanted), "id = ?", (session,), [])
    )
    if not found:
        raise TranscriptError(
            "This session is not in its database, or its row is damaged", where=place, todo="Look for it in OpenCode."
        )
    parent, project, directory, title, version, created, updated, revert = found[0]
    info = OpenCodeInfo(
        session, column_text(parent), column_text(project), column_text(directory), column_text(title),
        column_text(version), OpenCodeTimes(column_number(created), column_number(updated)), _revert(revert),
    )  # fmt: skip
    kept = StoredSession(info)
    if not info.directory and "worktree" in table_columns(db, "project"):
        kept.worktree = "".join(
            column_text(one) for (one,) in read_rows(db, "project", "worktree", "id = ?", (column_text(project),), [])
        )
    _said(db, kept, "session_id = ?", "session_id = ?", session, place, brief=brief)
    return kept


def _said(
    db: sqlite3.Connection,
    kept: StoredSession,
    message_where: str,
    part_where: str,
    value: str,
    place: str,
    *,
    brief: bool,
) -> None:
    """Adds the messages and parts that the conditions select for `value`."""
    if REQUIRED_COLUMNS["message"] <= table_columns(db, "message"):
        lost: list[int] = []
        for native_id, data in read_rows(db, "message", "id, data", message_where, (value,), lost):
            kept.say(_json(data), column_text(native_id), f"{place} {column_text(native_id)}")
        for row in lost:
            kept.lost("message", f"{place} row {row}")
    if REQUIRED_COLUMNS["part"] <= table_columns(db, "part"):
        lost = []
        for native_id, message, data in read_rows(db, "part", "id, message_id, data", part_where, (value,), lost):
            kept.add(
                _json(data),
                column_text(native_id),
                column_text(message),
                f"{place} {column_text(native_id)}",
                brief=brief,
            )
        for row in lost:
            kept.lost("part", f"{place} row {row}")


def load_message_row(db: sqlite3.Connection, message: str) -> StoredSession:
    """Loads one message of any session from the database, with `brief`."""
    kept = StoredSession(OpenCodeInfo())
    _said(db, kept, "id = ?", "message_id = ?", message, "", brief=True)
    return kept.ordered()


def select_columns(there: frozenset[str], wanted: tuple[str, ...]) -> str:
    """Returns the columns to select, with NULL for those that this version of the table does not have."""
    return ", ".join(name if name in there else "NULL" for name in wanted)


def _json(value: object) -> bytes:
    return value if isinstance(value, bytes) else column_text(value).encode()


def _revert(value: object) -> Revert | None:
    try:
        return parse_object(_json(value), Revert) if value else None
    except ValueError:
        return None


# --- old files ---------------------------------------------------------------------------------------------------


def _files(kept: StoredSession, transcript: Transcript, *, brief: bool) -> None:
    """Adds the messages and parts stored next to a session's old file; file names are their ids, as in OpenCode itself.

    Half-written files belong to the newest message: they are left out, and read again when they are complete.
    """
    storage = transcript.path.parents[2]
    kept.info.id = transcript.session_id
    if not kept.info.directory:
        kept.worktree = _worktree(storage, kept.info)
    said = sorted(_named(storage / "message" / transcript.session_id, kept))
    for path in said:
        _file_said(kept, path, storage, newest=path == said[-1], brief=brief)


def _file_said(kept: StoredSession, path: Path, storage: Path, *, newest: bool, brief: bool) -> None:
    if (data := _part_of(kept, path, quiet=newest)) is not None:
        kept.say(data, path.stem, str(path))
    for part in _named(storage / "part" / path.stem, kept):
        if (data := _part_of(kept, part, quiet=newest)) is not None:
            kept.add(data, part.stem, path.stem, str(part), brief=brief)


def list_session_infos(project: Path) -> Iterator[OpenCodeInfo]:
    """Yields the sessions of a project that have their own files in the folder `project`; skips unreadable ones."""
    for path in _named(project, StoredSession(OpenCodeInfo())):
        try:
            info = parse_object(_file(path) or b"", OpenCodeInfo)
        except (TranscriptError, ValueError):  # reported when that session itself is read
            continue
        info.id = path.stem
        yield info


def list_message_heads(storage: Path, session: str) -> Iterator[OpenCodeMessage]:
    """Yields the messages of a session without their parts; skips unreadable ones."""
    kept = StoredSession(OpenCodeInfo())
    for path in _named(storage / "message" / session, kept):
        if (data := _part_of(kept, path, quiet=True)) is not None:
            kept.say(data, path.stem, str(path))
        while kept.messages:
            yield kept.messages.pop()


def load_message_file(storage: Path, session: str, message: str) -> StoredSession:
    """Loads one message of any session from old files, with `brief`."""
    kept = StoredSession(OpenCodeInfo())
    _file_said(kept, storage / "message" / session / f"{message}.json", storage, newest=True, brief=True)
    return kept.ordered()


def _named(folder: Path, kept: StoredSession) -> Iterator[Path]:
    yield from (Path(entry.path) for entry in list_folder(folder, kept.problems) if entry.name.endswith(".json"))


def _part_of(kept: StoredSession, path: Path, *, quiet: bool) -> bytes | None:
    try:
        data = _file(path)
    except TranscriptError as error:
        if not isinstance(error.__cause__, FileNotFoundError):  # deleted in the meantime
            kept.problems.append(Problem("unreadable", str(path), error.message))
        return None
    if data is None:
        kept.lost("record that is too long", str(path))
    elif quiet and not data.rstrip().endswith(b"}"):
        return None
    return data


def _worktree(storage: Path, info: OpenCodeInfo) -> str:
    name = Path(without_nul(info.project_id)).name
    try:
        return without_nul(parse_object(_file(storage / "project" / f"{name}.json") or b"", OpenCodeProject).worktree)
    except (TranscriptError, ValueError):  # the session is still read; only its folder stays unknown
        return ""


def _session_file(path: Path) -> bytes | None:
    """Returns the content of a session file or export as UTF-8, or None if it is too long."""
    data = _file(path)
    return None if data is None else convert_to_utf8(data)


def _file(path: Path) -> bytes | None:
    """Returns the content of a file, or None if it is too long. Raises TranscriptError if it cannot be read."""
    try:
        with open_buffered(path) as file:
            data = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise make_unreadable_error(path, error) from error
    return data if len(data) <= FILE_LIMIT else None


# --- exports -----------------------------------------------------------------------------------------------------


def _exported(kept: StoredSession, export: OpenCodeExport, path: Path, *, brief: bool) -> None:
    """Adds the messages of an export. Programs that cut secrets out of exports also cut out ids, so that many messages
    share one: each gets a distinct id again, and parts keep their order."""
    for at, raw in enumerate(split_json_array(export.messages)):
        try:
            both = parse_object(raw, ExportedMessage)
        except ValueError:
            kept.lost("message", f"{path}@{at}")
            continue
        before = len(kept.messages)
        kept.say(both.info, "", f"{path}@{at}")
        if len(kept.messages) > before:
            message = kept.messages[-1]
            message.id = name = f"{message.id}@{at}" if message.id in kept.pieces else message.id or ""
            kept.pieces[name] = []
            for part in split_json_array(both.parts):
                kept.add(part, "", name, f"{path}@{at}", brief=brief)
            kept.pieces[name] = _in_order(kept.pieces[name])


def _in_order(found: list[OpenCodePiece]) -> list[OpenCodePiece]:
    """Returns the parts of a message with ids that increase in the order of the parts."""
    out: list[OpenCodePiece] = []
    own = ""
    for at, one in enumerate(found):
        if not out or one.id > out[-1].id:
            own = one.id
            out.append(one)
        else:
            out.append(one._replace(id=f"{own}~{at:06d}"))
    return out
