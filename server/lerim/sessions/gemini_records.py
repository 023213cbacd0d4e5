"""The records of a session of Gemini CLI: a file rewritten whole (`.json`), or a log in which a later record of the
same id replaces an earlier one (`.jsonl`). Resuming an old `.json` goes on in a `.jsonl` beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import msgspec

from lerim.errors import TranscriptError, UnfinishedError
from lerim.sessions.broken_json import pieces, salvaged, shaped, value
from lerim.sessions.gemini_words import words
from lerim.sessions.lines import Lines
from lerim.sessions.regular import buffered
from lerim.sessions.session_files import LIMIT, contents, settling
from lerim.sessions.shapes import NOTHING
from lerim.sessions.values import known, moment

BEGINNING = 1024 * 1024
"""Bytes of the files in which the working folder is looked for."""

COPYING = timedelta(seconds=10)
"""How long before a shortened history is noted the copies of what it keeps are written, at most."""

KINDS = frozenset({"user", "gemini", "info", "error", "warning"})


class Thought(msgspec.Struct, gc=False):
    """A step of the model's reasoning."""

    subject: str | None = ""
    description: str | None = ""


class Usage(msgspec.Struct, gc=False):
    """Tokens of one answer; `input` is the whole context, `cached` the part of it that was read from the cache."""

    input: int | None = 0
    output: int | None = 0
    cached: int | None = 0
    thoughts: int | None = 0
    tool: int | None = 0


class Call(msgspec.Struct, rename="camel", gc=False):
    """A tool call with its result."""

    id: str | None = ""
    name: str | None = ""
    args: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    result_display: msgspec.Raw = NOTHING
    status: str | None = ""
    agent_id: str | None = ""


class Message(msgspec.Struct, rename="camel", gc=False):
    """One message."""

    id: str | None = ""
    timestamp: str | None = ""
    type: str | None = ""
    content: msgspec.Raw = NOTHING
    display_content: msgspec.Raw = NOTHING
    thoughts: list[Thought] | None = None
    tokens: Usage | None = None
    model: str | None = ""
    tool_calls: list[Call] | None = None


class Header(msgspec.Struct, rename="camel", gc=False):
    """What is told of the session itself."""

    session_id: str | None = ""
    start_time: str | None = ""
    last_updated: str | None = ""
    kind: str | None = ""
    summary: str | None = ""
    messages: msgspec.Raw = NOTHING


class _Line(Message, gc=False):
    rewind: str | None = msgspec.field(default="", name="$rewindTo")
    set: msgspec.Raw = msgspec.field(default=NOTHING, name="$set")
    session_id: str | None = ""


_Said = tuple[str | None, str]


def _said(message: Message) -> _Said:
    return message.type, words(message.content)[0]


SALVAGED = 50
"""Damaged lines of a log in which whole messages are looked for: a crash damages one or two."""


@dataclass(slots=True)
class Recorded:
    """A session as its files tell it. `faults`: where and what could not be read. `text`: how its files begin.
    `copies`: messages written again under a new id, with the id they had first. `said`: the names of the messages by
    what they say."""

    header: Header = field(default_factory=Header)
    messages: dict[str, Message] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)
    text: bytes = b""
    copies: dict[str, str] = field(default_factory=dict)
    said: dict[_Said, dict[str, None]] = field(default_factory=dict)

    def put(self, message: Message, fallback: str) -> None:
        """Takes a message: a new one at the end, a newer version of a known one in its place."""
        name = known(message.id) or fallback
        if (before := self.messages.get(name)) is not None:
            self.said[_said(before)].pop(name, None)
        self.messages[name] = message
        self.said.setdefault(_said(message), {})[name] = None

    def drop(self, name: str) -> None:
        """Takes a message out, where it is there."""
        if (message := self.messages.pop(name, None)) is not None:
            self.said[_said(message)].pop(name, None)

    def head(self, told: Header) -> None:
        """Takes what is told of the session; what is not told stays as it was."""
        for name in ("session_id", "start_time", "last_updated", "kind", "summary"):
            if given := getattr(told, name):
                setattr(self.header, name, given)

    def rewind(self, native: str) -> None:
        """Drops a message and all after it, as the person did."""
        native = self.copies.get(native, native)
        while native in self.messages:
            self.drop(next(reversed(self.messages)))


def recorded(path: Path) -> Recorded:
    """The session in a `.json` file and the `.jsonl` that goes on with it, or in a `.jsonl` alone.

    Raises UnfinishedError while the `.json` is being written, TranscriptError where nothing in it can be read, OSError.
    """
    session = Recorded()
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


def _whole(path: Path, session: Recorded, *, alone: bool) -> None:
    data = contents(path)
    session.text = data[:BEGINNING]
    try:
        header = shaped(data, Header)
        messages: list[bytes | msgspec.Raw] = [*pieces(header.messages)]
    except ValueError:
        if settling(path):
            raise UnfinishedError("This session is being written", where=str(path)) from None
        header, messages = Header(), list(salvaged(data, "id"))
        if alone and not any(_kind(one) for one in messages):
            raise TranscriptError(
                "Nothing in this session's file can be read", where=str(path), todo="It is tried again once it changes."
            ) from None
        session.faults.append(("", "This session's file is damaged; what could be read of it was taken"))
        messages = [one for one in messages if _kind(one)]
    session.head(header)
    for number, one in enumerate(messages):
        try:
            session.put(shaped(one, Message), f"@{number}")
        except ValueError as error:
            session.faults.append((f"@{number}", f"A message could not be read ({error}) and was skipped"))


def _kind(data: bytes | msgspec.Raw) -> str:
    try:
        kind = shaped(data, Message).type or ""
    except ValueError:
        return ""
    return kind if kind in KINDS else ""


def _replay(path: Path, session: Recorded) -> None:
    with buffered(path) as file:
        found = Lines(file, 0, LIMIT)
        for start, _, data, complete in found:
            if not data or not data.strip():
                continue
            if len(session.text) < BEGINNING:
                session.text += data[:BEGINNING]
            try:
                _apply(shaped(data, _Line), data, start, session)
            except ValueError as error:
                if complete:
                    what = str(error).split(":")[0]
                    session.faults.append((f"@{start}", f"A line of this session could not be read ({what})"))
                    if len(session.faults) <= SALVAGED:
                        _save(data, start, session)
    if found.stopped:
        session.faults.insert(0, ("", f"This session was read in part: it {found.stopped}"))


def _save(data: bytes, start: int, session: Recorded) -> None:
    """Takes the messages that are whole in a damaged line: a line cut short by a crash has the next one on its end."""
    for number, one in enumerate(one for one in salvaged(data, "id") if _kind(one)):
        session.put(shaped(one, Message), f"@{start}.{number}")


def _apply(line: _Line, data: bytes, start: int, session: Recorded) -> None:
    if line.rewind:
        session.rewind(line.rewind)
    elif line.set != NOTHING:
        told = shaped(line.set, Header)
        session.head(told)
        _shorten([shaped(one, Message) for one in pieces(told.messages)], told.last_updated, session)
    elif line.id or line.type:
        session.put(line, f"@{start}")
    else:
        told = shaped(data, Header)
        session.head(told)
        for number, one in enumerate(pieces(told.messages)):
            session.put(shaped(one, Message), f"@{start}.{number}")


def _shorten(kept: list[Message], noted: str | None, session: Recorded) -> None:
    """Takes a shortened history: what it leaves out was said all the same, what it adds is new. The program may write
    all that it keeps again, under new ids, just before: such a copy says nothing that was not said."""
    ids = {one.id for one in kept}
    originals: dict[_Said, str | None] = {}
    end = moment(noted)
    for one in kept:
        native = known(one.id)
        if not native or native in session.copies:
            continue
        time = moment(one.timestamp)
        said = _said(one)
        if said not in originals:
            originals[said] = next((name for name in reversed(session.said.get(said, {})) if name not in ids), None)
        original = originals[said] if said[1] and end and time and end - time <= COPYING else None
        if original is not None:
            session.copies[native] = original
            session.drop(native)
        elif native not in session.messages:
            session.put(one, native)


def values(data: bytes | msgspec.Raw) -> dict[object, object]:
    """The arguments of a call; none where they are no object."""
    try:
        found = value(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
