"""Reads a chat of the editor as a session: its composer gives the order, and each bubble has its own row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import msgspec

from lerim.errors import Problem, TranscriptError
from lerim.sessions.model import Session, ToolCall, Transcript
from lerim.sessions.readers.cursor.calls import parse_bubble_call
from lerim.sessions.readers.cursor.edits import FileContents
from lerim.sessions.readers.cursor.folders import common_folder, folder_of_head, folder_of_uri
from lerim.sessions.readers.cursor.inline import load_inline_chat
from lerim.sessions.readers.cursor.listing import workspace_storage
from lerim.sessions.readers.cursor.records import (
    Bubble,
    CodeBlock,
    Composer,
    CursorTool,
    Uri,
    parse_bubble_order,
    parse_cursor_time,
)
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LoadedSession,
    decode_leniently,
    find_object,
    parse_fields,
    parse_json_or_none,
    parse_object,
    split_json_array,
    sum_session,
    vscode_uri_to_path,
)
from lerim.sessions.readers.live import column_text, read_database, read_rows, table_columns

_CONTENT_PREFIX = "composer.content."
_VALUE_COLUMN = "CAST(value AS BLOB)"
_DAMAGED = "its page in the database is damaged"


@dataclass(slots=True)
class _ChatReader:
    """A chat of a database while it is being read. `faults` are unreadable rows, which are skipped; `cwd` and
    `mentioned_paths` are what the bubbles read so far say about its folder."""

    db: sqlite3.Connection
    transcript: Transcript
    composer: Composer = field(default_factory=Composer)
    cwd: str = ""
    mentioned_paths: list[str] = field(default_factory=list)
    faults: list[Problem] = field(default_factory=list)

    def list_bubbles(self) -> Iterator[Bubble]:
        """Yields the bubbles of the chat in the order its composer gives; sets the composer before the first one."""
        chat_id = self.transcript.store_key
        key = f"composerData:{chat_id}"
        value, exists = self._read_value(key) if table_columns(self.db, "cursorDiskKV") else (None, False)
        if not exists:
            inline_chat = load_inline_chat(self.db, chat_id)
            if inline_chat is None:
                where = f"{self.transcript.path}#{chat_id}"
                raise TranscriptError("This chat is no longer in its database", where=where)
            self.composer, self.cwd = inline_chat, self.transcript.cwd
            yield from self._parse_inline_bubbles(inline_chat.conversation)
            return
        if value is None and not self.faults:
            return
        order = JSON_NULL
        try:
            self.composer = parse_object(value, Composer) if value is not None else self.composer
            order = self.composer.full_conversation_headers_only
        except ValueError as error:
            self._report_row(key, error)
        is_written_by_id = (
            parse_bubble_order(order) if order != JSON_NULL else dict.fromkeys(self._bubble_ids_by_time(), False)
        )
        self.cwd = folder_of_head(self.composer, workspace_storage(self.transcript.path)) or self.transcript.cwd
        if split_json_array(self.composer.conversation):
            yield from self._parse_inline_bubbles(self.composer.conversation)
            return
        for bubble in self._read_stored_bubbles(list(is_written_by_id)):
            bubble.is_simulated_msg = bubble.is_simulated_msg or is_written_by_id.get(bubble.bubble_id or "", False)
            yield bubble

    def read_content(self, key: str) -> str | None:
        """Returns the content of a file before or after an edit, or None if it was not kept."""
        value, _ = self._read_value(key) if key.startswith(_CONTENT_PREFIX) else (None, False)
        return column_text(value) if value is not None else None

    def note_folder(self, bubble: Bubble, calls: tuple[ToolCall, ...]) -> None:
        """Notes what a bubble says about the folder of the chat."""
        if self.cwd:
            return
        for raw in split_json_array(bubble.workspace_uris):
            value = parse_json_or_none(raw)
            folder = vscode_uri_to_path(value) if isinstance(value, str) else folder_of_uri(decode_leniently(raw, Uri))
            if folder:
                self.cwd = folder
                return
        for block in split_json_array(bubble.code_blocks):
            if (uri := decode_leniently(block, CodeBlock).uri) is not None and (path := folder_of_uri(uri)):
                self.mentioned_paths.append(path)
        self.mentioned_paths += [path for call in calls for path in call.paths]

    def find_folder(self) -> str:
        """Returns the folder of the chat if it is known by now, or ''."""
        return self.cwd or common_folder(self.mentioned_paths)

    def _report_row(self, key: str, why: object) -> None:
        where = f"{self.transcript.path}#{key}"
        self.faults.append(Problem("bad-row", where, f"A row of this chat was skipped: {why}"))

    def _read_value(self, key: str) -> tuple[bytes | None, bool]:
        """Returns a value and whether its row exists. The value is None for NULL and on a damaged page, which is
        reported."""
        lost: list[int] = []
        row = next(read_rows(self.db, "cursorDiskKV", _VALUE_COLUMN, "key = ?", (key,), lost), None)
        if lost:
            self._report_row(key, _DAMAGED)
            return None, True
        value = row[0] if row is not None else None
        return value if isinstance(value, bytes) else None, row is not None

    def _read_bubble_rows(self, columns: str) -> list[tuple[object, ...]]:
        """Returns columns of all rows with bubbles of the chat, and reports those that are damaged."""
        chat_id, lost = self.transcript.store_key, list[int]()
        key_range = (f"bubbleId:{chat_id}:", f"bubbleId:{chat_id};")
        rows = list(read_rows(self.db, "cursorDiskKV", columns, "key >= ? AND key < ?", key_range, lost))
        for row in lost:
            self._report_row(f"@{row}", _DAMAGED)
        return rows

    def _parse_inline_bubbles(self, bubbles: msgspec.Raw) -> Iterator[Bubble]:
        for index, element in enumerate(split_json_array(bubbles)):
            try:
                yield parse_object(element, Bubble)
            except ValueError as error:
                self._report_row(f"{self.transcript.store_key}[{index}]", error)

    def _read_stored_bubbles(self, bubble_ids: list[str]) -> Iterator[Bubble]:
        keys_by_id = {bubble_id: f"bubbleId:{self.transcript.store_key}:{bubble_id}" for bubble_id in bubble_ids}
        keys = {column_text(key) for (key,) in self._read_bubble_rows("key")}
        if missing := {bubble_id for bubble_id, key in keys_by_id.items() if key not in keys}:
            keys_by_id |= self._find_misnamed_keys(keys - set(keys_by_id.values()), missing)
        for bubble_id in bubble_ids:
            key = keys_by_id[bubble_id]
            value, _ = self._read_value(key) if key in keys else (None, False)  # Cursor deletes bubbles
            if value is None:
                continue
            try:
                bubble = parse_object(value, Bubble)
                bubble.bubble_id = bubble.bubble_id or bubble_id
                yield bubble
            except ValueError as error:
                self._report_row(key, error)

    def _find_misnamed_keys(self, keys: set[str], missing: set[str]) -> dict[str, str]:
        """Finds bubbles stored under a key that differs from their id."""
        keys_by_id: dict[str, str] = {}
        for key in sorted(keys):
            value, _ = self._read_value(key)
            bubble_id = decode_leniently(value, Bubble).bubble_id if value is not None else None
            if bubble_id is not None and bubble_id in missing:
                keys_by_id.setdefault(bubble_id, key)
        return keys_by_id

    def _bubble_ids_by_time(self) -> list[str]:
        """Returns the ids of all bubbles of a chat without a readable order, sorted by time."""
        rows: list[tuple[float, int, str]] = []
        for key, row, value in self._read_bubble_rows(f"key, rowid, {_VALUE_COLUMN}"):
            time = parse_cursor_time(decode_leniently(value, Bubble).created_at) if isinstance(value, bytes) else None
            bubble_id = column_text(key).removeprefix(f"bubbleId:{self.transcript.store_key}:")
            rows.append((time.timestamp() if time else 0.0, row if isinstance(row, int) else 0, bubble_id))
        return [bubble_id for _, _, bubble_id in sorted(rows)]


def load_editor_chat(transcript: Transcript, *, brief: bool = False) -> LoadedSession:
    """Loads the whole chat. Raises TranscriptError if nothing of it can be read, or it is gone."""
    problems: list[Problem] = []
    chat, builder = read_database(transcript.path, lambda db: _read_chat(db, transcript, brief=brief), problems)
    turns = builder.build_turns(chat.find_folder(), column_text(chat.composer.created_on_branch))
    problems += chat.faults
    composer, subagent = chat.composer, chat.composer.subagent_info
    parent = column_text(subagent.parent) if subagent is not None else ""
    session = sum_session(
        transcript,
        turns,
        title=column_text(composer.name),
        parent=parent if parent != transcript.session_id else "",
        tokens=builder.tokens,
        times=(parse_cursor_time(composer.created_at), parse_cursor_time(composer.last_updated_at)),
        branches=(column_text(composer.created_on_branch),) if composer.created_on_branch else (),
    )
    return LoadedSession(_with_cost(session, composer), turns, problems=problems)


def _read_chat(
    db: sqlite3.Connection, transcript: Transcript, *, brief: bool
) -> tuple[_ChatReader, CursorSessionBuilder]:
    chat = _ChatReader(db, transcript)
    builder = CursorSessionBuilder(transcript.session_id, brief=brief)
    older_calls: dict[str, CursorTool] = {}
    for number, bubble in enumerate(chat.list_bubbles()):
        if not number:  # only now the composer is known
            older_calls = _parse_capability_calls(chat.composer)
            model = chat.composer.model_config
            builder.model = column_text(model.name) if model is not None else ""
            builder.is_subagent = bool(transcript.parent) or chat.composer.subagent_info is not None
        bubble.tool_former_data = bubble.tool_former_data or older_calls.get(bubble.bubble_id or "")
        calls = _parse_calls(bubble, chat.read_content, brief=brief)
        chat.note_folder(bubble, calls)
        builder.add_bubble(bubble, calls)
    return chat, builder


def _parse_capability_calls(composer: Composer) -> dict[str, CursorTool]:
    """Returns the tool calls that early versions stored in the composer, by bubble id."""
    calls: dict[str, CursorTool] = {}
    for capability in split_json_array(composer.capabilities):
        by_bubble = find_object(parse_fields(capability), "data").get("bubbleDataMap")
        for bubble, call in (parse_fields(by_bubble) if isinstance(by_bubble, str) else {}).items():
            calls[bubble] = decode_leniently(msgspec.json.encode(call), CursorTool)
    return calls


def _parse_calls(bubble: Bubble, contents: FileContents | None, *, brief: bool) -> tuple[ToolCall, ...]:
    tool = bubble.tool_former_data
    if tool is None or not (tool.name or tool.tool_call_id) or bubble.type in (1, "user"):
        return ()
    return (parse_bubble_call(tool, contents, brief=brief),)


def _with_cost(session: Session, composer: Composer) -> Session:
    charges = (one.get("costInCents") for one in parse_fields(composer.usage_data).values() if isinstance(one, dict))
    cents = [one for one in charges if isinstance(one, int | float) and one >= 0]
    return replace(session, cost=round(sum(cents) / 100, 6)) if cents else session
