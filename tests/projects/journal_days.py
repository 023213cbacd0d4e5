"""A project whose sessions, commits and memories are of days long ago."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from claude_lines import Fields, prompt, reply, text
from desk import Desk
from lerim.jobs.sync_context import SyncOptions
from lerim.journal import JournalEntry, JournalScope, build_entry
from lerim.memory.record import MemoryRecord, Primitive, render_record

NOW = datetime(2026, 11, 1, tzinfo=UTC)
DAY = date(2026, 3, 2)


def scope(desk: Desk, zone: str = "UTC") -> JournalScope:
    return JournalScope(desk.place.project, desk.home, os.environ, ZoneInfo(zone))


def entry(desk: Desk, day: date = DAY, zone: str = "UTC") -> JournalEntry:
    return build_entry(scope(desk, zone), day, NOW)


def texts(made: JournalEntry, section: str = "") -> list[str]:
    return [one.text for one in made.sentences if not section or one.section == section]


def exchange(words: str, said: str, at: str, *blocks: Fields) -> list[Fields]:
    """A prompt and its answer at a time (UTC)."""
    return [prompt(words, timestamp=at), reply(f"m-{at}", text(said), *blocks, timestamp=at)]


def read(desk: Desk) -> None:
    """Indexes what was written of sessions."""
    assert desk.sync(SyncOptions(model="none")).state == "done"


def commit(desk: Desk, message: str, at: str, **files: str | None) -> str:
    """Commits at a time; a file without text is deleted. Names have `__` for a slash and `_DOT_` for a dot."""
    for name, content in files.items():
        path = desk.repo / name.replace("__", "/").replace("_DOT_", ".")
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    environ = {**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    for arguments in (("add", "-A"), ("commit", "-q", "--allow-empty", "-m", message)):
        subprocess.run(["git", *arguments], cwd=desk.repo, env=environ, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=desk.repo, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def memory(desk: Desk, primitive: Primitive, title: str, at: str, body: str = "", **fields: object) -> Path:
    """A memory file as if it had been accepted at a time."""
    made = datetime.fromisoformat(at)
    name = "".join(letter if letter.isalnum() else "-" for letter in title.lower())[:40].strip("-")
    record = MemoryRecord(f"{made:%Y%m%d}-{name}", primitive, title, made, made, "manual", 0.8, (), body or f"{title}.")
    store = desk.place.store()
    path = store.path_for(record)
    store.make_folder(path.parent)
    path.write_text(render_record(replace(record, **fields)), encoding="utf-8")  # type: ignore[arg-type]
    return path
