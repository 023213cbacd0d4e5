"""Stores that hold more than any agent writes: a sync ends, tells where it stopped reading, and reads all other agents.

Where one is not bounded, the command meets the limit for hangs.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import cursor_store
from desk import Desk
from lerim.sessions.catalog.catalog import Catalog
from rights import Terminal
from story_stores import AGENTS

OPENCODE = ".local/share/opencode/opencode.db"
CURSOR = ".config/Cursor/User/globalStorage/state.vscdb"
COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT ?)"


def claude_file(home: Path) -> Path:
    (path,) = (home / ".claude").rglob("*.jsonl")
    return path


def far_away(home: Path) -> Path:
    path = home / OPENCODE
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE session SET directory = ?", ("/" + "a/" * 100_000,))
        db.execute("UPDATE message SET data = json_set(data, '$.path.cwd', ?)", ("/" + "a/" * 100_000,))
    return path


def holes(home: Path) -> Path:
    path = claude_file(home)
    os.truncate(path, 12 << 30)
    return path


def lines_of(line: bytes, number: int) -> Callable[[Path], Path]:
    def write(home: Path) -> Path:
        path = claude_file(home)
        with path.open("ab") as file:
            file.write(line * number)
        return path

    return write


def sessions(home: Path) -> Path:
    path = home / OPENCODE
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            f"{COUNT} INSERT INTO session (id, project_id, directory, title, version, time_created, time_updated)"
            " SELECT 'x' || x, 'p', '', '', '', 1, 1 FROM c",
            (5_000,),
        )
    return path


def chats(home: Path) -> Path:
    path = home / CURSOR
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"{COUNT} INSERT INTO cursorDiskKV SELECT 'composerData:x' || x, '{{}}' FROM c", (5_000,))
    return path


STORES = {
    "holes": (holes, "64 MB of empty lines"),
    "blank lines": (lines_of(b"\n", 68_000_000), "64 MB of empty lines"),
    "short lines": (lines_of(b"{}\n", 150_000), "too many lines"),
    "sessions": (sessions, "too many for its size"),
    "chats": (chats, "too many for its size"),
}


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("kind", STORES)
def test_a_store_without_end_is_read_in_part_and_told(isolated: Path, terminal: Terminal, kind: str) -> None:
    write, said = STORES[kind]
    path = write(isolated)
    cursor_store.dated_back(path)
    done = terminal("sync", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [(one["code"], one["path"]) for one in report["problems"]] == [("cut-short", str(path))]
    assert said in report["problems"][0]["message"]
    assert report["sessions"]["found"] == len(AGENTS)


def test_a_folder_too_long_for_any_machine_is_none(machine: Desk, isolated: Path, terminal: Terminal) -> None:
    cursor_store.dated_back(far_away(isolated))
    done = terminal("sync", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sessions"]["found"] >= len(AGENTS) - 1
    with Catalog.open(machine.home) as catalog:
        assert max(map(len, catalog.list_folders())) < 4096


def test_what_follows_blank_lines_is_read(machine: Desk, isolated: Path) -> None:
    path = claude_file(isolated)
    first, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(first + b"\n" * 3_000_000 + b" \n" + rest)
    report = machine.sync()
    assert report.problems == []
    assert report.sessions.found == len(AGENTS)
