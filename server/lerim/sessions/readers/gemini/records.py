"""The records of a Gemini CLI session: a file that is rewritten whole (`.json`), or a log in which a later record
replaces an earlier one with the same id (`.jsonl`). Resuming an old `.json` continues it in a `.jsonl` next to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import msgspec

from lerim.errors import TranscriptError, UnfinishedError
from lerim.files import open_buffered
from lerim.sessions.readers.engine import (
    FILE_SIZE_LIMIT,
    JSON_NULL,
    LineStream,
    is_settling,
    parse_json,
    parse_object,
    parse_timestamp,
    read_session_file,
    salvage_objects,
    split_json_array,
    usable_id,
)
from lerim.sessions.readers.gemini.message_text import extract_message_text

BEGINNING = 1024 * 1024
"""How many bytes of the files are searched for the working folder."""

COPYING = timedelta(seconds=10)
"""The longest time between writing copies of the messages that a shortened history keeps and recording that history."""

KINDS = frozenset({"user", "gemini", "info", "error", "warning"})


class Thought(msgspec.Struct, gc=False):
    """A step of the model's reasoning."""

    subject: str | None = ""
    description: str | None = ""


class GeminiUsage(msgspec.Struct, gc=False):
    """The tokens of one answer; `input` is the whole context, `cached` the part of it that was read from the cache."""

    input: int | None = 0
    output: int | None = 0
    cached: int | None = 0
    thoughts: int | None = 0
    tool: int | None = 0


class GeminiCall(msgspec.Struct, rename="camel", gc=False):
    """A tool call with its result."""

    id: str | None = ""
    name: str | None = ""
    args: msgspec.Raw = JSON_NULL
    result: msgspec.Raw = JSON_NULL
    result_display: msgspec.Raw = JSON_NULL
    status: str | None = ""
    agent_id: str | None = ""


class GeminiMessage(msgspec.Struct, rename="camel", gc=False):
    """One message."""

    id: str | None = ""
    timestamp: str | None = ""
    type: str | None = ""
    content: msgspec.Raw = JSON_NULL
    display_content: msgspec.Raw = JSON_NULL
    thoughts: list[Thought] | None = None
    tokens: GeminiUsage | None = None
    model: str | None = ""
    tool_calls: list[GeminiCall] | None = None


class GeminiHeader(msgspec.Struct, rename="camel", gc=False):
    """The fields that describe the session itself."""

    session_id: str | None = ""
    start_time: str | None = ""
    last_updated: str | None = ""
    kind: str | None = ""
    summary: str | None = ""
    messages: msgspec.Raw = JSON_NULL


class _Line(GeminiMessage, gc=False):
    rewind: str | None = msgspec.field(default="", name="$rewindTo")
    set: msgspec.Raw = msgspec.field(default=JSON_NULL, name="$set")
    session_id: str | None = ""


_Said = tuple[str | None, str]


def _said(message: GeminiMessage) -> _Said:
    return message.type, extract_message_text(message.content)[0]


SALVAGED = 50
"""How many damaged lines of a log are searched for whole messages: a crash damages one or two."""


@dataclass(slots=True)
class GeminiSession:
    """A session as its files contain it. `faults`: where something could not be read, and what. `text`: the beginning
    of its files. `copies`: the new ids of messages that were written again, with their first ids. `said`: the keys of
    messages by type and text."""

    header: GeminiHeader = field(default_factory=GeminiHeader)
    messages: dict[str, GeminiMessage] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)
    text: bytes = b""
    copies: dict[str, str] = field(default_factory=dict)
    said: dict[_Said, dict[str, None]] = field(default_factory=dict)

    def put(self, message: GeminiMessage, fallback: str) -> None:
        """Adds a message at the end, or replaces the earlier version of a known one in place."""
        name = usable_id(message.id) or fallback
        if (before := self.messages.get(name)) is not None:
            self.said[_said(before)].pop(name, None)
        self.messages[name] = message
        self.said.setdefault(_said(message), {})[name] = None

    def drop(self, name: str) -> None:
        """Removes a message if it is there."""
        if (message := self.messages.pop(name, None)) is not None:
            self.said[_said(message)].pop(name, None)

    def head(self, told: GeminiHeader) -> None:
        """Updates the header with the fields that have a value; all others stay as they were."""
        for name in ("session_id", "start_time", "last_updated", "kind", "summary"):
            if given := getattr(told, name):
                setattr(self.header, name, given)

    def rewind(self, native_id: str) -> None:
        """Drops a message and all after it, because the person rewound the session."""
        native_id = self.copies.get(native_id, native_id)
        while native_id in self.messages:
            self.drop(next(reversed(self.messages)))


def load_gemini_session(path: Path) -> GeminiSession:
    """Loads the session in a `.json` file and the `.jsonl` that continues it, or in a `.jsonl` alone.

    Raises UnfinishedError while the `.json` is being written, TranscriptError if nothing in it can be read, and
    OSError.
    """
    session = GeminiSession()
    if path.suffix == ".json":
        log = path.with_suffix(".jsonl")
        logged = log.is_file()
        if path.is_file() or not logged:
            _whole(path, session, alone=not logged)
    else:
        log, logged = path, True
    if logged:
        _replay(log, session)
    return session


def _whole(path: Path, session: GeminiSession, *, alone: bool) -> None:
    data = read_session_file(path)
    session.text = data[:BEGINNING]
    try:
        header = parse_object(data, GeminiHeader)
        messages: list[bytes | msgspec.Raw] = [*split_json_array(header.messages)]
    except ValueError:
        if is_settling(path):
            raise UnfinishedError("This session is still being written", where=str(path)) from None
        header, messages = GeminiHeader(), list(salvage_objects(data, "id"))
        if alone and not any(_kind(one) for one in messages):
            raise TranscriptError(
                "Nothing in this session's file can be read", where=str(path), todo="Lerim tries again when it changes."
            ) from None
        session.faults.append(("", "This session's file is damaged; the readable part was used"))
        messages = [one for one in messages if _kind(one)]
    session.head(header)
    for number, one in enumerate(messages):
        try:
            session.put(parse_object(one, GeminiMessage), f"@{number}")
        except ValueError as error:
            session.faults.append((f"@{number}", f"A message could not be read ({error}) and was skipped"))


def _kind(data: bytes | msgspec.Raw) -> str:
    try:
        kind = parse_object(data, GeminiMessage).type or ""
    except ValueError:
        return ""
    return kind if kind in KINDS else ""


def _replay(path: Path, session: GeminiSession) -> None:
    with open_buffered(path) as file:
        found = LineStream(file, 0, FILE_SIZE_LIMIT)
        for start, _, data, complete in found:
            if not data or not data.strip():
                continue
            if len(session.text) < BEGINNING:
                session.text += data[:BEGINNING]
            try:
                _apply(parse_object(data, _Line), data, start, session)
            except ValueError as error:
                if complete:
                    what = str(error).split(":")[0]
                    session.faults.append((f"@{start}", f"A line of this session could not be read ({what})"))
                    if len(session.faults) <= SALVAGED:
                        _save(data, start, session)
    if found.stop_reason:
        session.faults.insert(0, ("", f"Only part of this session was read: it {found.stop_reason}"))


def _save(data: bytes, start: int, session: GeminiSession) -> None:
    """Adds the messages that are complete in a damaged line: a line cut short by a crash has the next one appended to
    it."""
    for number, one in enumerate(one for one in salvage_objects(data, "id") if _kind(one)):
        session.put(parse_object(one, GeminiMessage), f"@{start}.{number}")


def _apply(line: _Line, data: bytes, start: int, session: GeminiSession) -> None:
    if line.rewind:
        session.rewind(line.rewind)
    elif line.set != JSON_NULL:
        told = parse_object(line.set, GeminiHeader)
        session.head(told)
        _shorten(
            [parse_object(one, GeminiMessage) for one in split_json_array(told.messages)], told.last_updated, session
        )
    elif line.id or line.type:
        session.put(line, f"@{start}")
    else:
        told = parse_object(data, GeminiHeader)
        session.head(told)
        for number, one in enumerate(split_json_array(told.messages)):
            session.put(parse_object(one, GeminiMessage), f"@{start}.{number}")


def _shorten(kept: list[GeminiMessage], noted: str | None, session: GeminiSession) -> None:
    """Applies a shortened history. Messages it leaves out are kept, because they were said; messages it adds are new.
    Just before, the program may write all messages it keeps again under new ids: these copies are not new messages."""
    ids = {one.id for one in kept}
    originals: dict[_Said, str | None] = {}
    end = parse_timestamp(noted)
    for one in kept:
        native_id = usable_id(one.id)
        if not native_id or native_id in session.copies:
            continue
        time = parse_timestamp(one.timestamp)
        said = _said(one)
        if said not in originals:
            originals[said] = next((name for name in reversed(session.said.get(said, {})) if name not in ids), None)
        original = originals[said] if said[1] and end and time and end - time <= COPYING else None
        if original is not None:
            session.copies[native_id] = original
            session.drop(native_id)
        elif native_id not in session.messages:
            session.put(one, native_id)


def decode_arguments(data: bytes | msgspec.Raw) -> dict[object, object]:
    """Decodes the arguments of a call; returns an empty dict if they are not an object."""
    try:
        found = parse_json(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
