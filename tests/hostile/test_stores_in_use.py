"""Stores that change while a sync reads them: locked, gone, replaced, dated in the future. The rest is read, once."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import codex_lines
import cursor_store
import opencode_store
from desk import Desk
from lerim.jobs.report import SyncEvent, SyncProgress
from lerim.sessions.catalog.catalog import Catalog
from stories import FIRST
from story_stores import AGENTS

DATA = ".local/share/opencode/opencode.db"


def texts(desk: Desk) -> list[str]:
    """What was said, of every transcript that the catalog knows."""
    with Catalog.open(desk.home) as catalog:
        places = [place for (place,) in catalog.db.execute("SELECT place FROM transcripts")]
        return sorted(turn.text for place in places for turn in catalog.load_turns(place))


def said(desk: Desk, path: Path, native: str, words: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    store = opencode_store.Store(native, directory=str(desk.repo))
    store.mark = f"_{native}"
    store.clock += 1000 * len(words)
    store.say("user", opencode_store.text(words))
    store.rows(path)


@contextmanager
def held(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """The database is held by a writer that lets nobody in, in the middle of a transaction too large for its memory."""
    db = sqlite3.connect(path, isolation_level=None)
    with closing(db):
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA cache_size = 5")
        db.execute("BEGIN EXCLUSIVE")
        rows = ((f"p{at}", "m", "s", 1, 1, "x" * 3000) for at in range(200))
        db.executemany("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", rows)
        yield db
        db.execute("ROLLBACK")


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_that_a_writer_holds_for_the_whole_sync_is_read_or_waits_and_is_read_after(
    desk: Desk, isolated: Path, mode: str
) -> None:
    said(desk, isolated / DATA, "ses_1", "In the held one")
    AGENTS["codex"](isolated, desk.repo, "c", FIRST[:2])
    with held(isolated / DATA, mode):
        report = desk.sync()
        assert report.state == "done"
        assert report.sessions.found + len(report.problems) == 2
    report = desk.sync()
    assert (report.sessions.found, report.problems) == (2, [])
    assert texts(desk).count("In the held one") == 1


def test_files_that_go_between_being_found_and_being_read_are_told_and_stop_nothing(desk: Desk, isolated: Path) -> None:
    for agent, write in AGENTS.items():
        write(isolated, desk.repo, f"s-{agent}", FIRST[:2])
    went = False

    def go(event: SyncEvent) -> None:
        nonlocal went
        if isinstance(event, SyncProgress) and event.stage == "reading" and not went:
            went = True
            for folder in (".codex", ".gemini", ".copilot", ".local/share/opencode", ".config/Cursor"):
                for path in (isolated / folder).rglob("*"):
                    if path.is_file():
                        path.unlink()

    report = desk.sync(emit=go)
    assert went
    assert report.state in ("done", "partial")
    report = desk.sync()
    assert (report.state, report.problems, report.sessions.found, report.sessions.failed) == ("done", [], 2, 0)


def test_a_file_that_is_replaced_by_a_shorter_one_says_what_it_says_now(desk: Desk, isolated: Path) -> None:
    path = isolated / ".codex" / "sessions" / "2026" / "rollout-2026-03-03T00-00-00-x.jsonl"
    path.parent.mkdir(parents=True)
    head = codex_lines.meta("x", cwd=str(desk.repo))
    path.write_bytes(codex_lines.encoded(head, *(codex_lines.prompt(f"Long ago {number}") for number in range(50))))
    said(desk, isolated / DATA, "ses_1", "In a database of many sessions")
    said(desk, isolated / DATA, "ses_2", "In the same database")
    desk.sync()
    path.write_bytes(codex_lines.encoded(head, codex_lines.prompt("Only this")))
    (isolated / DATA).unlink()
    said(desk, isolated / DATA, "ses_1", "Begun anew")
    report = desk.sync()
    assert (report.sessions.found, report.problems) == (2, [])
    assert {"Only this", "Begun anew"} <= set(texts(desk))
    assert desk.sync().sessions.unchanged == 2


def test_stores_of_a_clock_that_runs_ahead_or_of_none_are_read_once(desk: Desk, isolated: Path) -> None:
    ahead = time.time() + 10 * 365 * 86400
    path = isolated / ".codex" / "sessions" / "rollout-x.jsonl"
    path.parent.mkdir(parents=True)
    records = codex_lines.encoded(codex_lines.meta("x", cwd=str(desk.repo)), codex_lines.prompt("Said much later"))
    path.write_bytes(re.sub(rb'"timestamp": ?"[^"]*"', b'"timestamp":"9999-12-31T23:59:59.999Z"', records))
    editor = cursor_store.Editor(isolated / ".config" / "Cursor" / "User")
    where = {"id": "w", "uri": {"fsPath": str(desk.repo), "scheme": "file"}}
    editor.chat([cursor_store.prompt("Said in Cursor")], lastUpdatedAt=10**30, createdAt=-5, workspaceIdentifier=where)
    said(desk, isolated / DATA, "ses_1", "Said in OpenCode")
    with closing(sqlite3.connect(isolated / DATA)) as db, db:
        db.execute("UPDATE session SET time_created = 'x', time_updated = 9223372036854775807")
        role = '{"role": "user"}'
        db.execute("UPDATE message SET time_created = -1, time_updated = 1e300, data = ?", (role,))
    for one in (path, editor.all, isolated / DATA):
        os.utime(one, (ahead, ahead))
    report = desk.sync()
    assert (report.state, report.sessions.found, report.problems) == ("done", 3, [])
    assert texts(desk) == ["Said in Cursor", "Said in OpenCode", "Said much later"]
    assert desk.sync().sessions.unchanged == 3
