"""Lists the chats of a Cursor database from keys and lists alone. Each chat has a stamp that changes whenever the chat
does.

The stamp consists of the time in the chat's head, the rowid of its own row, the number of its bubbles, and the rowid
of the newest bubble. Cursor replaces rows, which gives them new rowids, and updates the time only after the content.
All but the time comes from the index of the keys, so no bubble is read. A chat's own row is read only for chats that
are in no list and for those whose head may be outdated (see `_complete_chats`).
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path
from typing import NamedTuple

import msgspec

from lerim.errors import LerimError, Problem
from lerim.sessions.model import Database, Transcript
from lerim.sessions.readers.cursor.folders import folder_of_head, folder_of_uri
from lerim.sessions.readers.cursor.inline import COMPOSERS_KEY, MAX_TIME_NS, find_inline_chats, read_item
from lerim.sessions.readers.cursor.records import (
    ComposerHead,
    ComposerHeads,
    CursorWindow,
    Uri,
    parse_heads,
)
from lerim.sessions.readers.engine import (
    decode_leniently,
    find_workspace_folder,
    parse_json_or_none,
    parse_object,
    plausible_count,
    split_json_array,
)
from lerim.sessions.readers.live import (
    column_number,
    column_text,
    find_databases,
    is_table_missing,
    keep_newest_sessions,
    missing_tables_error,
    read_database,
    read_rows,
    table_columns,
)

_STORAGE_NAME = "workspaceStorage"
HEADS_KEY = "composer.composerHeaders"
_PANE_KEY = "workbench.panel.composerChatViewPane"
_CHAT_IN_PANE = re.compile(rb"workbench\.panel\.aichat\.view\.([0-9A-Za-z-]{8,64})")
_PROJECTS_KEY = "glass.localAgentProjects.v1"
_MEMBERSHIP_KEY = "glass.localAgentProjectMembership.v1"
_FROM_BUBBLES = (
    "FROM cursorDiskKV AS b"
    " WHERE b.key > 'bubbleId:' || substr(c.key, 14) || ':' AND b.key < 'bubbleId:' || substr(c.key, 14) || ';'"
)
_BUBBLE_BYTES = 3072
"""The approximate size of a bubble, used to estimate the size of a chat without reading it."""
_REREAD_CHATS = 200
"""How many of the most recently used chats have their own rows read in addition to their heads."""
_ROW_LIMIT = 256 * 1024
_EMPTY_LENGTH = len("null")
"""The maximum length in characters of a JSON array that is empty or `null`."""
_IS_CHAT_KEY = "c.key >= 'composerData:' AND c.key < 'composerData;'"


@dataclass(slots=True)
class KnownChat:
    """A chat as far as it is known without its bubbles. `has_window`: its window is known, even if that window has
    no folder."""

    updated: int = 0
    folder: str = ""
    parent: str = ""
    has_window: bool = False


class _Project(msgspec.Struct, gc=False):
    id: str | None = ""
    workspace: CursorWindow | None = None
    uri: Uri | str | None = None


def list_editor_chats(database: Database) -> tuple[list[Transcript], list[Problem]]:
    """Returns the chats in a database, and its unreadable rows as problems. Raises TranscriptError if it cannot be
    opened."""
    path = database.path
    problems: list[Problem] = []
    storage = workspace_storage(path)
    keys = read_database(path, lambda db: _read_chat_keys(db, storage), problems)
    for row in keys.lost:
        problems.append(Problem("bad-row", f"{path}@{row}", "A row of this database is damaged and was skipped"))
    newest = keep_newest_sessions(database, keys.rows, lambda row: (row.newest, row.rowid), problems)
    chats = _complete_chats(path, storage, keys._replace(rows=newest), problems)
    transcripts = [_build_transcript(path, row, chats[row.chat_id]) for row in newest if row.chat_id in chats]
    transcripts += find_inline_chats(path, storage, problems)
    if missing_table := read_database(path, lambda db: _find_missing_table(db, path), problems):
        if not transcripts:
            raise missing_tables_error(path)
        problems.append(Problem("unreadable", str(path), f"This database lacks its table {missing_table}"))
    return transcripts, problems


def _find_missing_table(db: sqlite3.Connection, path: Path) -> str:
    """Returns the first missing table of those that Cursor creates in every database of this kind, or '' if none is
    missing. Workspace databases originally had only `ItemTable`."""
    tables = ("ItemTable", "cursorDiskKV") if path.parent.name == "globalStorage" else ("ItemTable",)
    return next((table for table in tables if is_table_missing(db, table)), "")


def _build_transcript(path: Path, row: _ChatRow, known: KnownChat) -> Transcript:
    checksum = zlib.crc32(f"{row.rowid}\n{row.newest}\n{known.folder}".encode("utf-8", "surrogatepass"))
    size, time = max(row.bubbles, 1) * _BUBBLE_BYTES, min(known.updated * 1_000_000, MAX_TIME_NS)
    return Transcript("cursor", path, row.chat_id, size, time, checksum, known.parent, row.chat_id, known.folder)


def workspace_storage(path: Path) -> Path:
    """Returns the `workspaceStorage` folder that belongs to a database."""
    user_folder = path.parent.parent
    return user_folder if user_folder.name == _STORAGE_NAME else user_folder / _STORAGE_NAME


class _ChatRow(NamedTuple):
    """A chat's id, its rowid, the rowid of its newest bubble (0 if it has none), and how many it has."""

    chat_id: str
    rowid: int
    newest: int
    bubbles: int


class _ChatKeys(NamedTuple):
    """The chats of a database by key, and their heads. `replaced`: writing a row gives it a new rowid."""

    rows: list[_ChatRow]
    heads: dict[str, KnownChat]
    lost: list[int]
    replaced: bool


def _read_chat_keys(db: sqlite3.Connection, storage: Path) -> _ChatKeys:
    lost: list[int] = []
    if not table_columns(db, "cursorDiskKV"):
        return _ChatKeys([], {}, lost, True)
    (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'cursorDiskKV'").fetchone()
    bubbles = f"(SELECT max(b.rowid) {_FROM_BUBBLES}), (SELECT count(*) {_FROM_BUBBLES})"
    rows = read_rows(db, "cursorDiskKV AS c", f"substr(c.key, 14), c.rowid, {bubbles}", _IS_CHAT_KEY, (), lost)
    chat_rows = [_ChatRow(column_text(chat_id), *map(column_number, numbers)) for chat_id, *numbers in rows]
    return _ChatKeys(
        chat_rows,
        _read_heads(db, storage) if chat_rows else {},
        lost,
        "ON CONFLICT REPLACE" in column_text(sql).upper(),
    )


def _complete_chats(path: Path, storage: Path, keys: _ChatKeys, problems: list[Problem]) -> dict[str, KnownChat]:
    """Returns what is known about each chat: from its head, else from the workspace databases of 2025, else from its
    own row.

    Heads are written late, so the chats' own rows are read too: those of the most recently used chats, or of all
    chats if rows are changed in place.
    """
    heads = keys.heads
    missing = [row.chat_id for row in keys.rows if row.chat_id not in heads]
    references = load_workspace_references(storage) if missing and not heads else {}
    chats = {row.chat_id: heads[row.chat_id] for row in keys.rows if row.chat_id in heads}
    chats |= {
        chat_id: references[chat_id] for chat_id in missing if chat_id in references and references[chat_id].updated
    }
    unknown = [chat_id for chat_id in missing if chat_id not in chats]
    reread = (
        nlargest(_REREAD_CHATS, chats, key=lambda chat_id: chats[chat_id].updated) if keys.replaced else list(chats)
    )
    if unknown or reread:
        outlines, lost = read_database(path, lambda db: _read_own_rows(db, unknown + reread, storage), problems)
        chats |= {chat_id: _merge_chats(one, chats.get(chat_id)) for chat_id, one in outlines.items()}
        damaged = frozenset(lost)
        chats |= {one.chat_id: KnownChat() for one in keys.rows if one.rowid in damaged and one.chat_id not in chats}
    if without_bubbles := [one for one in keys.rows if not one.bubbles and one.chat_id in chats]:
        for chat_id in read_database(path, lambda db: _find_emptied(db, without_bubbles), problems):
            del chats[chat_id]
    if any(not known.has_window for known in chats.values()):
        references = references or load_workspace_references(storage)
        for chat_id, known in chats.items():
            if not known.has_window and chat_id in references:
                known.folder = references[chat_id].folder
    for known in chats.values():
        if not known.folder and known.parent in chats:
            known.folder = chats[known.parent].folder
    return chats


def _merge_chats(one: KnownChat, other: KnownChat | None) -> KnownChat:
    """Merges two records of a chat; the first takes precedence."""
    if other is None:
        return one
    return KnownChat(
        max(one.updated, other.updated),
        one.folder or other.folder,
        one.parent or other.parent,
        one.has_window or other.has_window,
    )


def _parse_head(head: ComposerHead, storage: Path, folders: dict[object, str]) -> KnownChat:
    window = head.workspace_identifier
    if window is None:
        folder = folder_of_head(head, storage)
    else:
        uri = window.uri
        window_key = (uri.fs_path, uri.external, uri.scheme) if isinstance(uri, Uri) else (uri, window.id)
        known_folder = folders.get(window_key)
        folder = folders[window_key] = folder_of_head(head, storage) if known_folder is None else known_folder
    subagent = head.subagent_info
    updated = plausible_count(head.last_updated_at or head.created_at)
    return KnownChat(
        updated, folder, (subagent.parent or "") if subagent is not None else "", bool(folder) or window is not None
    )


def _read_heads(db: sqlite3.Connection, storage: Path) -> dict[str, KnownChat]:
    """Returns the heads in the lists for all windows: the table of 3.12 and the older list, which is written late."""
    folders: dict[object, str] = {}
    chats: dict[str, KnownChat] = {}
    for head in parse_heads(decode_leniently(read_item(db, HEADS_KEY), ComposerHeads).all_composers):
        chats[head.composer_id or ""] = _parse_head(head, storage, folders)
    for chat_id, updated, window, value in _read_head_table(db):
        head = decode_leniently(value, ComposerHead)
        if head.workspace_identifier is None and window:
            head.workspace_identifier = CursorWindow(id=window)
        chat = _parse_head(head, storage, folders)
        chat.updated = updated or chat.updated
        chats[chat_id] = _merge_chats(chat, chats.get(chat_id))
    for chat_id, folder in _read_project_folders(db).items():
        if chat_id in chats and not chats[chat_id].folder:
            chats[chat_id].folder, chats[chat_id].has_window = folder, True
    return chats


def _read_head_table(db: sqlite3.Connection) -> Iterable[tuple[str, int, str, bytes]]:
    columns = table_columns(db, "composerHeaders")
    if "composerId" not in columns:
        return
    names = ("composerId", "lastUpdatedAt", "workspaceId", "value")
    selection = ", ".join(name if name in columns else "NULL" for name in names)
    for chat_id, updated, window, value in read_rows(db, "composerHeaders", selection, "1", (), []):
        yield (
            column_text(chat_id),
            column_number(updated),
            column_text(window),
            value if isinstance(value, bytes) else b"{}",
        )


def _read_project_folders(db: sqlite3.Connection) -> dict[str, str]:
    """Returns the folders of chats according to the lists of the agents window."""
    members = parse_json_or_none(msgspec.Raw(read_item(db, _MEMBERSHIP_KEY)))
    if not isinstance(members, dict):
        return {}
    projects = (decode_leniently(raw, _Project) for raw in split_json_array(msgspec.Raw(read_item(db, _PROJECTS_KEY))))
    folders = {one.id: folder_of_uri(one.workspace.uri if one.workspace else one.uri) for one in projects}
    return {str(chat_id): folders[one] for chat_id, one in members.items() if isinstance(one, str) and folders.get(one)}


def _read_own_rows(db: sqlite3.Connection, cids: list[str], storage: Path) -> tuple[dict[str, KnownChat], list[int]]:
    """Returns the contents of the chats' own rows, without chats that were deleted or never begun, and the rowids of
    rows that cannot be read."""
    folders: dict[object, str] = {}
    named = msgspec.json.encode(cids).decode()
    columns = "key IN (SELECT 'composerData:' || value FROM json_each(?))"
    lost: list[int] = []
    found: dict[str, KnownChat] = {}
    for key, value in read_rows(db, "cursorDiskKV", "substr(key, 14), value", columns, (named,), lost):
        if not isinstance(value, bytes):
            continue
        try:
            head = parse_object(value, ComposerHead)
        except ValueError:
            found[column_text(key)] = KnownChat()
            continue
        if any(len(bytes(one)) > _EMPTY_LENGTH for one in (head.full_conversation_headers_only, head.conversation)):
            found[column_text(key)] = _parse_head(head, storage, folders)
    return found, lost


def _find_emptied(db: sqlite3.Connection, chats: list[_ChatRow]) -> list[str]:
    """Returns, of the given chats without bubbles, those whose own row contains no conversation either. They were
    cleared, and must not hide what is still in a file of theirs. Long rows contain a conversation and are not read."""
    emptied: list[str] = []
    for chat_id, rowid, _, _ in chats:
        kind = db.execute("SELECT typeof(value) FROM cursorDiskKV WHERE rowid = ?", (rowid,)).fetchone()
        if kind == (b"null",):
            emptied.append(chat_id)
        if kind not in ((b"text",), (b"blob",)):
            continue
        try:
            with db.blobopen("cursorDiskKV", "value", rowid, readonly=True) as value:
                head = parse_object(value.read(), ComposerHead) if len(value) <= _ROW_LIMIT else None
        except (sqlite3.Error, ValueError):
            continue  # reported when the chat is read
        if head is not None and len(bytes(head.conversation)) <= _EMPTY_LENGTH:
            emptied.append(chat_id)
    return emptied


def load_workspace_references(storage: Path) -> dict[str, KnownChat]:
    """Returns the folders of chats according to the workspace databases: their lists of composers, open tabs and panes.

    Skips databases that cannot be read: they are reported when they are listed themselves.
    """
    try:
        paths = [one / "state.vscdb" for one in sorted(storage.iterdir())]
    except OSError:
        return {}
    chats: dict[str, KnownChat] = {}
    for database in find_databases("cursor", paths, []):
        folder = find_workspace_folder(database.path.parent)
        if not folder:
            continue
        try:
            references = read_database(database.path, _read_references, [])
        except LerimError:
            continue
        for chat_id, updated in references.items():
            chat = chats.setdefault(chat_id, KnownChat(folder=folder, has_window=True))
            chat.updated = max(chat.updated, updated)
    return chats


def _read_references(db: sqlite3.Connection) -> dict[str, int]:
    composers = decode_leniently(read_item(db, COMPOSERS_KEY), ComposerHeads)
    updated_by_chat = {
        head.composer_id or "": plausible_count(head.last_updated_at) or plausible_count(head.created_at)
        for head in parse_heads(composers.all_composers)
    }
    selected = parse_json_or_none(composers.selected_composer_ids)
    panes = read_rows(db, "ItemTable", "value", "key >= ? AND key < ?", (_PANE_KEY, f"{_PANE_KEY[:-1]}f"), [])
    other_ids = [one for one in selected if isinstance(one, str)] if isinstance(selected, list) else []
    other_ids += [
        chat_id.decode() for (value,) in panes if isinstance(value, bytes) for chat_id in _CHAT_IN_PANE.findall(value)
    ]
    other_ids += [chat_id for chat_id, _, _, _ in _read_head_table(db)]
    for chat_id in (*other_ids, composers.selected_composer_id or ""):
        updated_by_chat.setdefault(chat_id, 0)
    return updated_by_chat
