"""OpenCode's stores, built for tests: a session as plain objects, put down as rows, as old files or as an export."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import reading_laws as laws
from lerim.sessions.model import Database, Session, Transcript, Turn
from lerim.sessions.readers.opencode import store

Record = dict[str, Any]
SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL,
  title text NOT NULL, version text NOT NULL, revert text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
CREATE TABLE account (id text PRIMARY KEY, access_token text);
"""
START = 1_780_000_000_000


class Store:
    """One session that grows: `say` adds a message with its parts, `info` is the session's own record."""

    def __init__(self, native: str = "ses_1", **info: Any) -> None:
        times = {"created": START, "updated": START}
        first = {"id": native, "projectID": "p1", "directory": "/w/app", "title": "A task", "version": "1.2.3"}
        self.info: Record = {**first, "time": times, **info}
        self.messages: list[Record] = []
        self.clock = START
        self.mark = ""

    def say(self, role: str, *parts: Record, **info: Any) -> str:
        self.clock += 1000
        if role == "user":
            self.info["time"]["updated"] = self.clock
        native = f"msg_{len(self.messages):04}{self.mark}"
        common: Record = {"role": role, "id": native, "time": {"created": self.clock}}
        if role == "assistant":
            tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 3, "write": 1}}
            common |= {"time": {"created": self.clock, "completed": self.clock + 500}, "finish": "stop"}
            common |= {"modelID": "m-1", "path": {"cwd": "/w/app", "root": "/w"}, "tokens": tokens, "cost": 0.25}
        named = [{"id": f"prt_{len(self.messages):04}{self.mark}_{at:03}", **part} for at, part in enumerate(parts)]
        self.messages.append({"info": common | info, "parts": named})
        return native

    def fork(self, native: str, until: int | None = None) -> Store:
        """A fork as OpenCode makes it: the first `until` messages copied under new ids, with the times they had."""
        created = self.clock + 10_000
        forked = Store(native, **self.info | {"id": native, "time": {"created": created, "updated": created}})
        forked.info["title"] = f"{self.info['title']} (fork #1)"
        forked.info.pop("parentID", None)
        forked.clock, forked.mark = created, f"_{native}"
        ids = {one["info"]["id"]: f"msg_{at:04}_{native}" for at, one in enumerate(self.messages)}
        for at, one in enumerate(self.messages[:until]):
            info = one["info"] | {"id": ids[one["info"]["id"]]}
            if "parentID" in info:
                info["parentID"] = ids.get(info["parentID"], "")
            parts = [part | {"id": f"prt_{at:04}_{native}_{of:03}"} for of, part in enumerate(one["parts"])]
            forked.messages.append({"info": info, "parts": parts})
        return forked

    def export(self, path: Path) -> Path:
        path.write_text(json.dumps({"info": self.info, "messages": self.messages}), encoding="utf-8")
        return path

    def files(self, storage: Path) -> Path:
        """The session as files under `storage`; its own file."""
        native = self.info["id"]
        own: Path = storage / "session" / self.info["projectID"] / f"{native}.json"
        _put(own, self.info)
        for one in self.messages:
            _put(storage / "message" / native / f"{one['info']['id']}.json", one["info"])
            for part in one["parts"]:
                _put(storage / "part" / one["info"]["id"] / f"{part['id']}.json", part)
        return own

    def rows(self, path: Path) -> Path:
        """The session as rows of the database at `path`, which is made where it is not there."""
        new = not path.exists()
        db = sqlite3.connect(path)
        db.execute("PRAGMA synchronous = OFF")
        if new:
            db.executescript(SCHEMA)
        with db:
            self.write(db)
        db.close()
        long_ago = path.stat().st_mtime - 60  # what was written just now is read with more care, which takes time
        os.utime(path, (long_ago, long_ago))
        return path

    def write(self, db: sqlite3.Connection) -> None:
        info = self.info
        revert = json.dumps(info["revert"]) if "revert" in info else None
        row = (info["id"], info["projectID"], info.get("parentID"), info["directory"], info["title"], info["version"])
        times = (info["time"]["created"], info["time"]["updated"])
        db.execute("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, revert, *times))
        for one in self.messages:
            said = {key: value for key, value in one["info"].items() if key not in ("id", "sessionID")}
            native, created = one["info"]["id"], one["info"]["time"]["created"]
            whole = (native, info["id"], created, created + 500, json.dumps(said))
            db.execute("INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)", whole)
            for part in one["parts"]:
                data = json.dumps({key: value for key, value in part.items() if key != "id"})
                whole_part = (part["id"], native, info["id"], created, created, data)
                db.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", whole_part)


def _put(path: Path, record: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")


def text(words: str, **more: Any) -> Record:
    return {"type": "text", "text": words, **more}


def tool(name: str, asked: Record, output: str = "", **state: Any) -> Record:
    told = {"status": "completed", "input": asked, "output": output, "title": "", "metadata": {}, **state}
    return {"type": "tool", "tool": name, "callID": "call_1", "state": told}


def of_rows(path: Path) -> list[Transcript]:
    transcripts, problems = store.list_database(Database("opencode", path, (0, 0, 0, 0)), ())
    assert problems == []
    return transcripts


def taken(transcript: Transcript) -> tuple[Session, list[Turn]]:
    turns, reading = laws.taken(store.open_session, transcript)
    assert reading.problems == []
    return reading.session, turns
