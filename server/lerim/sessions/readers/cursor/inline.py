"""Reads chats stored whole in the database of a workspace: the chat tabs of 2023, the composers of 2024."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from lerim.errors import LerimError, Problem
from lerim.sessions.model import Transcript
from lerim.sessions.readers.cursor.folders import common_folder, folder_of_storage, folder_of_uri
from lerim.sessions.readers.cursor.records import (
    Bubble,
    ChatTab,
    ChatTabs,
    CodeBlock,
    Composer,
    ComposerHead,
    ComposerHeads,
    parse_count,
    split_elements,
)
from lerim.sessions.readers.engine import decode_leniently, parse_object, salvage_objects
from lerim.sessions.readers.live import read_database as look
from lerim.sessions.readers.live import table_columns

CHATS_KEY = "workbench.panel.aichat.view.aichat.chatdata"
COMPOSERS_KEY = "composer.composerData"


def read_item(db: sqlite3.Connection, key: str) -> bytes:
    """Returns one value of a database's `ItemTable`, or `null`. The key must match exactly, because other keys contain
    secrets."""
    if not table_columns(db, "ItemTable"):
        return b"null"
    row = db.execute("SELECT CAST(value AS BLOB) FROM ItemTable WHERE key = ?", (key,)).fetchone()
    return row[0] if row and isinstance(row[0], bytes) else b"null"


def find_inline_chats(path: Path, storage: Path, problems: list[Problem]) -> list[Transcript]:
    """Lists the chats stored whole in a database, except those that the global database contains by now."""
    faults: list[str] = []
    found = look(path, lambda db: _all(db, faults), problems)
    for key in dict.fromkeys(faults):
        problems.append(
            Problem("bad-row", f"{path}#{key}", ("Some chats in this row are damaged; the intact ones were used"))
        )
    if not found:
        return []
    folder = folder_of_storage(path.parent) or _shared(found.values())
    moved = (
        _moved(storage.parent / "globalStorage" / "state.vscdb", list(found))
        if path.parent.parent == storage
        else set()
    )
    transcripts = []
    for cid, raw in found.items():
        if cid not in moved:
            mark = zlib.crc32(folder.encode("utf-8", "surrogatepass"), zlib.crc32(raw))
            head, tab = decode_leniently(raw, ComposerHead), decode_leniently(raw, ChatTab)
            time = parse_count(head.last_updated_at) or parse_count(tab.sent) or parse_count(head.created_at)
            transcripts.append(Transcript("cursor", path, cid, len(raw), time * 1_000_000, mark, "", cid, folder))
    return transcripts


def _shared(chats: Iterable[msgspec.Raw]) -> str:
    """Returns the folder common to all files that a workspace's chats mention, used if nothing else names its folder
    any more."""
    bubbles = (
        decode_leniently(raw, Bubble)
        for chat in chats
        for raw in split_elements(decode_leniently(chat, ComposerHead).conversation)
    )
    blocks = (decode_leniently(raw, CodeBlock) for bubble in bubbles for raw in split_elements(bubble.code_blocks))
    return common_folder(folder_of_uri(block.uri) for block in blocks)


def load_inline_chat(db: sqlite3.Connection, cid: str) -> Composer | ChatTab | None:
    """Returns the chat with that id, or None if this database does not contain it whole."""
    raw = _all(db, []).get(cid)
    if raw is None:
        return None
    tab = decode_leniently(raw, ChatTab)
    return tab if tab.id == cid else decode_leniently(raw, Composer)


def _all(db: sqlite3.Connection, faults: list[str]) -> dict[str, msgspec.Raw]:
    found: dict[str, msgspec.Raw] = {}
    for raw in _parts(read_item(db, CHATS_KEY), "tabId", CHATS_KEY, faults):
        tab = decode_leniently(raw, ChatTab)
        if tab.id and split_elements(tab.bubbles):
            found[tab.id] = raw
    for raw in _parts(read_item(db, COMPOSERS_KEY), "composerId", COMPOSERS_KEY, faults):
        head = decode_leniently(raw, ComposerHead)
        if head.composer_id and split_elements(head.conversation):
            found[head.composer_id] = raw
    return found


def _parts(value: bytes, key: str, where: str, faults: list[str]) -> Iterator[msgspec.Raw]:
    if value == b"null":
        return
    try:
        yield from split_elements(
            parse_object(value, ChatTabs).tabs if key == "tabId" else parse_object(value, ComposerHeads).all_composers
        )
    except ValueError:
        faults.append(where)
        for whole_one in salvage_objects(value, key):
            yield msgspec.Raw(msgspec.json.encode(whole_one))


def _moved(path: Path, cids: list[str]) -> set[str]:
    """Returns the ids of the chats that the global database contains."""

    def work(db: sqlite3.Connection) -> set[str]:
        if not table_columns(db, "cursorDiskKV"):
            return set()
        wanted = "SELECT 1 FROM cursorDiskKV WHERE key = ? AND value IS NOT NULL"
        return {cid for cid in cids if db.execute(wanted, (f"composerData:{cid}",)).fetchone()}

    try:
        return look(path, work, []) if path.is_file() else set()
    except (LerimError, OSError):
        return set()
