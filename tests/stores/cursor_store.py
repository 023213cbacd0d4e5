"""Stores of Cursor made for tests: the database of all windows, of one workspace, of a chat of the command line."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import independent_cursor as independent
import reading_laws as laws
from lerim.errors import Problem
from lerim.sessions.model import Session, Transcript, Turn
from lerim.sessions.readers.cursor import store as cursor

KEYS = "key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB"
CID = "11111111-2222-4333-8444-555555555555"


class Editor:
    """A `User` folder of the editor."""

    def __init__(self, root: Path, keys: str = KEYS) -> None:
        self.root = root
        self.keys = keys
        self.all = root / "globalStorage" / "state.vscdb"
        self._make(self.all)

    @contextlib.contextmanager
    def open(self, path: Path | None = None) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction, after which the file is dated back."""
        path = path or self.all
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path)
        db.execute("PRAGMA synchronous = OFF")
        with contextlib.closing(db), db:
            yield db
        dated_back(path)

    def _make(self, path: Path) -> None:
        with self.open(path) as db:
            for table in ("ItemTable", "cursorDiskKV"):
                db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({self.keys})")

    def put(self, key: str, value: Any, *, table: str = "cursorDiskKV", path: Path | None = None) -> None:
        """A row; what is no text, bytes or None is written as JSON."""
        with self.open(path) as db:
            db.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (key, _raw(value)))

    def run(self, sql: str, given: Sequence[Any] = (), path: Path | None = None) -> None:
        with self.open(path) as db:
            db.execute(sql, given)

    def chat(self, bubbles: Sequence[dict[str, Any]], cid: str = CID, **fields: Any) -> str:
        """A chat of 2025 and later: its composer, and a row a bubble."""
        order = [{"bubbleId": one["bubbleId"], "type": one["type"]} for one in bubbles]
        composer = {"_v": 13, "composerId": cid, "createdAt": 1771682203557, "lastUpdatedAt": 1771742091550}
        rows = [(f"composerData:{cid}", {**composer, "fullConversationHeadersOnly": order, **fields})]
        rows += [(f"bubbleId:{cid}:{one['bubbleId']}", one) for one in bubbles]
        with self.open() as db:
            db.executemany(
                "INSERT OR REPLACE INTO cursorDiskKV VALUES (?, ?)", [(key, _raw(value)) for key, value in rows]
            )
        return cid

    def workspace(self, name: str, folder: str | None, **items: Any) -> Path:
        """A workspace; `items` by key, with `__` for a dot."""
        path = self.root / "workspaceStorage" / name / "state.vscdb"
        self._make(path)
        if folder is not None:
            (path.parent / "workspace.json").write_text(json.dumps({"folder": folder}), encoding="utf-8")
        for key, value in items.items():
            self.put(key.replace("__", "."), value, table="ItemTable", path=path)
        return path


def _raw(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, bytes)) else json.dumps(value)


def prompt(text: str, native: str = "u1", **fields: Any) -> dict[str, Any]:
    return {"_v": 3, "type": 1, "bubbleId": native, "text": text, **fields}


def reply(text: str, native: str = "a1", **fields: Any) -> dict[str, Any]:
    return {"_v": 3, "type": 2, "bubbleId": native, "text": text, **fields}


def tool(name: str, params: Any, result: Any = None, native: str = "t1", **fields: Any) -> dict[str, Any]:
    """A bubble with a tool call; params and result become JSON inside strings, as in real ones."""
    said = {"tool": 15, "name": name, "toolCallId": f"call-{native}", "status": "completed"}
    said["params"] = params if isinstance(params, str) else json.dumps(params)
    if result is not None:
        said["result"] = result if isinstance(result, str) else json.dumps(result)
    return {"_v": 3, "type": 2, "bubbleId": native, "text": "", "capabilityType": 15, "toolFormerData": said | fields}


def cli_chat(path: Path, messages: Sequence[Any], *, root: bytes | None = None, **meta: Any) -> Path:
    """A chat of the command line: messages as blobs, a tree of two levels above them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB)")
    db.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)")

    def put(data: bytes) -> bytes:
        digest = hashlib.sha256(data)
        db.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?)", (digest.hexdigest(), data))
        return digest.digest()

    ids = [put(one if isinstance(one, bytes) else json.dumps(one).encode()) for one in messages]
    half = len(ids) // 2
    nodes = [put(b"".join(b"\x0a\x20" + one for one in part)) for part in (ids[:half], ids[half:]) if part]
    top = put(root if root is not None else b"".join(b"\x12\x20" + one for one in nodes))
    told = {"agentId": path.parent.name, "name": "A chat", "createdAt": 1775522590321, "latestRootBlobId": top.hex()}
    db.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?)", (json.dumps(told | meta).encode().hex(),))
    db.commit()
    db.close()
    dated_back(path)
    return path


def dated_back(path: Path) -> None:
    """A file written just now is read with a pause: this one was written a second ago."""
    past = time.time_ns() - 10**9
    os.utime(path, ns=(past, past))


def found(root: Path, folders: Sequence[str] = ()) -> tuple[list[Transcript], list[Problem]]:
    """Every session below a root, as a sync would list them."""
    store = cursor.scan_root(root, folders)
    transcripts, problems = list(store.transcripts), list(store.problems)
    for database in store.databases:
        more, faults = cursor.list_database(database, folders)
        transcripts += more
        problems += faults
    return transcripts, problems


def taken(transcript: Transcript) -> tuple[list[Turn], Session, list[Problem]]:
    """A session read as a whole."""
    turns, reading = laws.taken(cursor.open_session, transcript)
    return turns, reading.session, reading.problems


def only(root: Path, folders: Sequence[str] = ()) -> tuple[list[Turn], Session, list[Problem]]:
    """The one session below a root."""
    transcripts, problems = found(root, folders)
    assert len(transcripts) == 1, transcripts
    turns, session, faults = taken(transcripts[0])
    return turns, session, problems + faults


def counted(session: Session) -> independent.Counts:
    tokens = (session.tokens.input, session.tokens.output) if session.tokens is not None else None
    return independent.Counts(session.prompts, session.tool_calls, session.tool_errors, session.denials, tokens)


def said(turns: list[Turn]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns]
