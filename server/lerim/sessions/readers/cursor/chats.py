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
from lerim.sessions.readers.cursor.folders import common_folder, folder_of_head, folder_of_uri, uri_to_path
from lerim.sessions.readers.cursor.inline import load_inline_chat
from lerim.sessions.readers.cursor.listing import workspace_storage
from lerim.sessions.readers.cursor.records import (
    Bubble,
    ChatTab,
    CodeBlock,
    Composer,
    CursorTool,
    ModelCharge,
    Uri,
    parse_bubble,
    parse_bubble_order,
    parse_cursor_time,
    split_elements,
    unwrap_json,
)
from lerim.sessions.readers.cursor.tools import parse_bubble_call
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LoadedSession,
    count_final_turns,
    decode_leniently,
    parse_json_or_none,
    parse_object,
    sum_session,
)
from lerim.sessions.readers.live import column_text, read_rows, table_columns
from lerim.sessions.readers.live import read_database as look

PROBLEMS = 100
"""Problems reported one by one; any further ones are only counted."""
_BODY = "composer.content."
_VALUE = "CAST(value AS BLOB)"
_PEEK = 50
_DAMAGED = "its page in the database is damaged"


@dataclass(slots=True)
class _Chat:
    """A chat as far as it was read. `faults` are unreadable rows, which were skipped."""

    composer: Composer = field(default_factory=Composer)
    tab: ChatTab | None = None
    cwd: str = ""
    seen: list[str] = field(default_factory=list)
    faults: list[Problem] = field(default_factory=list)

    def fault(self, path: Path, key: str, why: str) -> None:
        """Records a row that cannot be read."""
        self.faults.append(Problem("bad-row", f"{path}#{key}", f"A row of this chat was skipped: {why}"))

    def lost(self, path: Path, rowids: list[int]) -> None:
        """Records rows that cannot be read, by their rowids."""
        for row in rowids:
            self.fault(path, f"@{row}", _DAMAGED)


def load_editor_chat(transcript: Transcript, *, brief: bool = False) -> LoadedSession:
    """Loads the whole chat. Raises TranscriptError if its database cannot be read, no longer contains it, or is so
    damaged that nothing of it can be read."""
    problems: list[Problem] = []
    chat, talk = look(transcript.path, lambda db: _read(db, transcript, brief=brief), problems)
    cwd = chat.cwd or common_folder(chat.seen)
    turns = talk.turns(cwd, column_text(chat.composer.created_on_branch))
    if chat.faults and not turns:
        raise TranscriptError(
            f"Nothing of this chat could be read. {chat.faults[0].message}.",
            where=chat.faults[0].path,
            todo="Restore the database from a backup if you need the chat. Other sessions are still read.",
        )
    problems += chat.faults[:PROBLEMS]
    if (more := len(chat.faults) - PROBLEMS) > 0:
        problems.append(Problem("many", str(transcript.path), f"{more} more rows of this chat could not be read"))
    composer, sub = chat.composer, chat.composer.subagent_info
    parent = column_text(sub.parent) if sub is not None else ""
    session = sum_session(
        transcript,
        turns,
        title=column_text(chat.tab.title if chat.tab is not None else composer.name),
        parent=parent if parent != transcript.session_id else "",
        injected=talk.injected,
        api_errors=talk.api_errors,
        tokens=talk.tokens,
        times=(
            parse_cursor_time(composer.created_at),
            parse_cursor_time(composer.last_updated_at),
            parse_cursor_time(chat.tab.sent if chat.tab is not None else None),
        ),
        branches=(column_text(composer.created_on_branch),) if composer.created_on_branch else (),
    )
    return LoadedSession(_priced(session, composer), turns, count_final_turns(turns), problems)


def find_chat_folder(transcript: Transcript) -> str:
    """Returns the folder a chat belongs to, from its composer and first bubbles; '' if they do not name one."""

    def work(db: sqlite3.Connection) -> str:
        chat = _Chat()
        for piece in _pieces(db, transcript, chat, most=_PEEK):
            if chat.cwd:
                break
            tool = piece.tool_former_data
            _look(chat, piece, (parse_bubble_call(tool, _nothing, brief=True),) if tool is not None else ())
        return chat.cwd or common_folder(chat.seen)

    return look(transcript.path, work, [])


def _read(db: sqlite3.Connection, transcript: Transcript, *, brief: bool) -> tuple[_Chat, CursorSessionBuilder]:
    chat = _Chat()
    talk = CursorSessionBuilder(transcript.session_id, brief=brief)
    bodies = partial(_body, db, transcript.path, chat)
    older: dict[str, CursorTool] | None = None
    for piece in _pieces(db, transcript, chat):
        if older is None:
            chosen = chat.composer.model_config
            talk.model = column_text(chosen.name) if chosen is not None else ""
            talk.child = bool(transcript.parent) or chat.composer.subagent_info is not None
            older = _older(chat.composer)
        tool = piece.tool_former_data or older.get(piece.bubble_id or "")
        calls = (
            (parse_bubble_call(tool, bodies, brief=brief),)
            if tool is not None and (tool.name or tool.tool_call_id)
            else ()
        )
        if piece.type in (1, "user"):
            calls = ()
        _look(chat, piece, calls)
        talk.bubble(piece, calls)
    return chat, talk


def _pieces(db: sqlite3.Connection, transcript: Transcript, chat: _Chat, most: int | None = None) -> Iterator[Bubble]:
    """Yields the bubbles of a chat in the order its composer gives; sets the composer in `chat` before the first
    one."""
    path, cid = transcript.path, transcript.store_key
    key = f"composerData:{cid}"
    try:
        value, there = _row(db, key) if table_columns(db, "cursorDiskKV") else (None, False)
    except ValueError as error:
        value, there = None, True
        chat.fault(path, key, str(error))
    if not there:
        found = load_inline_chat(db, cid)
        if found is None:
            raise TranscriptError("This chat is no longer in its database", where=f"{path}#{cid}")
        if isinstance(found, ChatTab):
            chat.tab = found
        else:
            chat.composer = found
        chat.cwd = transcript.cwd
        yield from _inline(path, cid, found.bubbles if isinstance(found, ChatTab) else found.conversation, chat)
        return
    if value is None and not chat.faults:
        return
    told = JSON_NULL
    try:
        chat.composer = parse_object(value, Composer) if value is not None else chat.composer
        told = chat.composer.full_conversation_headers_only
    except ValueError as error:
        chat.fault(path, key, str(error))
    heads = parse_bubble_order(told) if told != JSON_NULL else dict.fromkeys(_by_time(db, path, cid, chat), False)
    chat.cwd = folder_of_head(chat.composer, workspace_storage(path)) or transcript.cwd
    if inside := split_elements(chat.composer.conversation):
        yield from _inline(path, cid, msgspec.Raw(msgspec.json.encode(inside)), chat)
        return
    for piece in _stored(db, path, cid, list(heads)[:most], chat):
        piece.is_simulated_msg = piece.is_simulated_msg or heads.get(piece.bubble_id or "", False)
        yield piece


def _row(db: sqlite3.Connection, key: str) -> tuple[bytes | None, bool]:
    """Returns a value (None for NULL) and whether its row exists. Raises ValueError if its page is damaged."""
    lost: list[int] = []
    found = next(read_rows(db, "cursorDiskKV", _VALUE, "key = ?", (key,), lost), None)
    if lost:
        raise ValueError(_DAMAGED)
    value = found[0] if found is not None else None
    return value if isinstance(value, bytes) else None, found is not None


def _inline(path: Path, cid: str, raw: msgspec.Raw, chat: _Chat) -> Iterator[Bubble]:
    for at, element in enumerate(split_elements(raw)):
        try:
            yield parse_bubble(element)
        except ValueError as error:
            chat.fault(path, f"{cid}[{at}]", str(error))


def _stored(db: sqlite3.Connection, path: Path, cid: str, wanted: list[str], chat: _Chat) -> Iterator[Bubble]:
    names = {named: f"bubbleId:{cid}:{named}" for named in wanted}
    span = (f"bubbleId:{cid}:", f"bubbleId:{cid};")
    lost: list[int] = []
    keys = {column_text(key) for (key,) in read_rows(db, "cursorDiskKV", "key", "key >= ? AND key < ?", span, lost)}
    chat.lost(path, lost)
    if missing := {named for named, key in names.items() if key not in keys}:
        names |= _misnamed(db, path, keys - set(names.values()), missing, chat)
    for named in wanted:
        key = names[named]
        if key not in keys:
            continue  # garbage-collected by Cursor
        try:
            value, _ = _row(db, key)
            if value is not None:
                piece = parse_bubble(value)
                piece.bubble_id = piece.bubble_id or named
                yield piece
        except ValueError as error:
            chat.fault(path, key, str(error))


def _misnamed(db: sqlite3.Connection, path: Path, keys: set[str], missing: set[str], chat: _Chat) -> dict[str, str]:
    """Finds bubbles stored under a key that differs from their id."""
    found: dict[str, str] = {}
    for key in sorted(keys):
        try:
            value, _ = _row(db, key)
        except ValueError as error:
            chat.fault(path, key, str(error))
            continue
        own = decode_leniently(value, Bubble).bubble_id if value is not None else None
        if own is not None and own in missing:
            found.setdefault(own, key)
    return found


def _by_time(db: sqlite3.Connection, path: Path, cid: str, chat: _Chat) -> list[str]:
    """Returns the ids of all bubbles of a chat without a readable order, sorted by time."""
    start = f"bubbleId:{cid}:"
    span = (start, f"bubbleId:{cid};")
    found: list[tuple[float, int, str]] = []
    lost: list[int] = []
    for key, row, value in read_rows(db, "cursorDiskKV", f"key, rowid, {_VALUE}", "key >= ? AND key < ?", span, lost):
        time = parse_cursor_time(decode_leniently(value, Bubble).created_at) if isinstance(value, bytes) else None
        found.append(
            (time.timestamp() if time else 0.0, row if isinstance(row, int) else 0, column_text(key)[len(start) :])
        )
    chat.lost(path, lost)
    return [named for _, _, named in sorted(found)]


def _older(composer: Composer) -> dict[str, CursorTool]:
    """Returns the tool calls that early versions stored in the composer, by bubble id."""
    if b"bubbleDataMap" not in bytes(composer.capabilities):
        return {}
    found: dict[str, CursorTool] = {}
    for capability in split_elements(composer.capabilities):
        data = parse_json_or_none(capability)
        kept = data.get("data") if isinstance(data, dict) else None
        told = kept.get("bubbleDataMap") if isinstance(kept, dict) else None
        calls = parse_json_or_none(msgspec.Raw(unwrap_json(msgspec.Raw(msgspec.json.encode(told)))))
        for key, call in calls.items() if isinstance(calls, dict) else ():
            found[str(key)] = decode_leniently(msgspec.json.encode(call), CursorTool)
    return found


def _body(db: sqlite3.Connection, path: Path, chat: _Chat, key: str) -> str | None:
    try:
        value, _ = _row(db, key) if key.startswith(_BODY) else (None, False)
    except ValueError as error:
        chat.fault(path, key, str(error))
        return None
    return column_text(value) if value is not None else None


def _nothing(_key: str) -> None:
    """Returns no file content: finding the folder of a chat does not need it."""


def _look(chat: _Chat, piece: Bubble, calls: tuple[ToolCall, ...]) -> None:
    """Records what a bubble reveals about the folder of its chat."""
    if chat.cwd:
        return
    if piece.workspace_uris != JSON_NULL:
        for raw in split_elements(piece.workspace_uris):
            found = parse_json_or_none(raw)
            folder = uri_to_path(found) if isinstance(found, str) else folder_of_uri(decode_leniently(raw, Uri))
            if folder:
                chat.cwd = folder
                return
    for block in split_elements(piece.code_blocks):
        if (uri := decode_leniently(block, CodeBlock).uri) is not None and (path := folder_of_uri(uri)):
            chat.seen.append(path)
    chat.seen += [path for call in calls for path in call.paths]


def _priced(session: Session, composer: Composer) -> Session:
    """Returns the session with the cost that Cursor recorded, if any."""
    used = parse_json_or_none(composer.usage_data)
    charges = (
        [decode_leniently(msgspec.json.encode(one), ModelCharge) for one in used.values()]
        if isinstance(used, dict)
        else []
    )
    cents = [one.cents for one in charges if one.cents is not None and one.cents >= 0]
    return replace(session, cost=round(sum(cents) / 100, 6)) if cents else session
