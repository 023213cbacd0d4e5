"""Databases that are damaged or lie beside garbage: each costs itself alone, and no more work than its size allows."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from desk import Desk
from lerim.jobs.agent_states import examine_agents
from lerim.sessions.model import Platform
from lerim.sessions.readers.live import live
from lerim.sessions.readers.live.copy import shared_copies
from rights import Terminal, tree
from story_stores import AGENTS

DATABASES = (".local/share/opencode/opencode.db", ".config/Cursor/User/globalStorage/state.vscdb")
LONG_AGO = 1_700_000_000


def dated(path: Path) -> None:
    os.utime(path, (LONG_AGO, LONG_AGO))


def with_a_message_that_is_no_text(good: bytes) -> bytes:
    """The database with a table of a name that is no UTF-8, whose definition SQLite cannot take: it quotes the name."""
    bad = good.replace(b"tablemessagemessage", b"tablem\xff\xfe\xfdagemessage")
    assert bad != good
    return bad.replace(b"CREATE TABLE message", b"CREATE TABEL message")


def told_of(bad: Path, terminal: Terminal) -> str:
    """What a sync that reads all agents' sessions tells of the one database it cannot read."""
    done = terminal("sync", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["sessions"]["found"] == len(AGENTS)
    [problem] = report["problems"]
    assert problem["path"] == str(bad)
    return str(problem["message"])


def test_a_database_whose_fault_is_told_in_no_text_stops_no_other_agent(
    machine: Desk, isolated: Path, terminal: Terminal
) -> None:
    data = isolated / ".local" / "share" / "opencode"
    bad = data / "opencode-old.db"
    bad.write_bytes(with_a_message_that_is_no_text((data / "opencode.db").read_bytes()))
    for _ in range(2):
        assert "damaged" in told_of(bad, terminal)
    agents = {view.platform: view for view in examine_agents(machine.home, os.environ)}
    assert [one.example for one in agents["opencode"].skipped] == [str(bad)]


def test_a_damaged_database_is_not_opened_again_before_it_changes(machine: Desk, isolated: Path) -> None:
    data = isolated / ".local" / "share" / "opencode"
    good, bad = (data / "opencode.db").read_bytes(), data / "opencode-old.db"
    bad.write_bytes(with_a_message_that_is_no_text(good))
    dated(bad)
    first = machine.sync()
    assert [one.path for one in first.problems] == [str(bad)]
    bad.write_bytes(good)  # whoever opened it would find it whole
    dated(bad)
    assert machine.sync().problems == first.problems
    bad.touch()
    assert machine.sync().problems == []


GARBAGE = {
    "wal of noise": ("-wal", b"\1"),
    "wal of zeros": ("-wal", bytes(32 << 20)),
    "wal that begins as one": ("-wal", struct.pack(">III", 0x377F0682, 3007000, 4096)),
    "journal of noise": ("-journal", b"\1"),
    "journal that begins as one": ("-journal", bytes.fromhex("d9d505f920a163d7")),
}
"""The ending of the file's name, and what stands in it before 32 MB of noise."""
BESIDE = (
    ("wal of noise", "journal of noise"),
    ("journal that begins as one", "wal that begins as one"),
    ("wal of zeros", "wal of noise"),
)


@pytest.mark.parametrize("kinds", BESIDE, ids=" and ".join)
def test_garbage_beside_a_database_is_told_and_neither_copied_nor_touched(
    machine: Desk, isolated: Path, monkeypatch: pytest.MonkeyPatch, kinds: tuple[str, str]
) -> None:
    noise = os.urandom(1 << 20) * 32
    for name, kind in zip(DATABASES, kinds, strict=True):
        path, (ending, begins) = isolated / name, GARBAGE[kind]
        Path(f"{path}{ending}").write_bytes((begins + noise)[: 32 << 20])
        dated(path)
        dated(Path(f"{path}{ending}"))
    before = tree(isolated / ".local", isolated / ".config")
    monkeypatch.setattr(tempfile, "tempdir", str(isolated / "no folder for copies"))
    report = machine.sync()
    assert tree(isolated / ".local", isolated / ".config") == before
    assert report.sessions.found == report.sessions.new == len(AGENTS)
    assert sorted(one.path for one in report.problems) == sorted(str(isolated / name) for name in DATABASES)
    views = examine_agents(machine.home, os.environ, machine.place.project)
    told = {view.platform: view.skipped for view in views}
    said = {one.path: one.message for one in report.problems}
    platforms: tuple[Platform, ...] = ("opencode", "cursor")
    for name, kind, platform in zip(DATABASES, kinds, platforms, strict=True):
        assert GARBAGE[kind][0] in said[str(isolated / name)] and GARBAGE[kind][0] in told[platform][0].message


@pytest.fixture
def left_behind(tmp_path: Path) -> Path:
    """A database whose program died: all it holds stands in a `-wal` without an index."""
    (tmp_path / "live").mkdir()
    (tmp_path / "dead").mkdir()
    path = tmp_path / "dead" / "store.db"
    with closing(sqlite3.connect(tmp_path / "live" / "store.db", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = wal")
        db.execute("CREATE TABLE thing (id TEXT)")
        db.execute("INSERT INTO thing VALUES ('only in the log')")
        for ending in ("", "-wal"):
            Path(f"{path}{ending}").write_bytes((tmp_path / "live" / f"store.db{ending}").read_bytes())
            dated(Path(f"{path}{ending}"))
    return path


def copy_read(db: sqlite3.Connection) -> Path:
    """The file a connection reads."""
    assert db.execute("SELECT id FROM thing").fetchall() == [(b"only in the log",)]
    (place,) = (row[2] for row in db.execute("PRAGMA database_list"))
    return Path(os.fsdecode(place))


def test_of_a_log_that_was_left_behind_only_what_belongs_to_it_is_copied(left_behind: Path) -> None:
    log = Path(f"{left_behind}-wal")
    whole = log.stat().st_size
    with log.open("ab") as file:
        file.write(os.urandom(1 << 20) * 32)
    dated(log)
    assert live.read_database(left_behind, lambda db: Path(f"{copy_read(db)}-wal").stat().st_size, []) == whole


def test_a_database_that_must_be_copied_is_copied_once_for_all_its_sessions(left_behind: Path) -> None:
    with shared_copies():
        first = live.read_database(left_behind, copy_read, [])
        assert live.read_database(left_behind, copy_read, []) == first
        Path(f"{left_behind}-wal").touch()
        assert live.read_database(left_behind, copy_read, []) != first
    assert not first.exists()
    assert live.read_database(left_behind, copy_read, []) != live.read_database(left_behind, copy_read, [])


def bomb(path: Path, levels: int = 10, children: int = 200) -> None:
    """Makes the pages of table `message` a tree whose branches all are one page: few bytes, 200 ** 10 rows."""
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18])
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'message'").fetchone()
    first = len(data) // size + 1
    leaf = bytes(data[(root - 1) * size : root * size])
    pages = [_branches(size, first + level + 1, children) for level in range(levels)]
    data[(root - 1) * size : root * size] = _branches(size, first, children)
    data += b"".join([*pages, leaf])
    data[28:32] = (len(data) // size).to_bytes(4)
    path.write_bytes(data)


def _branches(size: int, page: int, children: int) -> bytes:
    """An interior page of a table, each of whose cells leads to the same page."""
    cells = b"".join(page.to_bytes(4) + bytes([number // 2 + 1]) for number in range(children))
    start = size - len(cells)
    head = struct.pack(">BHHHBI", 5, 0, children, start, 0, page)
    pointers = b"".join((start + 5 * number).to_bytes(2) for number in range(children))
    return (head + pointers).ljust(start, b"\0") + cells


def test_a_database_whose_pages_lead_to_one_another_ends(machine: Desk, isolated: Path, terminal: Terminal) -> None:
    data = isolated / ".local" / "share" / "opencode"
    bad = data / "opencode-old.db"
    bad.write_bytes((data / "opencode.db").read_bytes())
    bomb(bad)
    assert "more rows than its size allows" in told_of(bad, terminal)
