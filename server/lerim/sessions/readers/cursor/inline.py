"""Reads chats stored whole in the database of a workspace: the chat tabs of 2023, the composers of 2024."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from lerim.errors import LerimError, Problem
from lerim.sessions.model import Transcript
from lerim.sessions.readers.cursor.records import (
    ChatTab,
    ChatTabs,
    Composer,
    ComposerHead,
    ComposerHeads,
)
from lerim.sessions.readers.engine import (
    decode_leniently,
    find_workspace_folder,
    parse_object,
    plausible_count,
    salvage_objects,
    split_json_array,
)
from lerim.sessions.readers.live import read_database, table_columns

CHATS_KEY = "workbench.panel.aichat.view.aichat.chatdata"
COMPOSERS_KEY = "composer.composerData"
MAX_TIME_NS = (1 << 63) - 1
"""The largest time that the catalog can store."""


def read_item(db: sqlite3.Connection, key: str) -> bytes:
    """Returns one value of a database's `ItemTable`, or `null`. The key must match exactly, because other keys contain
    secrets."""
    if not table_columns(db, "ItemTable"):
        return b"null"
    row = db.execute("SELECT CAST(value AS BLOB) FROM ItemTable WHERE key = ?", (key,)).fetchone()
    return row[0] if row and isinstance(row[0], bytes) else b"null"


def find_inline_chats(path: Path, storage: Path, problems: list[Problem]) -> list[Transcript]:
    """Lists the chats stored whole in a database, except those that are by now in the global database."""
    chats, damaged_keys = read_database(path, _read_chats, problems)
    what = "Some chats in this row are damaged; the intact ones were used"
    problems += (Problem("bad-row", f"{path}#{key}", what) for key in damaged_keys)
    if not chats:
        return []
    folder = find_workspace_folder(path.parent)
    moved = (
        _find_moved(storage.parent / "globalStorage" / "state.vscdb", list(chats))
        if path.parent.parent == storage
        else set()
    )
    transcripts = []
    for chat_id, raw in chats.items():
        if chat_id not in moved:
            checksum = zlib.crc32(folder.encode("utf-8", "surrogatepass"), zlib.crc32(raw))
            head, tab = decode_leniently(raw, ComposerHead), decode_leniently(raw, ChatTab)
            time = (
                plausible_count(head.last_updated_at) or plausible_count(tab.sent) or plausible_count(head.created_at)
            )
            transcripts.append(
                Transcript(
                    "cursor", path, chat_id, len(raw), min(time * 1_000_000, MAX_TIME_NS), checksum, "", chat_id, folder
                )
            )
    return transcripts


def load_inline_chat(db: sqlite3.Connection, chat_id: str) -> Composer | None:
    """Returns the chat with that id, or None if this database does not contain it whole. A tab of 2023 is returned as a
    composer."""
    raw = _read_chats(db)[0].get(chat_id)
    if raw is None:
        return None
    tab = decode_leniently(raw, ChatTab)
    if tab.id != chat_id:
        return decode_leniently(raw, Composer)
    return Composer(composer_id=tab.id, name=tab.title, last_updated_at=tab.sent, conversation=tab.bubbles)


def _read_chats(db: sqlite3.Connection) -> tuple[Mapping[str, msgspec.Raw], tuple[str, ...]]:
    """Returns the chats of a database by their ids, and the keys of the rows that are damaged."""
    return _parse_chats(read_item(db, CHATS_KEY), read_item(db, COMPOSERS_KEY))


@lru_cache(maxsize=1)  # the chats of a database are read one after another, and all of them are in two rows
def _parse_chats(tabs: bytes, composers: bytes) -> tuple[Mapping[str, msgspec.Raw], tuple[str, ...]]:
    damaged_keys: list[str] = []
    chats: dict[str, msgspec.Raw] = {}
    for raw in _split_chats(tabs, "tabId", CHATS_KEY, damaged_keys):
        tab = decode_leniently(raw, ChatTab)
        if tab.id and split_json_array(tab.bubbles):
            chats[tab.id] = raw
    for raw in _split_chats(composers, "composerId", COMPOSERS_KEY, damaged_keys):
        head = decode_leniently(raw, ComposerHead)
        if head.composer_id and split_json_array(head.conversation):
            chats[head.composer_id] = raw
    return chats, tuple(damaged_keys)


def _split_chats(value: bytes, key: str, where: str, damaged_keys: list[str]) -> Iterator[msgspec.Raw]:
    if value == b"null":
        return
    try:
        yield from split_json_array(
            parse_object(value, ChatTabs).tabs if key == "tabId" else parse_object(value, ComposerHeads).all_composers
        )
    except ValueError:
        damaged_keys.append(where)
        for salvaged in salvage_objects(value, key):
            yield msgspec.Raw(salvaged)


def _find_moved(path: Path, chat_ids: list[str]) -> set[str]:
    def work(db: sqlite3.Connection) -> set[str]:
        if not table_columns(db, "cursorDiskKV"):
            return set()
        wanted = "SELECT 1 FROM cursorDiskKV WHERE key = ? AND value IS NOT NULL"
        return {chat_id for chat_id in chat_ids if db.execute(wanted, (f"composerData:{chat_id}",)).fetchone()}

    try:
        return read_database(path, work, []) if path.is_file() else set()
    except (LerimError, OSError):
        return set()
