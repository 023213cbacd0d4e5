"""Loads an OpenCode session from any of its three forms: database rows, old files or an export."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from lerim.errors import Problem, TranscriptError
from lerim.files import make_unreadable_error
from lerim.sessions.model import ToolCall, Transcript
from lerim.sessions.readers.engine import (
    find_text,
    list_folder,
    parse_fields,
    parse_object,
    read_session_file,
    split_json_array,
    without_nul,
)
from lerim.sessions.readers.live import column_number, column_text, live, read_rows, table_columns
from lerim.sessions.readers.opencode.calls import parse_opencode_call
from lerim.sessions.readers.opencode.exports import convert_to_utf8
from lerim.sessions.readers.opencode.records import (
    ExportedMessage,
    OpenCodeExport,
    OpenCodeInfo,
    OpenCodeMessage,
    OpenCodePart,
    OpenCodeTimes,
    Revert,
)

_USED_TYPES = ("text", "reasoning", "tool", "file", "compaction", "subtask")


class OpenCodePiece(NamedTuple):
    """The used content of a part: its type (`synthetic` for text that OpenCode inserted), its text and its tool
    call."""

    id: str
    type: str
    text: str
    call: ToolCall | None = None


class ForkOrigin(NamedTuple):
    """The message that a fork's message was copied from; `is_subagent`: it is in the session of a subagent."""

    id: str
    is_subagent: bool


@dataclass(slots=True)
class StoredSession:
    """A session as stored. `pieces` contains the pieces of each message, in order; `worktree` is that of the
    session's project; `origins` maps the ids of messages copied by a fork to their originals."""

    info: OpenCodeInfo
    messages: list[OpenCodeMessage] = field(default_factory=list)
    pieces: dict[str, list[OpenCodePiece]] = field(default_factory=dict)
    worktree: str = ""
    problems: list[Problem] = field(default_factory=list)
    origins: dict[str, ForkOrigin] = field(default_factory=dict)

    def add_message(self, message: bytes | msgspec.Raw, native_id: str, where: str) -> None:
        """Adds a message; `native_id` is its id if the store keeps it outside the record."""
        try:
            record = parse_object(message, OpenCodeMessage)
        except ValueError:
            self.report_lost("message", where)
            return
        record.id = without_nul(native_id or record.id)
        if record.id:
            self.messages.append(record)

    def add_part(self, part: bytes | msgspec.Raw, native_id: str, message: str, where: str, *, brief: bool) -> None:
        try:
            record = parse_object(part, OpenCodePart)
        except ValueError:
            self.report_lost("part", where)
            return
        kind = record.type or ""
        if kind not in _USED_TYPES or (brief and kind == "reasoning"):
            return
        if kind == "text" and (record.synthetic or record.ignored):
            kind = "synthetic"
        call = parse_opencode_call(record, brief=brief) if kind == "tool" else None
        text = _file_label(record) if kind == "file" else without_nul(record.text)
        self.pieces.setdefault(message, []).append(OpenCodePiece(native_id or without_nul(record.id), kind, text, call))

    def report_lost(self, what: str, where: str) -> None:
        self.problems.append(
            Problem("bad-record", where, f"A {what} of this session could not be read and was skipped")
        )


def _file_label(part: OpenCodePart) -> str:
    image = (part.mime or "").startswith("image/")
    return "image" if image else without_nul(part.filename) or without_nul(part.mime) or "file"


def load_stored_session(transcript: Transcript, *, brief: bool) -> StoredSession:
    """Loads the session of a transcript. Raises TranscriptError if none of it can be read."""
    if transcript.store_key:
        problems: list[Problem] = []
        stored = live.read_database(transcript.path, lambda db: _load_rows(db, transcript, brief=brief), problems)
        stored.problems += problems
    else:
        try:
            info, export = _parse_session(read_session_file(transcript.path))
        except ValueError as error:
            what = "This session cannot be read: its file is damaged or incomplete"
            todo = "Lerim tries again when the file changes."
            raise TranscriptError(what, where=str(transcript.path), todo=todo) from error
        stored = StoredSession(info)
        if export is None:
            _add_files(stored, transcript, brief=brief)
        else:
            _add_exported(stored, export, transcript.path, brief=brief)
    # ids begin with the time, but start over every 795 days
    stored.messages.sort(key=lambda one: ((one.time and one.time.created) or 0, one.id or ""))
    return stored


def _parse_session(data: bytes) -> tuple[OpenCodeInfo, OpenCodeExport | None]:
    """Decodes a session's own record, and if `data` is an export, also the export that contains it. Raises
    ValueError."""
    data = convert_to_utf8(data)
    export = parse_object(data, OpenCodeExport)
    if bytes(export.info) == b"null":
        return parse_object(data, OpenCodeInfo), None
    return parse_object(export.info, OpenCodeInfo), export


def _load_rows(db: sqlite3.Connection, transcript: Transcript, *, brief: bool) -> StoredSession:
    session, where = transcript.store_key, transcript.place
    optional = ("parent_id", "project_id", "directory", "title", "time_created", "time_updated", "revert")
    rows = list(
        read_rows(db, "session", select_columns(table_columns(db, "session"), optional), "id = ?", (session,), [])
    )
    if not rows:
        raise TranscriptError(
            "This session is not in its database, or its row is damaged", where=where, todo="Look for it in OpenCode."
        )
    parent, project, directory, title, created, updated, revert = rows[0]
    info = OpenCodeInfo(
        session, column_text(parent), column_text(project), column_text(directory), column_text(title),
        OpenCodeTimes(column_number(created), column_number(updated)), _parse_revert(revert),
    )  # fmt: skip
    stored = StoredSession(info)
    if not info.directory and "worktree" in table_columns(db, "project"):
        stored.worktree = "".join(
            column_text(one) for (one,) in read_rows(db, "project", "worktree", "id = ?", (column_text(project),), [])
        )
    lost: list[int] = []
    for native_id, data in read_rows(db, "message", "id, data", "session_id = ?", (session,), lost):
        stored.add_message(_encode_cell(data), column_text(native_id), f"{where} {column_text(native_id)}")
    lost_parts: list[int] = []
    for native_id, message, data in read_rows(
        db, "part", "id, message_id, data", "session_id = ?", (session,), lost_parts
    ):
        part = column_text(native_id)
        stored.add_part(_encode_cell(data), part, column_text(message), f"{where} {part}", brief=brief)
    for pieces in stored.pieces.values():
        pieces.sort(key=lambda one: one.id)
    for what, numbers in (("message", lost), ("part", lost_parts)):
        for number in numbers:
            stored.report_lost(what, f"{where} row {number}")
    return stored


def select_columns(columns: frozenset[str], wanted: tuple[str, ...]) -> str:
    """Returns the columns to select, with NULL in place of those that this version of the table does not have."""
    return ", ".join(name if name in columns else "NULL" for name in wanted)


def _encode_cell(value: object) -> bytes:
    return value if isinstance(value, bytes) else column_text(value).encode()


def _parse_revert(value: object) -> Revert | None:
    try:
        return parse_object(_encode_cell(value), Revert) if value else None
    except ValueError:
        return None


# --- old files ---------------------------------------------------------------------------------------------------


def _add_files(stored: StoredSession, transcript: Transcript, *, brief: bool) -> None:
    """Adds the messages and parts stored next to a session's old file; file names are their ids, as in OpenCode itself.

    Half-written files belong to the newest message: they are left out, and read again when they are complete.
    """
    storage = transcript.path.parents[2]
    stored.info.id = transcript.session_id
    if not stored.info.directory:
        stored.worktree = _find_worktree(storage, stored.info)
    message_paths = _list_json_files(storage / "message" / transcript.session_id, stored)
    for path in message_paths:
        is_newest = path == message_paths[-1]
        if (data := _read_record_file(stored, path, is_newest=is_newest)) is not None:
            stored.add_message(data, path.stem, str(path))
        for part in _list_json_files(storage / "part" / path.stem, stored):
            if (data := _read_record_file(stored, part, is_newest=is_newest)) is not None:
                stored.add_part(data, part.stem, path.stem, str(part), brief=brief)


def list_session_infos(project: Path) -> Iterator[OpenCodeInfo]:
    """Yields the sessions of a project that have their own files in the folder `project`; skips unreadable ones."""
    for path in _list_json_files(project, StoredSession(OpenCodeInfo())):
        try:
            info = parse_object(read_session_file(path), OpenCodeInfo)
        except (OSError, TranscriptError, ValueError):  # reported when that session itself is read
            continue
        info.id = path.stem
        yield info


def list_message_heads(storage: Path, session: str) -> Iterator[OpenCodeMessage]:
    """Yields the messages of a session without their parts; skips unreadable ones."""
    stored = StoredSession(OpenCodeInfo())
    for path in _list_json_files(storage / "message" / session, stored):
        if (data := _read_record_file(stored, path, is_newest=True)) is not None:
            stored.add_message(data, path.stem, str(path))
        while stored.messages:
            yield stored.messages.pop()


def _list_json_files(folder: Path, stored: StoredSession) -> list[Path]:
    return [Path(entry.path) for entry in list_folder(folder, stored.problems) if entry.name.endswith(".json")]


def _read_record_file(stored: StoredSession, path: Path, *, is_newest: bool) -> bytes | None:
    try:
        data = read_session_file(path)
    except FileNotFoundError:  # deleted in the meantime
        return None
    except (OSError, TranscriptError) as error:
        what = error.message if isinstance(error, TranscriptError) else make_unreadable_error(path, error).message
        stored.problems.append(Problem("unreadable", str(path), what))
        return None
    return None if is_newest and not data.rstrip().endswith(b"}") else data


def _find_worktree(storage: Path, info: OpenCodeInfo) -> str:
    name = Path(without_nul(info.project_id)).name
    try:
        return find_text(parse_fields(read_session_file(storage / "project" / f"{name}.json")), "worktree")
    except (OSError, TranscriptError):  # the session is still read; only its folder stays unknown
        return ""


# --- exports -----------------------------------------------------------------------------------------------------


def _add_exported(stored: StoredSession, export: OpenCodeExport, path: Path, *, brief: bool) -> None:
    """Adds the messages of an export. Programs that cut secrets out of exports also cut out ids, so that many messages
    share one: each gets a distinct id again, and parts keep their order."""
    for index, raw in enumerate(split_json_array(export.messages)):
        try:
            exported = parse_object(raw, ExportedMessage)
        except ValueError:
            stored.report_lost("message", f"{path}@{index}")
            continue
        count_before = len(stored.messages)
        stored.add_message(exported.info, "", f"{path}@{index}")
        if len(stored.messages) > count_before:
            message = stored.messages[-1]
            message.id = message_id = f"{message.id}@{index}" if message.id in stored.pieces else message.id or ""
            stored.pieces[message_id] = []
            for part in split_json_array(exported.parts):
                stored.add_part(part, "", message_id, f"{path}@{index}", brief=brief)
