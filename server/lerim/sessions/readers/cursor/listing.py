"""Lists the chats of a Cursor database, each with a stamp that changes whenever the chat does, from keys and lists
alone.

The stamp consists of the time in the chat's head, the rowid of its own row and the rowid of its newest bubble: Cursor
replaces rows, which gives them new rowids, and updates the time later than the content. Both rowids come from the index
of the keys, so no bubble is read. Own rows are read only for chats that are in no list and for those whose head may be
outdated (see `_completed`).
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
from lerim.sessions.readers.cursor.folders import folder_of_head, folder_of_storage, folder_of_uri
from lerim.sessions.readers.cursor.inline import COMPOSERS_KEY, find_inline_chats, read_item
from lerim.sessions.readers.cursor.records import (
    ComposerHead,
    ComposerHeads,
    CursorWindow,
    Uri,
    parse_count,
    parse_heads,
    split_elements,
)
from lerim.sessions.readers.engine import decode_leniently, parse_json_or_none, parse_object
from lerim.sessions.readers.live import (
    column_number,
    column_text,
    find_databases,
    is_table_missing,
    keep_newest_sessions,
    missing_tables_error,
    read_rows,
    table_columns,
)
from lerim.sessions.readers.live import read_database as look

_STORAGE = "workspaceStorage"
HEADS_KEY = "composer.composerHeaders"
_PANE = "workbench.panel.composerChatViewPane"
_IN_PANE = re.compile(rb"workbench\.panel\.aichat\.view\.([0-9A-Za-z-]{8,64})")
_PROJECTS = "glass.localAgentProjects.v1"
_MEMBERS = "glass.localAgentProjectMembership.v1"
_NEWEST = (
    "(SELECT max(b.rowid) FROM cursorDiskKV AS b"
    " WHERE b.key > 'bubbleId:' || substr(c.key, 14) || ':' AND b.key < 'bubbleId:' || substr(c.key, 14) || ';')"
)
_LATE = 200
"""How many of the most recently used chats have their own rows read in addition to their heads."""
_LONG = 256 * 1024
_NONE = len("null")
"""The longest a JSON array can be, in characters, if it is empty or `null`."""
_CHATS = "c.key >= 'composerData:' AND c.key < 'composerData;'"


@dataclass(slots=True)
class KnownChat:
    """What is known about a chat without its bubbles. `placed`: its window is known, even if that has no folder."""

    updated: int = 0
    folder: str = ""
    parent: str = ""
    placed: bool = False


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
    keys = look(path, lambda db: _keys(db, storage), problems)
    for row in keys.lost:
        problems.append(Problem("bad-row", f"{path}@{row}", "A row of this database is damaged and was skipped"))
    shown = keep_newest_sessions(database, keys.rows, lambda row: (row[2], row[1]), problems)
    keys = keys._replace(rows=shown)
    chats = _completed(path, storage, keys, problems)
    transcripts = [_transcript(path, cid, chats[cid], own, newest) for cid, own, newest in keys.rows if cid in chats]
    transcripts += find_inline_chats(path, storage, problems)
    if lacking := look(path, lambda db: _lacking(db, path), problems):
        if not transcripts:
            raise missing_tables_error(path)
        problems.append(Problem("unreadable", str(path), f"This database lacks its table {lacking}"))
    return transcripts, problems


def _lacking(db: sqlite3.Connection, path: Path) -> str:
    """Returns the first table that Cursor creates in every database of this kind but that is missing, or ''. Workspace
    databases originally had only `ItemTable`."""
    made = ("ItemTable", "cursorDiskKV") if path.parent.name == "globalStorage" else ("ItemTable",)
    return next((table for table in made if is_table_missing(db, table)), "")


def _transcript(path: Path, cid: str, known: KnownChat, own: int, newest: int) -> Transcript:
    mark = zlib.crc32(f"{own}\n{known.folder}".encode("utf-8", "surrogatepass"))
    time = known.updated * 1_000_000
    return Transcript("cursor", path, cid, newest, time, mark, known.parent, cid, known.folder)


def workspace_storage(path: Path) -> Path:
    """Returns the `workspaceStorage` folder that belongs to a database."""
    above = path.parent.parent
    return above if above.name == _STORAGE else above / _STORAGE


_Row = tuple[str, int, int]
"""A chat's id, its rowid, and the rowid of its newest bubble."""


class _Keys(NamedTuple):
    """The chats of a database by key, and their heads. `replaced`: writing a row gives it a new rowid."""

    rows: list[_Row]
    heads: dict[str, KnownChat]
    lost: list[int]
    replaced: bool


def _keys(db: sqlite3.Connection, storage: Path) -> _Keys:
    lost: list[int] = []
    if not table_columns(db, "cursorDiskKV"):
        return _Keys([], {}, lost, True)
    (made,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'cursorDiskKV'").fetchone()
    wanted = f"substr(c.key, 14), c.rowid, {_NEWEST}"
    told = read_rows(db, "cursorDiskKV AS c", wanted, _CHATS, (), lost)
    found = [
        (column_text(cid), own, new or 0)
        for cid, own, new in told
        if isinstance(own, int) and isinstance(new, int | None)
    ]
    return _Keys(found, _heads(db, storage) if found else {}, lost, "ON CONFLICT REPLACE" in column_text(made).upper())


def _completed(path: Path, storage: Path, keys: _Keys, problems: list[Problem]) -> dict[str, KnownChat]:
    """Returns what is known about each chat: from its head, else from the workspace databases of 2025, else from its
    own row.

    Heads are written late, so the own rows of the most recently used chats are read too, or of all chats if rows are
    changed in place.
    """
    heads = keys.heads
    missing = [cid for cid, _, _ in keys.rows if cid not in heads]
    told = load_workspace_references(storage) if missing and not heads else {}
    chats = {cid: heads[cid] for cid, _, _ in keys.rows if cid in heads}
    chats |= {cid: told[cid] for cid in missing if cid in told and told[cid].updated}
    rest = [cid for cid in missing if cid not in chats]
    late = nlargest(_LATE, chats, key=lambda cid: chats[cid].updated) if keys.replaced else list(chats)
    emptied: frozenset[str] = frozenset()
    if rest or late:
        outlines, lost, emptied = look(path, lambda db: _outlines(db, rest + late, storage), problems)
        chats |= {cid: _both(one, chats.get(cid)) for cid, one in outlines.items()}
        damaged = frozenset(lost)
        chats |= {cid: KnownChat() for cid, own, _ in keys.rows if own in damaged and cid not in chats}
    read = {*rest, *late}
    bare = [(cid, own) for cid, own, newest in keys.rows if not newest and cid in chats]
    unread = [(cid, own) for cid, own in bare if cid not in read]
    emptied |= look(path, lambda db: _emptied(db, unread), problems) if unread else frozenset()
    for cid, _ in bare:
        if cid in emptied:
            del chats[cid]
    if any(not known.placed for known in chats.values()):
        told = told or load_workspace_references(storage)
        for cid, known in chats.items():
            if not known.placed and cid in told:
                known.folder = told[cid].folder
    for known in chats.values():
        if not known.folder and known.parent in chats:
            known.folder = chats[known.parent].folder
    return chats


def _both(one: KnownChat, other: KnownChat | None) -> KnownChat:
    """Merges two records of a chat; the first takes precedence."""
    if other is None:
        return one
    return KnownChat(
        max(one.updated, other.updated),
        one.folder or other.folder,
        one.parent or other.parent,
        one.placed or other.placed,
    )


def _known(head: ComposerHead, storage: Path, folders: dict[object, str]) -> KnownChat:
    window = head.workspace_identifier
    if window is None:
        folder = folder_of_head(head, storage)
    else:
        uri = window.uri
        place = (uri.fs_path, uri.external, uri.scheme) if isinstance(uri, Uri) else (uri, window.id)
        kept = folders.get(place)
        folder = folders[place] = folder_of_head(head, storage) if kept is None else kept
    sub = head.subagent_info
    updated = parse_count(head.last_updated_at or head.created_at)
    return KnownChat(updated, folder, (sub.parent or "") if sub is not None else "", bool(folder) or window is not None)


def _heads(db: sqlite3.Connection, storage: Path) -> dict[str, KnownChat]:
    """Returns the heads in the lists for all windows: the table of 3.12 and the older list, which is written late."""
    folders: dict[object, str] = {}
    found: dict[str, KnownChat] = {}
    for head in parse_heads(decode_leniently(read_item(db, HEADS_KEY), ComposerHeads).all_composers):
        found[head.composer_id or ""] = _known(head, storage, folders)
    for cid, updated, window, value in _table(db):
        head = decode_leniently(value, ComposerHead)
        if head.workspace_identifier is None and window:
            head.workspace_identifier = CursorWindow(id=window)
        known = _known(head, storage, folders)
        known.updated = updated or known.updated
        found[cid] = _both(known, found.get(cid))
    for cid, folder in _members(db).items():
        if cid in found and not found[cid].folder:
            found[cid].folder, found[cid].placed = folder, True
    return found


def _table(db: sqlite3.Connection) -> Iterable[tuple[str, int, str, bytes]]:
    there = table_columns(db, "composerHeaders")
    if "composerId" not in there:
        return
    names = ("composerId", "lastUpdatedAt", "workspaceId", "value")
    wanted = ", ".join(name if name in there else "NULL" for name in names)
    for cid, updated, window, value in read_rows(db, "composerHeaders", wanted, "1", (), []):
        yield (
            column_text(cid),
            column_number(updated),
            column_text(window),
            value if isinstance(value, bytes) else b"{}",
        )


def _members(db: sqlite3.Connection) -> dict[str, str]:
    """Returns the folders of chats according to the lists of the agents window."""
    members = parse_json_or_none(msgspec.Raw(read_item(db, _MEMBERS)))
    if not isinstance(members, dict):
        return {}
    projects = (decode_leniently(raw, _Project) for raw in split_elements(msgspec.Raw(read_item(db, _PROJECTS))))
    folders = {one.id: folder_of_uri(one.workspace.uri if one.workspace else one.uri) for one in projects}
    return {str(cid): folders[one] for cid, one in members.items() if isinstance(one, str) and folders.get(one)}


def _outlines(
    db: sqlite3.Connection, cids: list[str], storage: Path
) -> tuple[dict[str, KnownChat], list[int], frozenset[str]]:
    """Returns what the chats' own rows contain, without chats that were deleted or never begun.

    Also returns the rowids that cannot be read, and the chats whose own row contains no conversation (see `_emptied`).
    """
    folders: dict[object, str] = {}
    named = msgspec.json.encode(cids).decode()
    there = "key IN (SELECT 'composerData:' || value FROM json_each(?))"
    lost: list[int] = []
    emptied: set[str] = set()
    found: dict[str, KnownChat] = {}
    for key, value in read_rows(db, "cursorDiskKV", "substr(key, 14), value", there, (named,), lost):
        if not isinstance(value, bytes):
            emptied.update([column_text(key)] if value is None else [])
            continue
        try:
            head = parse_object(value, ComposerHead)
        except ValueError:
            found[column_text(key)] = KnownChat()
            continue
        if len(value) <= _LONG and len(bytes(head.conversation)) <= _NONE:
            emptied.add(column_text(key))
        if any(len(bytes(one)) > _NONE for one in (head.full_conversation_headers_only, head.conversation)):
            found[column_text(key)] = _known(head, storage, folders)
    return found, lost, frozenset(emptied)


def _emptied(db: sqlite3.Connection, chats: list[tuple[str, int]]) -> frozenset[str]:
    """Returns those of the given chats without bubbles whose own row contains no conversation either. They were cleared
    and must not hide what a file still contains of them. Long rows contain a conversation and are not read."""
    found: list[str] = []
    for cid, own in chats:
        kind = db.execute("SELECT typeof(value) FROM cursorDiskKV WHERE rowid = ?", (own,)).fetchone()
        if kind == (b"null",):
            found.append(cid)
        if kind not in ((b"text",), (b"blob",)):
            continue
        try:
            with db.blobopen("cursorDiskKV", "value", own, readonly=True) as value:
                head = parse_object(value.read(), ComposerHead) if len(value) <= _LONG else None
        except (sqlite3.Error, ValueError):
            continue  # reported when the chat is read
        if head is not None and len(bytes(head.conversation)) <= _NONE:
            found.append(cid)
    return frozenset(found)


def load_workspace_references(storage: Path) -> dict[str, KnownChat]:
    """Returns the folders of chats according to the workspace databases: their lists of composers, open tabs and panes.

    Skips databases that cannot be read: they are reported when they are listed themselves.
    """
    try:
        places = [one / "state.vscdb" for one in sorted(storage.iterdir())]
    except OSError:
        return {}
    found: dict[str, KnownChat] = {}
    for database in find_databases("cursor", places, []):
        folder = folder_of_storage(database.path.parent)
        if not folder:
            continue
        try:
            told = look(database.path, _referenced, [])
        except LerimError:
            continue
        for cid, updated in told.items():
            known = found.setdefault(cid, KnownChat(folder=folder, placed=True))
            known.updated = max(known.updated, updated)
    return found


def _referenced(db: sqlite3.Connection) -> dict[str, int]:
    kept = decode_leniently(read_item(db, COMPOSERS_KEY), ComposerHeads)
    told = {
        head.composer_id or "": parse_count(head.last_updated_at) or parse_count(head.created_at)
        for head in parse_heads(kept.all_composers)
    }
    selected = parse_json_or_none(kept.selected_composer_ids)
    panes = read_rows(db, "ItemTable", "value", "key >= ? AND key < ?", (_PANE, f"{_PANE[:-1]}f"), [])
    others = [one for one in selected if isinstance(one, str)] if isinstance(selected, list) else []
    others += [cid.decode() for (value,) in panes if isinstance(value, bytes) for cid in _IN_PANE.findall(value)]
    others += [cid for cid, _, _, _ in _table(db)]
    for cid in (*others, kept.selected_composer_id or ""):
        told.setdefault(cid, 0)
    return told
