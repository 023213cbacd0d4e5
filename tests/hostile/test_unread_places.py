"""What lies where a session or a database should be and cannot be read as one is told: by sync and doctor."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from desk import Desk
from lerim.jobs.doctor import examine_agents
from story_stores import AGENTS

DATABASES = {"opencode": ".local/share/opencode/opencode.db", "cursor": ".config/Cursor/User/globalStorage/state.vscdb"}
TABLES = {"opencode": ("session", "message", "part"), "cursor": ("cursorDiskKV", "ItemTable")}
FILES = {
    "claude": ".claude/**/*.jsonl",
    "codex": ".codex/**/*.jsonl",
    "copilot": ".config/Code/**/chatSessions/*.json*",
    "gemini": ".gemini/**/session-*.json*",
}


def listening(path: Path) -> None:
    """A socket; its name may be longer than the system takes, so it is made under a short one."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


INSTEAD: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "socket": listening,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
}


def long_ago(path: Path) -> None:
    os.utime(path, (1_700_000_000, 1_700_000_000))


def told(machine: Desk, agent: str, path: Path) -> None:
    """Both of two syncs name the place, and so does the doctor."""
    for _ in range(2):
        report = machine.sync()
        assert str(path) in {one.path.partition("#")[0] for one in report.problems}, report.problems
        assert report.sessions.found >= len(AGENTS) - 1
    (view,) = (one for one in examine_agents(machine.home, os.environ, machine.place.project) if one.platform == agent)
    assert any(str(path) in one.example for one in view.skipped), view.skipped


@pytest.mark.parametrize("kind", INSTEAD)
@pytest.mark.parametrize("agent", [*DATABASES, *FILES])
def test_what_is_no_file_is_told(machine: Desk, isolated: Path, agent: str, kind: str) -> None:
    path = isolated / DATABASES[agent] if agent in DATABASES else next(isolated.glob(FILES[agent]))
    path.unlink()
    INSTEAD[kind](path)
    told(machine, agent, path)


@pytest.mark.parametrize("agent", DATABASES)
def test_a_database_that_stays_empty_is_told(machine: Desk, isolated: Path, agent: str) -> None:
    path = isolated / DATABASES[agent]
    path.write_bytes(b"")
    assert machine.sync().problems == []  # its program may have made it just now
    long_ago(path)
    told(machine, agent, path)


@pytest.mark.parametrize("made", [False, True], ids=["dropped", "view"])
@pytest.mark.parametrize(("agent", "table"), [(agent, table) for agent in TABLES for table in TABLES[agent]])
def test_a_table_that_is_missing_is_told(machine: Desk, isolated: Path, agent: str, table: str, made: bool) -> None:
    path = isolated / DATABASES[agent]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
        db.execute(f"CREATE VIEW {table} AS SELECT * FROM elsewhere" if made else "DROP TABLE elsewhere")
    long_ago(path)
    if table == "ItemTable":  # the chats are there all the same
        assert str(path) in {one.path for one in machine.sync().problems}
    else:
        told(machine, agent, path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("agent", FILES)
def test_a_session_of_which_nothing_can_be_read_is_told(
    machine: Desk, isolated: Path, agent: str, encoding: str
) -> None:
    path = next(isolated.glob(FILES[agent]))
    path.write_bytes(path.read_bytes().decode().encode(encoding))
    long_ago(path)
    report = machine.sync()
    assert str(path) in " ".join(one.path for one in report.problems)
    (view,) = (one for one in examine_agents(machine.home, os.environ, machine.place.project) if one.platform == agent)
    assert any(str(path) in one.example for one in view.skipped), view.skipped
