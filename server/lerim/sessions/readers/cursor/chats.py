"""Reads a chat of the editor as a session: its composer gives the order, and each bubble has its own row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import msgspec

from lerim.errors import Problem, TranscriptError
from lerim.sessions.model import Session, ToolCall, Transcript
from lerim.sessions.readers.cursor.folders import common_folder, folder_of_head, folder_of_uri
from lerim.sessions.readers.cursor.inline import load_inline_chat
from lerim.sessions.readers.cursor.listing import workspace_storage
from lerim.sessions.readers.cursor.records import (
    Bubble,
    CodeBlock,
    Composer,
    CursorTool,
    ModelCharge,
    Uri,
    parse_bubble_order,
    parse_cursor_time,
    unwrap_json,
)
from lerim.sessions.readers.cursor.tools import parse_bubble_call
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LoadedSession,
    count_final_turns,
    decode_leniently,
    limit_problems,
    parse_json_or_none,
    parse_object,
    split_json_array,
    sum_session,
    uri_to_path,
)
from lerim.sessions.readers.live import column_text, read_database, read_rows, table_columns

_CONTENT_PREFIX = "composer.content."
_VALUE_COLUMN = "CAST(value AS BLOB)"
_PROBED_BUBBLES = 50
_DAMAGED = "its page in the database is damaged"


@dataclass(slots=True)
class _ChatState:
    """A chat as far as it was read. `faults` are unreadable rows, which were skipped."""

    composer: Composer = field(default_factory=Composer)
    cwd: str = ""
    mentioned_paths: list[str] = field(default_factory=list)
    faults: list[Problem] = field(default_factory=list)

    def report_row(self, path: Path, key: str, why: str) -> None:
        """Records a row that cannot be read."""
        self.faults.append(Problem("bad-row", f"{path}#{key}", f"A row of this chat was skipped: {why}"))

    def report_damaged(self, path: Path, rowids: list[int]) -> None:
        """Records rows that cannot be read, by their rowids."""
        for row in rowids:
            self.report_row(path, f"@{row}", _DAMAGED)


def load_editor_chat(transcript: Transcript, *, brief: bool = False) -> LoadedSession:
    """Loads the whole chat. Raises TranscriptError if its database cannot be read, no longer contains it, or is so
    damaged that nothing of it can be read."""
    problems: list[Problem] = []
    chat, builder = read_database(transcript.path, lambda db: _read_chat(db, transcript, brief=brief), problems)
    cwd = chat.cwd or common_folder(chat.mentioned_paths)
    turns = builder.build_turns(cwd, column_text(chat.composer.created_on_branch))
    if chat.faults and not turns:
        raise TranscriptError(
            f"Nothing of this chat could be read. {chat.faults[0].message}.",
            where=chat.faults[0].path,
            todo="Restore the database from a backup if you need the chat. Other sessions are still read.",
        )
    problems += limit_problems(chat.faults, transcript.path)
    composer, subagent = chat.composer, chat.composer.subagent_info
    parent = column_text(subagent.parent) if subagent is not None else ""
    session = sum_session(
        transcript,
        turns,
        title=column_text(composer.name),
        parent=parent if parent != transcript.session_id else "",
        injected=builder.injected,
        api_errors=builder.api_errors,
        tokens=builder.tokens,
        times=(parse_cursor_time(composer.created_at), parse_cursor_time(composer.last_updated_at)),
        branches=(column_text(composer.created_on_branch),) if composer.created_on_branch else (),
    )
    return LoadedSession(_with_cost(session, composer), turns, count_final_turns(turns), problems)


def find_chat_folder(transcript: Transcript) -> str:
    """Returns the folder a chat belongs to, from its composer and first bubbles; '' if they do not name one."""

    def work(db: sqlite3.Connection) -> str:
        chat = _ChatState()
        for bubble in _list_bubbles(db, transcript, chat, limit=_PROBED_BUBBLES):
            if chat.cwd:
                break
            tool = bubble.tool_former_data
            _note_folder(chat, bubble, (parse_bubble_call(tool, _no_content, brief=True),) if tool is not None else ())
        return chat.cwd or common_folder(chat.mentioned_paths)

    return read_database(transcript.path, work, [])


def _read_chat(
    db: sqlite3.Connection, transcript: Transcript, *, brief: bool
) -> tuple[_ChatState, CursorSessionBuilder]:
    chat = _ChatState()
    builder = CursorSessionBuilder(transcript.session_id, brief=brief)
    read_content = partial(_read_content, db, transcript.path, chat)
    older_calls: dict[str, CursorTool] | None = None
    for bubble in _list_bubbles(db, transcript, chat):
        if older_calls is None:
            model = chat.composer.model_config
            builder.model = column_text(model.name) if model is not None else ""
            builder.is_subagent = bool(transcript.parent) or chat.composer.subagent_info is not None
            older_calls = _parse_capability_calls(chat.composer)
        tool = bubble.tool_former_data or older_calls.get(bubble.bubble_id or "")
        calls = (
            (parse_bubble_call(tool, read_content, brief=brief),)
            if tool is not None and (tool.name or tool.tool_call_id)
            else ()
        )
        if bubble.type in (1, "user"):
            calls = ()
        _note_folder(chat, bubble, calls)
        builder.add_bubble(bubble, calls)
    return chat, builder


def _list_bubbles(
    db: sqlite3.Connection, transcript: Transcript, chat: _ChatState, limit: int | None = None
) -> Iterator[Bubble]:
    """Yields the bubbles of a chat in the order its composer gives; sets the composer in `chat` before the first
    one."""
    path, chat_id = transcript.path, transcript.store_key
    key = f"composerData:{chat_id}"
    try:
        value, exists = _read_value(db, key) if table_columns(db, "cursorDiskKV") else (None, False)
    except ValueError as error:
        value, exists = None, True
        chat.report_row(path, key, str(error))
    if not exists:
        inline_chat = load_inline_chat(db, chat_id)
        if inline_chat is None:
            raise TranscriptError("This chat is no longer in its database", where=f"{path}#{chat_id}")
        chat.composer, chat.cwd = inline_chat, transcript.cwd
        yield from _parse_inline_bubbles(path, chat_id, split_json_array(inline_chat.conversation), chat)
        return
    if value is None and not chat.faults:
        return
    order = JSON_NULL
    try:
        chat.composer = parse_object(value, Composer) if value is not None else chat.composer
        order = chat.composer.full_conversation_headers_only
    except ValueError as error:
        chat.report_row(path, key, str(error))
    order_by_id = (
        parse_bubble_order(order)
        if order != JSON_NULL
        else dict.fromkeys(_bubble_ids_by_time(db, path, chat_id, chat), False)
    )
    chat.cwd = folder_of_head(chat.composer, workspace_storage(path)) or transcript.cwd
    if inline_bubbles := split_json_array(chat.composer.conversation):
        yield from _parse_inline_bubbles(path, chat_id, inline_bubbles, chat)
        return
    for bubble in _read_stored_bubbles(db, path, chat_id, list(order_by_id)[:limit], chat):
        bubble.is_simulated_msg = bubble.is_simulated_msg or order_by_id.get(bubble.bubble_id or "", False)
        yield bubble


def _read_value(db: sqlite3.Connection, key: str) -> tuple[bytes | None, bool]:
    """Returns a value (None for NULL) and whether its row exists. Raises ValueError if its page is damaged."""
    lost: list[int] = []
    row = next(read_rows(db, "cursorDiskKV", _VALUE_COLUMN, "key = ?", (key,), lost), None)
    if lost:
        raise ValueError(_DAMAGED)
    value = row[0] if row is not None else None
    return value if isinstance(value, bytes) else None, row is not None


def _parse_inline_bubbles(path: Path, chat_id: str, bubbles: list[msgspec.Raw], chat: _ChatState) -> Iterator[Bubble]:
    for index, element in enumerate(bubbles):
        try:
            yield parse_object(element, Bubble)
        except ValueError as error:
            chat.report_row(path, f"{chat_id}[{index}]", str(error))


def _read_stored_bubbles(
    db: sqlite3.Connection, path: Path, chat_id: str, bubble_ids: list[str], chat: _ChatState
) -> Iterator[Bubble]:
    keys_by_id = {bubble_id: f"bubbleId:{chat_id}:{bubble_id}" for bubble_id in bubble_ids}
    key_range = (f"bubbleId:{chat_id}:", f"bubbleId:{chat_id};")
    lost: list[int] = []
    keys = {
        column_text(key) for (key,) in read_rows(db, "cursorDiskKV", "key", "key >= ? AND key < ?", key_range, lost)
    }
    chat.report_damaged(path, lost)
    if missing := {bubble_id for bubble_id, key in keys_by_id.items() if key not in keys}:
        keys_by_id |= _find_misnamed_keys(db, path, keys - set(keys_by_id.values()), missing, chat)
    for bubble_id in bubble_ids:
        key = keys_by_id[bubble_id]
        if key not in keys:
            continue  # garbage-collected by Cursor
        try:
            value, _ = _read_value(db, key)
            if value is not None:
                bubble = parse_object(value, Bubble)
                bubble.bubble_id = bubble.bubble_id or bubble_id
                yield bubble
        except ValueError as error:
            chat.report_row(path, key, str(error))


def _find_misnamed_keys(
    db: sqlite3.Connection, path: Path, keys: set[str], missing: set[str], chat: _ChatState
) -> dict[str, str]:
    """Finds bubbles stored under a key that differs from their id."""
    keys_by_id: dict[str, str] = {}
    for key in sorted(keys):
        try:
            value, _ = _read_value(db, key)
        except ValueError as error:
            chat.report_row(path, key, str(error))
            continue
        bubble_id = decode_leniently(value, Bubble).bubble_id if value is not None else None
        if bubble_id is not None and bubble_id in missing:
            keys_by_id.setdefault(bubble_id, key)
    return keys_by_id


def _bubble_ids_by_time(db: sqlite3.Connection, path: Path, chat_id: str, chat: _ChatState) -> list[str]:
    """Returns the ids of all bubbles of a chat without a readable order, sorted by time."""
    start = f"bubbleId:{chat_id}:"
    key_range = (start, f"bubbleId:{chat_id};")
    rows: list[tuple[float, int, str]] = []
    lost: list[int] = []
    for key, row, value in read_rows(
        db, "cursorDiskKV", f"key, rowid, {_VALUE_COLUMN}", "key >= ? AND key < ?", key_range, lost
    ):
        time = parse_cursor_time(decode_leniently(value, Bubble).created_at) if isinstance(value, bytes) else None
        rows.append(
            (time.timestamp() if time else 0.0, row if isinstance(row, int) else 0, column_text(key)[len(start) :])
        )
    chat.report_damaged(path, lost)
    return [bubble_id for _, _, bubble_id in sorted(rows)]


def _parse_capability_calls(composer: Composer) -> dict[str, CursorTool]:
    """Returns the tool calls that early versions stored in the composer, by bubble id."""
    if b"bubbleDataMap" not in bytes(composer.capabilities):
        return {}
    parsed: dict[str, CursorTool] = {}
    for capability in split_json_array(composer.capabilities):
        data = parse_json_or_none(capability)
        payload = data.get("data") if isinstance(data, dict) else None
        calls_by_bubble = payload.get("bubbleDataMap") if isinstance(payload, dict) else None
        calls = parse_json_or_none(msgspec.Raw(unwrap_json(msgspec.Raw(msgspec.json.encode(calls_by_bubble)))))
        for key, call in calls.items() if isinstance(calls, dict) else ():
            parsed[str(key)] = decode_leniently(msgspec.json.encode(call), CursorTool)
    return parsed


def _read_content(db: sqlite3.Connection, path: Path, chat: _ChatState, key: str) -> str | None:
    try:
        value, _ = _read_value(db, key) if key.startswith(_CONTENT_PREFIX) else (None, False)
    except ValueError as error:
        chat.report_row(path, key, str(error))
        return None
    return column_text(value) if value is not None else None


def _no_content(_key: str) -> None:
    """Returns no file content: finding the folder of a chat does not need it."""


def _note_folder(chat: _ChatState, bubble: Bubble, calls: tuple[ToolCall, ...]) -> None:
    """Records what a bubble reveals about the folder of its chat."""
    if chat.cwd:
        return
    if bubble.workspace_uris != JSON_NULL:
        for raw in split_json_array(bubble.workspace_uris):
            value = parse_json_or_none(raw)
            folder = uri_to_path(value) if isinstance(value, str) else folder_of_uri(decode_leniently(raw, Uri))
            if folder:
                chat.cwd = folder
                return
    for block in split_json_array(bubble.code_blocks):
        if (uri := decode_leniently(block, CodeBlock).uri) is not None and (path := folder_of_uri(uri)):
            chat.mentioned_paths.append(path)
    chat.mentioned_paths += [path for call in calls for path in call.paths]


def _with_cost(session: Session, composer: Composer) -> Session:
    """Returns the session with the cost that Cursor recorded, if any."""
    usage = parse_json_or_none(composer.usage_data)
    charges = (
        [decode_leniently(msgspec.json.encode(one), ModelCharge) for one in usage.values()]
        if isinstance(usage, dict)
        else []
    )
    cents = [one.cents for one in charges if one.cents is not None and one.cents >= 0]
    return replace(session, cost=round(sum(cents) / 100, 6)) if cents else session
