"""Databases of other programs: nothing is written, no row is missed, no state is torn, nobody waits."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from lerim.errors import Problem, TranscriptError
from lerim.sessions.readers.live import live
from lerim.sessions.readers.live.rows import Row, column_number, column_text, read_rows


def make(path: Path, journal: str = "wal") -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.execute("CREATE TABLE thing (id TEXT PRIMARY KEY, data)")
    db.execute("INSERT INTO thing VALUES ('a', 'first')")
    return db


@contextmanager
def elsewhere(path: Path, *first: str) -> Iterator[None]:
    """A database with a row that another process has open, and dies with."""
    code = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    code += "for one in sys.argv[2:]: db.execute(one)\nprint('ready', flush=True); sys.stdin.read()"
    rows_of = ["CREATE TABLE thing (id TEXT PRIMARY KEY, data)", "INSERT INTO thing VALUES ('a', 'first')"]
    command = [sys.executable, "-c", code, str(path), *first, *rows_of]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline().strip() == b"ready"
        try:
            yield
        finally:
            writer.kill()


def ids(db: sqlite3.Connection) -> list[str]:
    return sorted(column_text(one) for (one,) in db.execute("SELECT id FROM thing"))


def read(path: Path) -> list[str]:
    problems: list[Problem] = []
    found = live.read_database(path, ids, problems)
    assert problems == []
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def beside(path: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in path.parent.iterdir()}


@pytest.mark.parametrize("journal", ["wal", "delete", "truncate", "persist"])
def test_only_committed_rows_are_read_while_the_writer_has_the_database_open(path: Path, journal: str) -> None:
    with closing(make(path, journal)) as writer:
        assert read(path) == ["a"]
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO thing VALUES ('b', 'second')")
        assert read(path) == ["a"]
        writer.execute("COMMIT")
        assert read(path) == ["a", "b"]


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_writer_that_may_not_wait_writes_while_we_read(path: Path, journal: str) -> None:
    with closing(make(path, journal)) as writer:
        writer.execute("PRAGMA busy_timeout = 0")
        wrote: list[int] = []

        def work(db: sqlite3.Connection) -> list[str]:
            found = ids(db)
            if len(wrote) < 2:
                wrote.append(1)
                writer.execute("INSERT INTO thing VALUES (?, '')", (f"b{len(wrote)}",))
            return found

        found = live.read_database(path, work, [])
        assert len(wrote) == (1 if journal == "wal" else 2)
        assert found == (["a"] if journal == "wal" else ["a", "b1", "b2"])


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_a_log_without_its_index_or_of_a_transaction_cut_off_is_read_from_a_copy(tmp_path: Path, ending: str) -> None:
    living, path = tmp_path / "live.db", tmp_path / "dead" / "store.db"
    path.parent.mkdir()
    with closing(make(living, "wal" if ending == "-wal" else "delete")) as writer:
        if ending == "-journal":
            writer.execute("PRAGMA cache_size = 2")
            writer.execute("BEGIN")
            writer.executemany("INSERT INTO thing VALUES (?, ?)", ((f"b{one}", "x" * 900) for one in range(500)))
            assert living.stat().st_size > 10 * 4096
        for one in ("", ending):
            shutil.copy(f"{living}{one}", f"{path}{one}")
    before = beside(path)
    assert read(path) == ["a"]
    assert beside(path) == before


def test_a_database_locked_for_good_is_read_from_a_copy(path: Path) -> None:
    with elsewhere(path, "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = wal"):
        before = beside(path)
        assert read(path) == ["a"]
        assert beside(path) == before


def test_the_connection_cannot_write(path: Path) -> None:
    path = path.parent / "a?mode=rw#b%20c ü" / path.name  # marks of an address are its name
    path.parent.mkdir()
    with closing(make(path)), pytest.raises(TranscriptError, match="readonly"):
        live.read_database(path, lambda db: db.execute("DELETE FROM thing").fetchall(), [])


def test_stamps_tell_of_the_file_and_its_log(tmp_path: Path, path: Path) -> None:
    problems: list[Problem] = []
    paths = [path, tmp_path / "none.db", tmp_path]
    assert live.find_databases("opencode", paths, problems) == []
    with closing(make(path)) as writer:
        first = live.find_databases("opencode", paths, problems)
        assert [one.path for one in first] == [path]
        writer.execute("INSERT INTO thing VALUES ('b', '')")
        second = live.find_databases("opencode", paths, problems)
        assert second[0].stamp[:2] == first[0].stamp[:2]
        assert second[0].stamp[2] > first[0].stamp[2]
    assert live.find_databases("opencode", paths, problems)[0].stamp[2:] == (0, 0)
    assert {one.path for one in problems} == {str(tmp_path)}, "a folder in the place of a database is told"


# --- rows --------------------------------------------------------------------------------------------------------


def read_all(path: Path) -> tuple[list[Row], list[int]]:
    """The rows of a database, and the numbers of those that were lost."""
    lost: list[int] = []
    return live.read_database(path, lambda db: list(read_rows(db, "thing", "id, data", "true", (), lost)), []), lost


def test_a_damaged_page_and_a_value_that_is_too_long_cost_their_rows(path: Path) -> None:
    with closing(make(path, "delete")) as writer:
        writer.executemany("INSERT INTO thing VALUES (?, ?)", ((f"b{one:04}", "x" * 3000) for one in range(200)))
        writer.execute("INSERT INTO thing VALUES ('c', zeroblob(?))", (live.CELL_LIMIT + 1,))
        size = writer.execute("PRAGMA page_size").fetchone()[0]
        page = writer.execute("SELECT pageno FROM dbstat WHERE name = 'thing' AND pagetype = 'leaf' LIMIT 1 OFFSET 50")
        damaged = page.fetchone()[0]
    with path.open("r+b") as file:
        file.seek((damaged - 1) * size)
        file.write(b"\xff" * size)
    found, lost = read_all(path)
    assert 190 <= len(found) < 201
    assert len(found) + len(lost) == 202
    assert "c" not in {column_text(row[0]) for row in found}
    assert len({row[0] for row in found}) == len(found)


def test_values_of_any_type_become_text_and_numbers() -> None:
    assert [column_text(one) for one in (None, b"a\0\xff", 3, 1.5)] == ["", "a\ufffd\ufffd", "3", "1.5"]
    assert [column_number(one) for one in (None, b"12", b"x", 3, 1.5, float("inf"), 1 << 70)] == [0, 12, 0, 3, 1, 0, 0]
