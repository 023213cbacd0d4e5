"""Stores that are deleted, taken out, moved and migrated: what was learned stays; each turn and session is once."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from catalog_dump import listed
from desk import Desk
from finished import finish
from lerim.sessions import platforms
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Platform
from opencode_store import Store, text
from stories import FIRST, Said
from story_stores import AGENTS


def numbers(desk: Desk) -> dict[str, int]:
    """How many turns stand in the catalog, how often the busiest of them, and how many sessions are listed."""
    with Catalog.open(desk.home) as catalog:
        (turns,) = catalog.db.execute("SELECT count(*) FROM turns").fetchone()
        return {"turns": turns, "listed": len(listed(catalog, desk.place.project.key))}


def test_a_session_deleted_in_its_database_and_then_the_database_itself_take_nothing_that_was_learned(
    desk: Desk, isolated: Path
) -> None:
    for agent in ("cursor", "opencode"):
        AGENTS[agent](isolated, desk.repo, "one", FIRST)
        AGENTS[agent](isolated, desk.repo, "two", FIRST[:2])
    first = desk.sync()
    assert first.sessions.found == 4
    waiting, before = desk.waiting(), numbers(desk)
    data = isolated / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(data)) as db, db:
        db.execute("DELETE FROM session WHERE id = 'ses_two'")
        db.execute("DELETE FROM message WHERE session_id = 'ses_two'")
    report = desk.sync()
    assert (report.sessions.found, report.sessions.unchanged) == (3, 3)
    assert (desk.waiting(), report.candidates, report.problems) == (waiting, [], [])
    kept = data.read_bytes()
    data.unlink()
    report = desk.sync()
    assert (report.sessions.found, report.sessions.unchanged) == (2, 2)
    assert (desk.waiting(), numbers(desk)["turns"]) == (waiting, before["turns"])
    data.write_bytes(kept)
    report = desk.sync()
    assert report.sessions.found == 3
    assert (desk.waiting(), report.candidates, numbers(desk)["turns"]) == (waiting, [], before["turns"])


PLACES: dict[Platform, str] = {
    "claude": ".claude",
    "codex": ".codex",
    "cursor": ".config/Cursor/User",
    "opencode": ".local/share/opencode",
    "gemini": ".gemini",
}


@pytest.fixture
def learned(desk: Desk, isolated: Path) -> tuple[list[str], dict[str, int]]:
    """A session of each of these agents was learned from: what waits, and the numbers."""
    for number, agent in enumerate(PLACES):
        steps = [Said(f"Always use tool{number} to install packages, never pip."), *FIRST[1:7]]
        AGENTS[agent](isolated, desk.repo, f"one-{agent}", steps)
    desk.sync()
    assert sum(title.startswith("Always use tool") for title in desk.waiting()) == len(PLACES)
    return desk.waiting(), numbers(desk)


def test_an_agent_that_is_taken_out_and_connected_again_is_not_learned_from_twice(
    desk: Desk, learned: tuple[list[str], dict[str, int]]
) -> None:
    waiting, before = learned
    for agent in PLACES:
        platforms.remove_platform(desk.home, agent)
    report = desk.sync()
    assert (desk.waiting(), report.candidates, report.problems) == (waiting, [], [])
    for agent in PLACES:
        platforms.connect_platform(desk.home, agent)
    report = desk.sync()
    assert report.sessions.found == report.sessions.unchanged == len(PLACES)
    assert (desk.waiting(), report.candidates, numbers(desk)) == (waiting, [], before)


def test_a_store_that_was_moved_counts_its_sessions_once_and_goes_on_where_it_was(
    desk: Desk, isolated: Path, tmp_path: Path, learned: tuple[list[str], dict[str, int]]
) -> None:
    waiting, before = learned
    for agent, folder in PLACES.items():
        shutil.move(isolated / folder, tmp_path / agent)
        platforms.connect_platform(desk.home, agent, tmp_path / agent)
    report = desk.sync()
    assert (report.sessions.found, report.sessions.failed, report.problems) == (len(PLACES), 0, [])
    assert (sorted(desk.waiting()), report.candidates, numbers(desk)["turns"]) == (sorted(waiting), [], before["turns"])
    again = desk.sync()
    assert again.sessions.found == again.sessions.unchanged == len(PLACES)
    with Catalog.open(desk.home) as catalog:
        places = [row for row in listed(catalog, desk.place.project.key) if not row.vanished]
    assert len(places) == len(PLACES)


def test_files_of_opencode_that_it_moves_into_a_database_in_the_middle_count_once(desk: Desk, isolated: Path) -> None:
    data = isolated / ".local" / "share" / "opencode"
    store = Store("ses_1", directory=str(desk.repo))
    store.say("user", text("Always use uv to install packages, never pip."))
    store.say("assistant", text("Understood."))
    other = Store("ses_2", directory=str(desk.repo))
    other.mark = "_b"
    other.say("user", text("Only in the files"))
    for one in (store, other):
        one.files(data / "storage")
    for path in (data / "storage").rglob("*.json"):
        finish(path)
    assert desk.sync().sessions.found == 2
    waiting = desk.waiting()
    assert waiting
    store.say("user", text("Said after the update"))
    store.rows(data / "opencode.db")
    report = desk.sync()
    assert (report.sessions.found, report.problems) == (2, [])
    assert (desk.waiting(), report.candidates) == (waiting, [])
    with Catalog.open(desk.home) as catalog:
        rows = catalog.db.execute("SELECT turn FROM turns").fetchall()
        assert len(rows) == 4
        assert [turn.text for turn in catalog.search_turns("update")] == ["Said after the update"]
    again = desk.sync()
    assert (again.sessions.found, again.sessions.unchanged, again.candidates) == (2, 2, [])
    (data / "opencode.db").unlink()
    back = desk.sync()
    assert back.sessions.found == 2
    with Catalog.open(desk.home) as catalog:
        assert len(catalog.db.execute("SELECT turn FROM turns").fetchall()) == 4
    assert desk.waiting() == waiting
