"""A session of OpenCode out of any of its three forms: rows of the database, old files, an export."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from lerim.errors import Problem, TranscriptError
from lerim.sessions import live
from lerim.sessions.broken_json import pieces, shaped
from lerim.sessions.live_rows import columns, number, rows, text
from lerim.sessions.model import ToolCall, Transcript
from lerim.sessions.opencode_exports import utf8
from lerim.sessions.opencode_records import Exchanged, Export, Info, Message, Part, Project, Revert, Times
from lerim.sessions.opencode_tools import called
from lerim.sessions.regular import buffered, unreadable
from lerim.sessions.session_files import entries
from lerim.sessions.values import plain

FILE_LIMIT = 64 * 1024 * 1024
"""Longer files are skipped and told of."""

NEEDED = {"message": {"id", "session_id", "data"}, "part": {"id", "message_id", "session_id", "data"}}
"""The columns without which nothing that was said can be read, by table."""

_TYPES = ("text", "reasoning", "tool", "file", "compaction", "subtask")


class Piece(NamedTuple):
    """What of a part is used: its type (`synthetic` for text that the program put there), its words, its call."""

    id: str
    type: str
    text: str
    call: ToolCall | None = None


class Origin(NamedTuple):
    """The message that one of a fork was copied from; `child`: in the session of a subagent."""

    id: str
    child: bool


@dataclass(slots=True)
class Kept:
    """A session as its store has it. `pieces` are those of each message, in order; `worktree` is its project's;
    `origins` are of the messages it was forked with."""

    info: Info
    messages: list[Message] = field(default_factory=list)
    pieces: dict[str, list[Piece]] = field(default_factory=dict)
    worktree: str = ""
    problems: list[Problem] = field(default_factory=list)
    origins: dict[str, Origin] = field(default_factory=dict)

    def say(self, message: bytes | msgspec.Raw, native: str, where: str) -> None:
        """Takes a message in; `native` is its id where the store has it outside the record."""
        try:
            found = shaped(message, Message)
        except ValueError:
            self.lost("message", where)
            return
        found.id = plain(native or found.id)
        if found.id:
            self.messages.append(found)

    def add(self, part: bytes | msgspec.Raw, native: str, message: str, where: str, *, brief: bool) -> None:
        """Takes a part of a message in."""
        try:
            found = shaped(part, Part)
        except ValueError:
            self.lost("part", where)
            return
        kind = found.type or ""
        if kind not in _TYPES or (brief and kind == "reasoning"):
            return
        if kind == "text" and (found.synthetic or found.ignored):
            kind = "synthetic"
        call = called(found, brief=brief) if kind == "tool" else None
        said = _label(found) if kind == "file" else plain(found.text)
        self.pieces.setdefault(message, []).append(Piece(native or plain(found.id), kind, said, call))

    def lost(self, what: str, where: str) -> None:
        """Tells of a record that cannot be read."""
        self.problems.append(Problem("bad-record", where, f"A {what} of this session could not be read: skipped"))

    def ordered(self) -> Kept:
        """In the order in which it was said. Ids begin with the time, but start over every 795 days."""
        self.messages.sort(key=lambda one: ((one.time and one.time.created) or 0, one.id or ""))
        for found in self.pieces.values():
            found.sort(key=lambda one: one.id)
        return self


def _label(part: Part) -> str:
    image = (part.mime or "").startswith("image/")
    return "image" if image else plain(part.filename) or plain(part.mime) or "file"


def load(transcript: Transcript, *, brief: bool) -> Kept:
    """The session a transcript stands for. Raises TranscriptError where nothing of it can be read."""
    if transcript.within:
        problems: list[Problem] = []
        kept = live.read(transcript.path, lambda db: _rows(db, transcript, brief=brief), problems)
        kept.problems += problems
        return kept.ordered()
    data = _session_file(transcript.path)
    if data is None:
        raise TranscriptError("This session is too long to be read", where=str(transcript.path), todo="Export it anew.")
    try:
        info, export = _opened(data)
    except ValueError as error:
        what = "This session cannot be read: its file is damaged, or half written"
        todo = "It is tried again when the file changes."
        raise TranscriptError(what, where=str(transcript.path), todo=todo) from error
    kept = Kept(info)
    if export is None:
        _files(kept, transcript, brief=brief)
    else:
        _exported(kept, export, transcript.path, brief=brief)
    return kept.ordered()


def folder(path: Path) -> str:
    """The working folder of a session in an old file or an export; '' where that cannot be said."""
    try:
        info, export = _opened(_session_file(path) or b"")
    except (TranscriptError, ValueError):
        return ""
    return plain(info.directory) or (_worktree(path.parents[2], info) if export is None else "")


def _opened(data: bytes) -> tuple[Info, Export | None]:
    """A session's own record, and the export around it where it is one. Raises ValueError."""
    export = shaped(data, Export)
    if bytes(export.info) == b"null":
        return shaped(data, Info), None
    return shaped(export.info, Info), export


def _rows(db: sqlite3.Connection, transcript: Transcript, *, brief: bool) -> Kept:
    session, place = transcript.within, transcript.place
    wanted = ("parent_id", "project_id", "directory", "title", "version", "time_created", "time_updated", "revert")
    found = list(rows(db, "session", choice(columns(db, "session"), wanted), "id = ?", (session,), []))
    if not found:
        raise TranscriptError(
            "This session is not in its database, or its row is damaged", where=place, todo="Look for it in OpenCode."
        )
    parent, project, directory, title, version, created, updated, revert = found[0]
    info = Info(
        session, text(parent), text(project), text(directory), text(title), text(version),
        Times(number(created), number(updated)), _revert(revert),
    )  # fmt: skip
    kept = Kept(info)
    if not info.directory and "worktree" in columns(db, "project"):
        kept.worktree = "".join(text(one) for (one,) in rows(db, "project", "worktree", "id = ?", (text(project),), []))
    _said(db, kept, "session_id = ?", "session_id = ?", session, place, brief=brief)
    return kept


def _said(
    db: sqlite3.Connection, kept: Kept, message_where: str, part_where: str, value: str, place: str, *, brief: bool
) -> None:
    """Takes in the messages and the parts that belong to `value`."""
    if NEEDED["message"] <= columns(db, "message"):
        lost: list[int] = []
        for native, data in rows(db, "message", "id, data", message_where, (value,), lost):
            kept.say(_json(data), text(native), f"{place} {text(native)}")
        for row in lost:
            kept.lost("message", f"{place} row {row}")
    if NEEDED["part"] <= columns(db, "part"):
        lost = []
        for native, message, data in rows(db, "part", "id, message_id, data", part_where, (value,), lost):
            kept.add(_json(data), text(native), text(message), f"{place} {text(native)}", brief=brief)
        for row in lost:
            kept.lost("part", f"{place} row {row}")


def one_of_rows(db: sqlite3.Connection, message: str) -> Kept:
    """One message of any session, read briefly."""
    kept = Kept(Info())
    _said(db, kept, "id = ?", "message_id = ?", message, "", brief=True)
    return kept.ordered()


def choice(there: frozenset[str], wanted: tuple[str, ...]) -> str:
    """The columns to ask for: those a table does not have yet, or no more, are NULL."""
    return ", ".join(name if name in there else "NULL" for name in wanted)


def _json(value: object) -> bytes:
    return value if isinstance(value, bytes) else text(value).encode()


def _revert(value: object) -> Revert | None:
    try:
        return shaped(_json(value), Revert) if value else None
    except ValueError:
        return None


# --- old files ---------------------------------------------------------------------------------------------------


def _files(kept: Kept, transcript: Transcript, *, brief: bool) -> None:
    """The messages and parts beside a file of a session; ids are those of the files, as OpenCode itself has it.

    What is half written belongs to the newest message: it is left out, and met again when it is whole.
    """
    storage = transcript.path.parents[2]
    kept.info.id = transcript.session_id
    if not kept.info.directory:
        kept.worktree = _worktree(storage, kept.info)
    said = sorted(_named(storage / "message" / transcript.session_id, kept))
    for path in said:
        _file_said(kept, path, storage, newest=path == said[-1], brief=brief)


def _file_said(kept: Kept, path: Path, storage: Path, *, newest: bool, brief: bool) -> None:
    if (data := _part_of(kept, path, quiet=newest)) is not None:
        kept.say(data, path.stem, str(path))
    for part in _named(storage / "part" / path.stem, kept):
        if (data := _part_of(kept, part, quiet=newest)) is not None:
            kept.add(data, part.stem, path.stem, str(part), brief=brief)


def infos(project: Path) -> Iterator[Info]:
    """The sessions of a project that have a file each in the folder `project`; those that cannot be read left out."""
    for path in _named(project, Kept(Info())):
        try:
            info = shaped(_file(path) or b"", Info)
        except (TranscriptError, ValueError):  # told of when that session itself is read
            continue
        info.id = path.stem
        yield info


def heads(storage: Path, session: str) -> Iterator[Message]:
    """The messages of a session without their parts; those that cannot be read left out."""
    kept = Kept(Info())
    for path in _named(storage / "message" / session, kept):
        if (data := _part_of(kept, path, quiet=True)) is not None:
            kept.say(data, path.stem, str(path))
        while kept.messages:
            yield kept.messages.pop()


def one_of_files(storage: Path, session: str, message: str) -> Kept:
    """One message of any session, read briefly."""
    kept = Kept(Info())
    _file_said(kept, storage / "message" / session / f"{message}.json", storage, newest=True, brief=True)
    return kept.ordered()


def _named(folder: Path, kept: Kept) -> Iterator[Path]:
    yield from (Path(entry.path) for entry in entries(folder, kept.problems) if entry.name.endswith(".json"))


def _part_of(kept: Kept, path: Path, *, quiet: bool) -> bytes | None:
    try:
        data = _file(path)
    except TranscriptError as error:
        if not isinstance(error.__cause__, FileNotFoundError):  # taken back meanwhile
            kept.problems.append(Problem("unreadable", str(path), error.message))
        return None
    if data is None:
        kept.lost("record that is too long", str(path))
    elif quiet and not data.rstrip().endswith(b"}"):
        return None
    return data


def _worktree(storage: Path, info: Info) -> str:
    name = Path(plain(info.project_id)).name
    try:
        return plain(shaped(_file(storage / "project" / f"{name}.json") or b"", Project).worktree)
    except (TranscriptError, ValueError):  # the session says what it can; its folder stays unknown
        return ""


def _session_file(path: Path) -> bytes | None:
    """What the file of a session or an export holds, in UTF-8; None where it is too long."""
    data = _file(path)
    return None if data is None else utf8(data)


def _file(path: Path) -> bytes | None:
    """What a file holds; None where it is too long."""
    try:
        with buffered(path) as file:
            data = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    return data if len(data) <= FILE_LIMIT else None


# --- exports -----------------------------------------------------------------------------------------------------


def _exported(kept: Kept, export: Export, path: Path, *, brief: bool) -> None:
    """Takes in what an export holds. Programs that cut secrets out of exports also cut out ids, so that many messages
    have the same: each has its own again, and parts keep their order."""
    for at, raw in enumerate(pieces(export.messages)):
        try:
            both = shaped(raw, Exchanged)
        except ValueError:
            kept.lost("message", f"{path}@{at}")
            continue
        before = len(kept.messages)
        kept.say(both.info, "", f"{path}@{at}")
        if len(kept.messages) > before:
            message = kept.messages[-1]
            message.id = name = f"{message.id}@{at}" if message.id in kept.pieces else message.id or ""
            kept.pieces[name] = []
            for part in pieces(both.parts):
                kept.add(part, "", name, f"{path}@{at}", brief=brief)
            kept.pieces[name] = _in_order(kept.pieces[name])


def _in_order(found: list[Piece]) -> list[Piece]:
    """The parts of a message with ids that rise as the parts follow each other."""
    out: list[Piece] = []
    own = ""
    for at, one in enumerate(found):
        if not out or one.id > out[-1].id:
            own = one.id
            out.append(one)
        else:
            out.append(one._replace(id=f"{own}~{at:06d}"))
    return out
