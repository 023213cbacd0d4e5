"""Reads the chats of Cursor's command line, one database each: messages are JSON blobs, and a tree of other blobs gives
their order."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Sequence

import msgspec

from lerim.errors import Problem
from lerim.sessions.model import Database, ToolCall, ToolStatus, Transcript
from lerim.sessions.readers.cursor.calls import merge_arguments, parse_cursor_call
from lerim.sessions.readers.cursor.folders import SIDE_FILE_BYTES, folders_by_digest
from lerim.sessions.readers.cursor.records import Number, parse_cursor_time, unwrap_json
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LoadedSession,
    decode_leniently,
    decode_string,
    find_text,
    parse_fields,
    parse_json_or_none,
    parse_object,
    parse_objects,
    read_start,
    sum_session,
    vscode_uri_to_path,
)
from lerim.sessions.readers.live import (
    column_text,
    is_table_missing,
    missing_tables_error,
    read_database,
    read_rows,
    table_columns,
)

_NODE_LIMIT = 200_000
_DEPTH_LIMIT = 50
_REPEATED_MESSAGE_LIMIT = 1000
"""The longest message, in bytes, that may occur several times in a chat. Longer ones contain unique ids, so a
repetition is not a new message."""


class _Meta(msgspec.Struct, rename="camel", gc=False):
    agent_id: str | None = ""
    name: str | None = ""
    created_at: Number = None
    last_used_model: str | None = ""
    latest_root_blob_id: str | None = ""


class _Part(msgspec.Struct, rename="camel", gc=False):
    type: str | None = ""
    text: str | None = ""
    thinking: str | None = ""
    id: str | None = ""
    tool_call_id: str | None = ""
    snake_id: str | None = msgspec.field(default="", name="tool_call_id")
    tool_name: str | None = ""
    name: str | None = ""
    args: msgspec.Raw = JSON_NULL
    input: msgspec.Raw = JSON_NULL
    result: msgspec.Raw = JSON_NULL
    output: msgspec.Raw = JSON_NULL
    error: msgspec.Raw = JSON_NULL
    is_error: bool | None = False


class ChatMessage(msgspec.Struct, gc=False):
    """One message of a chat."""

    role: str | None = ""
    content: msgspec.Raw = JSON_NULL


def list_cli_chat(database: Database, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """Lists the only chat of a store. Raises TranscriptError if the store cannot be opened."""
    path, problems = database.path, list[Problem]()
    meta, is_table_gone = read_database(path, lambda db: (_read_meta(db), is_table_missing(db, "meta")), problems)
    if is_table_gone:
        raise missing_tables_error(path)
    if meta is None:
        return [], problems
    side_file = parse_fields(read_start(path.parent / "meta.json", SIDE_FILE_BYTES))
    cwd = find_text(side_file, "cwd") or folders_by_digest(folders).get(path.parent.parent.name, "")
    checksum = zlib.crc32(f"{meta.latest_root_blob_id}\n{cwd}".encode("utf-8", "surrogatepass"))
    size, written, wal, wal_written = database.stamp
    chat = path.parent.name
    return [Transcript("cursor", path, chat, size + wal, max(written, wal_written), checksum, "", chat, cwd)], problems


def _read_meta(db: sqlite3.Connection) -> _Meta | None:
    if not table_columns(db, "meta"):
        return None
    for value in (row[0] for row in read_rows(db, "meta", "CAST(value AS BLOB)", "key = ?", ("0",), [])):
        data = value if isinstance(value, bytes) else b""
        try:
            return decode_leniently(data if data[:1] == b"{" else bytes.fromhex(data.decode("ascii", "replace")), _Meta)
        except ValueError:
            continue
    return _Meta()


def load_cli_chat(transcript: Transcript, *, brief: bool = False) -> LoadedSession:
    """Loads the whole chat. Raises TranscriptError if its database cannot be read."""
    problems: list[Problem] = []
    meta, builder, named_folder, fault_count = read_database(
        transcript.path, lambda db: _read_chat(db, transcript, brief=brief), problems
    )
    turns = builder.build_turns(transcript.cwd or named_folder or builder.find_call_folder())
    if fault_count:
        what = f"Messages of this chat could not be read and were skipped ({fault_count})"
        problems.append(Problem("bad-row", str(transcript.path), what))
    times = (parse_cursor_time(meta.created_at),)
    session = sum_session(transcript, turns, title=column_text(meta.name), times=times)
    return LoadedSession(session, turns, problems=problems)


def _read_chat(
    db: sqlite3.Connection, transcript: Transcript, *, brief: bool
) -> tuple[_Meta, CursorSessionBuilder, str, int]:
    meta = _read_meta(db) or _Meta()
    builder = CursorSessionBuilder(transcript.session_id, column_text(meta.last_used_model), brief)
    fault_count = 0
    root = column_text(meta.latest_root_blob_id).lower()
    if not table_columns(db, "blobs"):
        return meta, builder, "", 0
    messages = list(_list_messages(db, root, 0, {root}, {})) or [
        key for key in _list_blobs(db) if _find_message(_read_blob(db, key))
    ]
    occurrences: dict[str, int] = {}
    long_messages: set[str] = set()
    for key in messages:
        occurrences[key] = occurrences.get(key, 0) + 1
        if occurrences[key] > 1 and key in long_messages:
            continue
        native_id = f"{transcript.session_id}:{key}" + (f":{occurrences[key]}" if occurrences[key] > 1 else "")
        data = _find_message(_read_blob(db, key))
        if len(data) > _REPEATED_MESSAGE_LIMIT:
            long_messages.add(key)
        try:
            add_chat_message(builder, parse_object(data, ChatMessage), native_id, brief=brief)
        except ValueError:
            fault_count += 1
    return meta, builder, _find_root_folder(_read_blob(db, root)), fault_count


def _read_blob(db: sqlite3.Connection, key: str) -> bytes:
    row = next(read_rows(db, "blobs", "CAST(data AS BLOB)", "id = ?", (key,), []), (b"",))
    return row[0] if isinstance(row[0], bytes) else b""


_MESSAGE_FIELD = 4
"""In newer stores, the field of a node that contains a message."""


def _find_message(data: bytes) -> bytes:
    """Returns the message that a blob is or contains; empty for a plain node of the tree and for an empty blob."""
    if data[:1] == b"{":
        return data
    return next(
        (
            value
            for key, value in _protobuf_fields(data)
            if key == _MESSAGE_FIELD and decode_leniently(value, ChatMessage).role
        ),
        b"",
    )


def _list_blobs(db: sqlite3.Connection) -> list[str]:
    """Returns the ids of all blobs, in the order they were written."""
    rows = read_rows(db, "blobs", "rowid, id", "1", (), [])
    return [key for _, key in sorted((row, column_text(key)) for row, key in rows if isinstance(row, int))]


def _list_messages(
    db: sqlite3.Connection, node: str, depth: int, opened: set[str], are_messages: dict[str, bool]
) -> Iterator[str]:
    """Yields the ids of the messages below a node of the tree, in order. Each node is opened only once, and
    `are_messages` caches which blobs are messages."""
    for _, value in _protobuf_fields(_read_blob(db, node)):
        if len(value) != 32 or len(opened) > _NODE_LIMIT:
            continue
        child = value.hex()
        if child not in are_messages:
            are_messages[child] = bool(_find_message(_read_blob(db, child)))
        if are_messages[child]:
            yield child
        elif child not in opened and depth < _DEPTH_LIMIT:
            opened.add(child)
            yield from _list_messages(db, child, depth + 1, opened, are_messages)


def _protobuf_fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the number and bytes of each length-delimited field of a protobuf message; stops at an unknown field
    type."""
    position = 0
    while position < len(data):
        key, position = _read_varint(data, position)
        if key & 7 == 0:
            _, position = _read_varint(data, position)
        elif key & 7 == 2:
            size, position = _read_varint(data, position)
            if position + size > len(data):
                return
            yield key >> 3, data[position : position + size]
            position += size
        elif key & 7 in (1, 5):
            position += 8 if key & 7 == 1 else 4
        else:
            return


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(data) and shift < 64:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position
    return 7, len(data)  # field type 7 does not exist and ends the reading


_FOLDER_FIELD = 9
"""In newer stores, the field of the root that names the folder."""


def _find_root_folder(root: bytes) -> str:
    folders = (value for key, value in _protobuf_fields(root) if key == _FOLDER_FIELD)
    return vscode_uri_to_path(next(folders, b"").decode("utf-8", "replace"))


def add_chat_message(builder: CursorSessionBuilder, message: ChatMessage, native_id: str, *, brief: bool) -> None:
    """Adds a message: a prompt, an answer of the model with its tool calls, or the results of calls."""
    content = decode_string(message.content)
    parts = [_Part("text", content)] if content else parse_objects(message.content, _Part)
    text = "\n".join(one.text for one in parts if one.type == "text" and one.text)
    if message.role == "user":
        builder.add_prompt(text, native_id, images=any(one.type in ("image", "file") for one in parts))
    elif message.role == "assistant":
        reasoning = "\n".join(one.thinking or one.text or "" for one in parts if one.type in _REASONING)
        calls = tuple(_parse_part_call(one, brief=brief) for one in parts if one.type in _CALLS)
        if text.strip() or reasoning or calls:
            builder.add_reply(text.strip(), reasoning, calls, native_id)
    elif message.role == "tool":
        for one in parts:
            if one.type in _RESULTS:
                _add_result(builder, one)


_REASONING = ("reasoning", "thinking")
_CALLS = ("tool-call", "tool_call", "tool_use")
_RESULTS = ("tool-result", "tool_result")


def _parse_part_call(one: _Part, *, brief: bool) -> ToolCall:
    arguments = unwrap_json(one.args if one.args != JSON_NULL else one.input)
    return parse_cursor_call(
        one.tool_name or one.name or "", one.tool_call_id or one.id or "", merge_arguments((arguments,)), brief=brief
    )


def _add_result(builder: CursorSessionBuilder, one: _Part) -> None:
    """Adds the result of a tool call: its error, or else its output in either spelling."""
    raw = next((value for value in (one.error, one.result, one.output) if value != JSON_NULL), JSON_NULL)
    result = parse_json_or_none(raw)
    output = result if isinstance(result, str) else bytes(raw).decode("utf-8", "replace")
    has_failed = one.is_error or one.error != JSON_NULL
    status: ToolStatus = "error" if has_failed else "denied" if output.startswith("User rejected") else "ok"
    builder.add_result(one.tool_call_id or one.snake_id or "", status, output)
