"""Lerim's own databases are private, survive kills and other processes, and errors say what to do."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple

import pytest

from hang import HANG
from killer import at_once, every_kill, in_child
from lerim import sqlite
from lerim.errors import LerimError, MemoryError_, Problem
from lerim.memory import summaries
from lerim.memory.freshness import baselines
from lerim.memory.uses import Uses
from lerim.models.money.spending import DayBudget
from lerim.paths import Home
from lerim.review.ledger import ledger
from lerim.sessions.catalog.catalog import Catalog
from lerim.sqlite import Schema, convert_errors, open_database, open_existing, transaction
from model_desk import paid
from rights import bound

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
JUNK = (b"not a database at all" * 500, b"SQLite format 3\0" + b"\xff" * 9000)


class Store(NamedTuple):
    """One of our databases: where it is, how it is opened, and whether a damaged one is replaced."""

    path: Callable[[Home], Path]
    use: Callable[[Home], list[Problem]]
    replaced: bool


def private(home: Home) -> Path:
    return home.project("app")


def use_catalog(home: Home) -> list[Problem]:
    with Catalog.open(home) as catalog:
        catalog.record_sync("app")
        return catalog.problems


def use_spending(home: Home) -> list[Problem]:
    purse = DayBudget(home, 1.0, lambda: NOON)
    purse.reserve(paid(), 1, 1)
    return purse.problems


def use_uses(home: Home) -> list[Problem]:
    uses = Uses(private(home))
    uses.of_all()
    uses.record_use(["a"], "opened", NOON)
    return uses.problems


def use_ledger(home: Home) -> list[Problem]:
    private(home).mkdir(parents=True, exist_ok=True)
    with ledger.open_ledger(private(home)) as book:
        book.left_out.save([], NOON)
    return []


def use_baselines(home: Home) -> list[Problem]:
    with baselines.open_baselines(private(home), private(home)) as kept:
        kept.store_index_paths("a stamp", [])
    return []


def use_summaries(home: Home) -> list[Problem]:
    private(home).mkdir(parents=True, exist_ok=True)
    with summaries.open_summaries(private(home), private(home), private(home)) as kept:
        kept.made_by("claude:1")
    return []


STORES = {
    "catalog": Store(lambda home: home.catalog, use_catalog, replaced=True),
    "spending": Store(lambda home: home.spending, use_spending, replaced=True),
    "uses": Store(lambda home: private(home) / "uses.sqlite3", use_uses, replaced=True),
    "ledger": Store(lambda home: private(home) / "review.sqlite3", use_ledger, replaced=False),
    "baselines": Store(lambda home: private(home) / "freshness.sqlite3", use_baselines, replaced=False),
    "summaries": Store(lambda home: private(home) / "summaries.sqlite3", use_summaries, replaced=False),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest) -> Store:
    return STORES[request.param]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "lerim-home")


def told(store: Store, home: Home) -> str:
    """What the person is told when a store is used; "" where all is well."""
    try:
        return " ".join(f"{one.message} ({one.path})" for one in store.use(home))
    except LerimError as error:
        return str(error)


def lay(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(data)


def test_a_store_makes_its_database_private_also_one_that_others_could_read(store: Store, home: Home) -> None:
    assert told(store, home) == ""
    path = store.path(home)
    path.chmod(0o644)
    assert told(store, home) == ""
    assert {one.stat().st_mode & 0o777 for one in path.parent.iterdir() if one.is_file()} == {0o600}


def test_a_database_of_a_newer_lerim_is_refused_and_left_alone(store: Store, home: Home) -> None:
    store.use(home)
    path = store.path(home)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    message = told(store, home)
    assert all(part in message for part in ("newer Lerim", "99", "Update Lerim"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("junk", JUNK)
def test_a_damaged_database_is_kept_and_replaced_or_left_with_what_to_do(store: Store, home: Home, junk: bytes) -> None:
    path = store.path(home)
    lay(path, junk)
    message = told(store, home)
    assert str(path) in message
    if store.replaced:
        aside = path.with_name(f"{path.name}.damaged-copy")
        assert aside.name in message
        assert aside.read_bytes() == junk
        assert told(store, home) == ""
        assert path.stat().st_mode & 0o777 == 0o600
    else:
        assert "Move it away" in message or "delete it" in message
        assert path.read_bytes() == junk


def test_an_empty_file_or_database_is_a_new_one(store: Store, home: Home) -> None:
    path = store.path(home)
    lay(path, b"")
    assert told(store, home) == ""
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    assert told(store, home) == ""
    assert told(store, home) == ""


@pytest.mark.parametrize("how", ["a folder in its place", "not writable", "no folder for it"])
def test_a_database_that_cannot_be_opened_is_told_with_the_reason(store: Store, home: Home, how: str) -> None:
    path = store.path(home)
    if how == "a folder in its place":
        path.mkdir(parents=True)
        message = told(store, home)
        assert "Is a directory" in message and str(path) in message
        return
    if how == "not writable":
        store.use(home)
    else:
        path.parent.mkdir(parents=True)
    closed = path if how == "not writable" else path.parent
    before = path.read_bytes() if path.exists() else None
    closed.chmod(0o500)
    with bound():
        assert "Permission denied" in told(store, home)
    assert before is None or path.read_bytes() == before
    closed.chmod(0o700)
    assert told(store, home) == ""


def make_notes(db: sqlite3.Connection, version: int) -> None:
    if not version:
        db.execute("CREATE TABLE notes (text TEXT NOT NULL)")


def add_times(db: sqlite3.Connection, version: int) -> None:
    make_notes(db, version)
    db.execute("ALTER TABLE notes ADD COLUMN time INTEGER NOT NULL DEFAULT 0")
    db.execute("UPDATE notes SET time = 1")


FIRST = Schema(
    name="The notebook",
    version=1,
    upgrade=make_notes,
    probe="SELECT text FROM notes LIMIT 1",
    wait=HANG,
    error=MemoryError_,
    failure="The notebook cannot be used",
    todo="Free some space.",
    todo_damaged="Try again.",
    replacement_notice="It begins anew.",
    code="notes",
)
SECOND = replace(FIRST, version=2, upgrade=add_times)
RECORD = replace(SECOND, replacement_notice="")


def note(path: Path, text: str, schema: Schema = FIRST) -> None:
    with closing(open_database(path, schema)) as db, transaction(db):
        db.execute("INSERT INTO notes (text) VALUES (?)", (text,))


def notes(path: Path, schema: Schema = FIRST) -> list[str]:
    with closing(open_database(path, schema)) as db:
        return [text for (text,) in db.execute("SELECT text FROM notes ORDER BY text")]


@pytest.mark.parametrize(("before", "wal"), [(None, True), (None, False), (JUNK[0], False), (JUNK[1], True)])
def test_a_kill_at_any_step_of_making_or_replacing_leaves_what_the_next_opening_makes_good(
    tmp_path: Path, before: bytes | None, wal: bool
) -> None:
    schema = replace(FIRST, wal=wal)
    for kill in every_kill(every=2):
        path = tmp_path / str(kill.at) / "notes.sqlite3"
        path.parent.mkdir()
        if before is not None:
            path.write_bytes(before)
        kill(note, path, "said", schema)
        assert notes(path, schema) in ([], ["said"])
        note(path, "said later", schema)
        assert "said later" in notes(path, schema)


@pytest.mark.parametrize("schema", [SECOND, RECORD])
def test_a_kill_within_an_upgrade_leaves_the_database_as_it_was(tmp_path: Path, schema: Schema) -> None:
    path = tmp_path / "notes.sqlite3"
    note(path, "said")

    def killed(db: sqlite3.Connection, version: int) -> None:
        add_times(db, version)
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(lambda: open_database(path, replace(schema, upgrade=killed)).close()) == -signal.SIGKILL
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert db.execute("SELECT * FROM notes").fetchall() == [("said",)]
    assert notes(path, schema) == ["said"]


@pytest.mark.parametrize("schema", [SECOND, RECORD])
def test_an_upgrade_that_finds_the_disk_full_is_told_and_made_once_there_is_space(
    tmp_path: Path, schema: Schema
) -> None:
    path = tmp_path / "notes.sqlite3"
    note(path, "said")

    def filled(db: sqlite3.Connection, version: int) -> None:
        db.execute("PRAGMA max_page_count = 3")
        db.execute("CREATE TABLE large AS SELECT zeroblob(100000)")

    problems: list[Problem] = []
    with pytest.raises(MemoryError_, match=r"notebook cannot be used: .*full.*Free some space"):
        open_database(path, replace(schema, upgrade=filled), problems)
    assert notes(path, schema) == ["said"]
    assert problems == []


@pytest.mark.parametrize("schema", [SECOND, RECORD])
def test_what_cannot_be_upgraded_is_replaced_if_it_can_be_made_again_and_stays_otherwise(
    tmp_path: Path, schema: Schema
) -> None:
    path = tmp_path / "notes.sqlite3"
    note(path, "said")

    def fails_on_old(db: sqlite3.Connection, version: int) -> None:
        add_times(db, version)
        if version:
            db.execute("INSERT INTO a_table_that_is_not_there VALUES (1)")

    failing = replace(schema, upgrade=fails_on_old)
    if schema is RECORD:
        with pytest.raises(MemoryError_, match="no such table"):
            open_database(path, failing)
        assert notes(path) == ["said"]
        return
    problems: list[Problem] = []
    open_database(path, failing, problems).close()
    assert [problem.code for problem in problems] == ["notes"]
    assert notes(path, SECOND) == []
    with closing(sqlite3.connect(tmp_path / "notes.sqlite3.damaged-copy")) as db:
        assert db.execute("SELECT text FROM notes").fetchall() == [("said",)]


def test_a_database_with_other_tables_is_replaced_if_it_can_be_made_again(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite3"
    for version in (0, 1):
        with closing(sqlite3.connect(path)) as db:
            db.executescript(f"DROP TABLE IF EXISTS notes; CREATE TABLE notes (other); PRAGMA user_version = {version}")
        problems: list[Problem] = []
        open_database(path, FIRST, problems).close()
        assert [problem.message for problem in problems] == [
            "The notebook was damaged and is kept as notes.sqlite3.damaged-copy. It begins anew."
        ]
        note(path, "said")


def test_damage_met_in_use_is_told_and_the_next_opening_replaces_the_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite3"
    with closing(open_database(path, FIRST)) as db, transaction(db):
        db.executemany("INSERT INTO notes VALUES (?)", ((f"{number} " + "word " * 200,) for number in range(300)))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * (size // 2))  # what opening looks at lies before
    with pytest.raises(MemoryError_, match="Try again"), convert_errors(path, FIRST):
        notes(path)
    problems: list[Problem] = []
    open_database(path, FIRST, problems).close()
    assert [problem.code for problem in problems] == ["notes"]
    assert notes(path) == []


@pytest.mark.parametrize("before", ["nothing", "an older version", "damage"])
def test_of_processes_that_open_it_at_once_one_makes_it_and_none_loses_a_row(tmp_path: Path, before: str) -> None:
    path = tmp_path / "notes.sqlite3"
    if before == "an older version":
        note(path, "old")
    elif before == "damage":
        path.write_bytes(JUNK[0])

    def write(number: int) -> None:
        problems: list[Problem] = []
        with closing(open_database(path, SECOND, problems)) as db, transaction(db):
            db.execute("INSERT INTO notes VALUES (?, 0)", (str(number),))
        os._exit(10 + len(problems))

    assert sorted(at_once(write)) == [10, 10, 10, 11 if before == "damage" else 10]
    assert notes(path, SECOND) == ["0", "1", "2", "3", *(["old"] if before == "an older version" else [])]


def test_opening_a_database_keeps_the_locks_that_the_process_holds_on_it(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite3"
    note(path, "said")
    writes = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('DELETE FROM notes')"
    with closing(open_database(path, FIRST)) as held, transaction(held, exclusive=True):
        with pytest.raises(MemoryError_, match="locked"):
            open_database(path, FIRST, wait=0)
        other = subprocess.run([sys.executable, "-c", writes, str(path)], capture_output=True, text=True, check=False)
    assert "database is locked" in other.stderr


def test_what_is_only_looked_at_is_not_made_or_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite3"
    assert open_existing(path, FIRST) is None
    assert list(tmp_path.iterdir()) == []
    note(path, "said")
    assert open_existing(path, SECOND) is None
    db = open_existing(path, FIRST)
    assert db is not None
    db.close()


def test_a_transaction_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite3"
    with closing(open_database(path, FIRST)) as db:
        with pytest.raises(ValueError, match="enough"), transaction(db):
            db.execute("INSERT INTO notes VALUES ('said')")
            raise ValueError("enough")
        with transaction(db):
            db.execute("INSERT INTO notes VALUES ('kept')")
    assert notes(path) == ["kept"]


def test_marks_of_an_address_in_a_path_are_part_of_the_path(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=ro#b%20c ü" / "notes.sqlite3"
    path.parent.mkdir()
    note(path, "said")
    assert notes(path) == ["said"]
    assert sqlite.file_uri(PureWindowsPath(r"C:\Users\A B\state.db")) == "file:///C%3A/Users/A%20B/state.db"
    assert sqlite.file_uri(PureWindowsPath(r"\\server\share\state.db")) == "file:////server/share/state.db"
    assert sqlite.file_uri(PurePosixPath("/home/a#b/x?.db")) == "file:///home/a%23b/x%3F.db"
