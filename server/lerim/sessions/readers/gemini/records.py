"""The records of a Gemini CLI session: a file that is rewritten whole (`.json`), or a log in which a later record
replaces an earlier one with the same id (`.jsonl`). Resuming an old `.json` continues it in a `.jsonl` next to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import msgspec

from lerim.errors import Problem, UnfinishedError
from lerim.sessions.readers.engine import (
    FILE_SIZE_LIMIT,
    JSON_NULL,
    is_settling,
    parse_json_or_none,
    parse_object,
    parse_timestamp,
    read_log_lines,
    read_session_file,
    report_line,
    salvage_objects,
    split_json_array,
    usable_id,
)

COPY_TIME = timedelta(seconds=10)
"""The longest time between the copies of the messages that a shortened history keeps and the record of that history."""

MESSAGE_TYPES = frozenset({"user", "gemini", "info", "error", "warning"})


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


def extract_message_text(content: msgspec.Raw) -> tuple[str, bool]:
    """Returns the text of a content (a string, a part, or a list of both), and whether it contains results of tool
    calls."""
    value = parse_json_or_none(content)
    texts: list[str] = []
    has_results = False
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            has_results = has_results or "functionResponse" in part
            if isinstance(text := part.get("text"), str) and not part.get("thought"):
                texts.append(text)
            elif "inlineData" in part or "fileData" in part:
                texts.append("[file]")
    return "".join(texts), has_results


_MessageKey = tuple[str | None, str]


def _message_key(message: GeminiMessage) -> _MessageKey:
    return message.type, extract_message_text(message.content)[0]


SALVAGED_LINE_LIMIT = 50
"""How many damaged lines of a log are searched for whole messages: a crash damages one or two."""


@dataclass(slots=True)
class GeminiSession:
    """A session as its files contain it. `problems`: what could not be read. `original_ids`: the first ids of
    messages that were written again, by their new ids. `keys_by_content`: the keys of messages by type and text."""

    header: GeminiHeader = field(default_factory=GeminiHeader)
    messages: dict[str, GeminiMessage] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    original_ids: dict[str, str] = field(default_factory=dict)
    keys_by_content: dict[_MessageKey, dict[str, None]] = field(default_factory=dict)

    def put_message(self, message: GeminiMessage, fallback: str) -> None:
        """Adds a message at the end, or replaces the earlier version of a known one in place."""
        key = usable_id(message.id) or fallback
        if (before := self.messages.get(key)) is not None:
            self.keys_by_content[_message_key(before)].pop(key, None)
        self.messages[key] = message
        self.keys_by_content.setdefault(_message_key(message), {})[key] = None

    def drop_message(self, key: str) -> None:
        if (message := self.messages.pop(key, None)) is not None:
            self.keys_by_content[_message_key(message)].pop(key, None)

    def update_header(self, header: GeminiHeader) -> None:
        """Updates the header with the fields that have a value; all others stay as they were."""
        for name in ("session_id", "start_time", "last_updated", "kind", "summary"):
            if value := getattr(header, name):
                setattr(self.header, name, value)

    def rewind(self, native_id: str) -> None:
        """Drops a message and all after it, because the person rewound the session."""
        native_id = self.original_ids.get(native_id, native_id)
        while native_id in self.messages:
            self.drop_message(next(reversed(self.messages)))


def load_gemini_session(path: Path) -> GeminiSession:
    """Loads the session in a `.json` and the `.jsonl` that continues it, or in a `.jsonl` alone. Raises UnfinishedError
    while the `.json` is being written, TranscriptError, and OSError."""
    session = GeminiSession()
    if path.suffix == ".json":
        log = path.with_suffix(".jsonl")
        has_log = log.is_file()
        if path.is_file() or not has_log:
            _load_whole(path, session)
    else:
        log, has_log = path, True
    if has_log:
        _replay_log(log, session)
    return session


def _load_whole(path: Path, session: GeminiSession) -> None:
    data = read_session_file(path)
    try:
        header = parse_object(data, GeminiHeader)
        messages: list[bytes | msgspec.Raw] = [*split_json_array(header.messages)]
    except ValueError:
        if is_settling(path):
            raise UnfinishedError("This session is still being written", where=str(path)) from None
        header, messages = GeminiHeader(), list(salvage_objects(data, "id"))
        what = "This session's file is damaged: only what is whole in it was read"
        session.problems.append(Problem("bad-line", str(path), what))
        messages = [raw for raw in messages if _message_type(raw)]
    session.update_header(header)
    for number, raw in enumerate(messages):
        try:
            session.put_message(parse_object(raw, GeminiMessage), f"@{number}")
        except ValueError as error:
            what = f"A message could not be read ({error}) and was skipped"
            session.problems.append(Problem("bad-line", f"{path}@{number}", what))


def _message_type(data: bytes | msgspec.Raw) -> str:
    try:
        message_type = parse_object(data, GeminiMessage).type or ""
    except ValueError:
        return ""
    return message_type if message_type in MESSAGE_TYPES else ""


def _replay_log(path: Path, session: GeminiSession) -> None:
    for start, data, is_complete in read_log_lines(path, session.problems, FILE_SIZE_LIMIT):
        try:
            _apply_line(parse_object(data, _Line), data, start, session)
        except ValueError as error:
            if is_complete:
                report_line(path, start, error, session.problems)
                if len(session.problems) <= SALVAGED_LINE_LIMIT:
                    _salvage_messages(data, start, session)


def _salvage_messages(data: bytes, start: int, session: GeminiSession) -> None:
    """Adds the messages that are complete in a damaged line: a line cut short by a crash has the next one appended to
    it."""
    for number, raw in enumerate(raw for raw in salvage_objects(data, "id") if _message_type(raw)):
        session.put_message(parse_object(raw, GeminiMessage), f"@{start}.{number}")


def _apply_line(line: _Line, data: bytes, start: int, session: GeminiSession) -> None:
    if line.rewind:
        session.rewind(line.rewind)
    elif line.set != JSON_NULL:
        header = parse_object(line.set, GeminiHeader)
        session.update_header(header)
        _apply_shortened_history(
            [parse_object(raw, GeminiMessage) for raw in split_json_array(header.messages)],
            header.last_updated,
            session,
        )
    elif line.id or line.type:
        session.put_message(line, f"@{start}")
    else:
        header = parse_object(data, GeminiHeader)
        session.update_header(header)
        for number, raw in enumerate(split_json_array(header.messages)):
            session.put_message(parse_object(raw, GeminiMessage), f"@{start}.{number}")


def _apply_shortened_history(messages: list[GeminiMessage], updated: str | None, session: GeminiSession) -> None:
    """Applies a shortened history. Messages it leaves out are kept, because they were said; messages it adds are
    new. Just before, the program may write all messages that it keeps a second time, under new ids: these copies are
    not new messages."""
    ids = {message.id for message in messages}
    originals: dict[_MessageKey, str | None] = {}
    end = parse_timestamp(updated)
    for message in messages:
        native_id = usable_id(message.id)
        if not native_id or native_id in session.original_ids:
            continue
        time = parse_timestamp(message.timestamp)
        content_key = _message_key(message)
        if content_key not in originals:
            originals[content_key] = next(
                (name for name in reversed(session.keys_by_content.get(content_key, {})) if name not in ids), None
            )
        original = originals[content_key] if content_key[1] and end and time and end - time <= COPY_TIME else None
        if original is not None:
            session.original_ids[native_id] = original
            session.drop_message(native_id)
        elif native_id not in session.messages:
            session.put_message(message, native_id)
