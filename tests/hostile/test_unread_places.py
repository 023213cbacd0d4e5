"""What cannot be read where a session or a database should be is reported by the sync and by the list of agents."""

from __future__ import annotations

import itertools
import os
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from desk import Desk
from lerim.errors import Problem
from lerim.jobs.agent_states import examine_agents
from lerim.sessions.reader_problems import select_reader_problems
from story_stores import AGENTS

DATABASES = {"opencode": ".local/share/opencode/opencode.db", "cursor": ".config/Cursor/User/globalStorage/state.vscdb"}
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


DATES = itertools.count(1_700_000_000)


def long_ago(path: Path) -> None:
    """Dates a file back, each time to another second, so that it is looked at again."""
    os.utime(path, (next(DATES),) * 2)


def told(machine: Desk, paths: dict[str, list[Path]], found: int = 0, syncs: int = 2) -> None:
    """Each of so many syncs names all of these places, and so does the list of agents."""
    for _ in range(syncs):
        report = machine.sync()
        named = " ".join(one.path for one in report.problems)
        assert [path for each in paths.values() for path in each if str(path) not in named] == [], report.problems
        assert report.sessions.found >= found
    views = examine_agents(machine.home, os.environ, machine.place.project)
    for agent, each in paths.items():
        (view,) = (one for one in views if one.platform == agent)
        examples = " ".join(one.example for one in view.skipped)
        assert any(str(path) in examples for path in each), view.skipped


def places(isolated: Path) -> dict[str, list[Path]]:
    """The database or session of each agent."""
    databases = {agent: [isolated / name] for agent, name in DATABASES.items()}
    return databases | {agent: [next(isolated.glob(name))] for agent, name in FILES.items()}


@pytest.mark.parametrize("turn", range(2))
def test_what_is_no_file_is_told(machine: Desk, isolated: Path, turn: int) -> None:
    found = places(isolated)
    for number, [path] in enumerate(found.values()):
        path.unlink()
        [*INSTEAD.values()][(number + 2 * turn) % len(INSTEAD)](path)
    told(machine, found)


def test_a_store_in_a_home_below_a_folder_named_projects_is_the_projects_own() -> None:
    place = "/home/projects/ana/.codex/sessions/2025/01/01/r.jsonl"
    [problem] = select_reader_problems([Problem("unreadable", place, "Not read")], ["/home/projects/ana/shop"])
    assert problem.path == place
    other = "/home/projects/ana/.claude/projects/-home-projects-ben-app/s.jsonl"
    assert select_reader_problems([Problem("unreadable", other, "Not read")], ["/home/projects/ana/shop"]) == []


def test_a_database_that_stays_empty_is_told(machine: Desk, isolated: Path) -> None:
    found = {agent: [isolated / name] for agent, name in DATABASES.items()}
    for [path] in found.values():
        path.write_bytes(b"")
    assert machine.sync().problems == []  # their programs may have made them just now
    for [path] in found.values():
        long_ago(path)
    told(machine, found, len(AGENTS) - 2)


def lose_table(path: Path, table: str, view: bool) -> None:
    """Takes a table out of a database, or puts a view in its place."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
        db.execute(f"CREATE VIEW {table} AS SELECT * FROM elsewhere" if view else "DROP TABLE elsewhere")
    long_ago(path)


def test_a_table_that_is_missing_is_told(machine: Desk, isolated: Path) -> None:
    good, cursor = (isolated / name for name in DATABASES.values())
    whole = cursor.read_bytes()
    for view in (False, True):
        copies = {table: good.with_name(f"opencode-{table}.db") for table in ("session", "message", "part")}
        for table, path in copies.items():
            path.write_bytes(good.read_bytes())
            lose_table(path, table, view)
        told(machine, {"opencode": [*copies.values()]}, len(AGENTS), syncs=1 + view)
        for path in copies.values():
            path.unlink()
        for table in ("cursorDiskKV", "ItemTable"):
            lose_table(cursor, table, view)
            assert str(cursor) in {one.path for one in machine.sync().problems}
            cursor.write_bytes(whole)


def test_a_database_of_which_nothing_can_be_read_is_told(machine: Desk, isolated: Path) -> None:
    found = {agent: [isolated / name] for agent, name in DATABASES.items()}
    whole = {path: path.read_bytes() for [path] in found.values()}
    for number in range(3):
        for path, data in whole.items():
            no_header, half, first_page = bytes(100) + data[100:], data[: len(data) // 2], data[:4096]
            path.write_bytes((no_header, half, first_page)[number])
        told(machine, found, len(AGENTS) - 2, syncs=1 if number else 2)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_session_of_which_nothing_can_be_read_is_told(machine: Desk, isolated: Path, encoding: str) -> None:
    found = {agent: paths for agent, paths in places(isolated).items() if agent in FILES}
    for [path] in found.values():
        path.write_bytes(path.read_bytes().decode().encode(encoding))
        long_ago(path)
    told(machine, found, syncs=1)
