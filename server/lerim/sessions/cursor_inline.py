"""Chats that stand whole in the database of a workspace: the chat tabs of 2023, the composers of 2024."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from lerim.errors import LerimError, Problem
from lerim.sessions.broken_json import salvaged, shaped
from lerim.sessions.cursor_folders import common, of_storage, of_uri
from lerim.sessions.cursor_records import Bubble, CodeBlock, Composer, Head, Heads, Tab, Tabs, elements, whole
from lerim.sessions.live import read as look
from lerim.sessions.live_rows import columns
from lerim.sessions.model import Transcript
from lerim.sessions.shapes import read

CHATS = "workbench.panel.aichat.view.aichat.chatdata"
COMPOSERS = "composer.composerData"


def item(db: sqlite3.Connection, key: str) -> bytes:
    """One value of a database's table of items, by its exact key: others hold secrets."""
    if not columns(db, "ItemTable"):
        return b"null"
    row = db.execute("SELECT CAST(value AS BLOB) FROM ItemTable WHERE key = ?", (key,)).fetchone()
    return row[0] if row and isinstance(row[0], bytes) else b"null"


def inline(path: Path, storage: Path, problems: list[Problem]) -> list[Transcript]:
    """The chats that stand whole in a database, but for those that the database of all windows has by now."""
    faults: list[str] = []
    found = look(path, lambda db: _all(db, faults), problems)
    for key in dict.fromkeys(faults):
        problems.append(Problem("bad-row", f"{path}#{key}", "The chats in this row are damaged; whole ones were kept"))
    if not found:
        return []
    folder = of_storage(path.parent) or _shared(found.values())
    moved = (
        _moved(storage.parent / "globalStorage" / "state.vscdb", list(found))
        if path.parent.parent == storage
        else set()
    )
    transcripts = []
    for cid, raw in found.items():
        if cid not in moved:
            mark = zlib.crc32(folder.encode("utf-8", "surrogatepass"), zlib.crc32(raw))
            head, tab = read(raw, Head), read(raw, Tab)
            time = whole(head.last_updated_at) or whole(tab.sent) or whole(head.created_at)
            transcripts.append(Transcript("cursor", path, cid, len(raw), time * 1_000_000, mark, "", cid, folder))
    return transcripts


def _shared(chats: Iterable[msgspec.Raw]) -> str:
    """The folder of all files that the chats of a workspace speak of, where nothing else tells it any more."""
    bubbles = (read(raw, Bubble) for chat in chats for raw in elements(read(chat, Head).conversation))
    blocks = (read(raw, CodeBlock) for bubble in bubbles for raw in elements(bubble.code_blocks))
    return common(of_uri(block.uri) for block in blocks)


def one(db: sqlite3.Connection, cid: str) -> Composer | Tab | None:
    """The chat of that id, where it stands whole in this database."""
    raw = _all(db, []).get(cid)
    if raw is None:
        return None
    tab = read(raw, Tab)
    return tab if tab.id == cid else read(raw, Composer)


def _all(db: sqlite3.Connection, faults: list[str]) -> dict[str, msgspec.Raw]:
    found: dict[str, msgspec.Raw] = {}
    for raw in _parts(item(db, CHATS), "tabId", CHATS, faults):
        tab = read(raw, Tab)
        if tab.id and elements(tab.bubbles):
            found[tab.id] = raw
    for raw in _parts(item(db, COMPOSERS), "composerId", COMPOSERS, faults):
        head = read(raw, Head)
        if head.composer_id and elements(head.conversation):
            found[head.composer_id] = raw
    return found


def _parts(value: bytes, key: str, where: str, faults: list[str]) -> Iterator[msgspec.Raw]:
    if value == b"null":
        return
    try:
        yield from elements(shaped(value, Tabs).tabs if key == "tabId" else shaped(value, Heads).all_composers)
    except ValueError:
        faults.append(where)
        for whole_one in salvaged(value, key):
            yield msgspec.Raw(msgspec.json.encode(whole_one))


def _moved(path: Path, cids: list[str]) -> set[str]:
    """Those of the chats that the database of all windows holds."""

    def work(db: sqlite3.Connection) -> set[str]:
        if not columns(db, "cursorDiskKV"):
            return set()
        wanted = "SELECT 1 FROM cursorDiskKV WHERE key = ? AND value IS NOT NULL"
        return {cid for cid in cids if db.execute(wanted, (f"composerData:{cid}",)).fetchone()}

    try:
        return look(path, work, []) if path.is_file() else set()
    except (LerimError, OSError):
        return set()
