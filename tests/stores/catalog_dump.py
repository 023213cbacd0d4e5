"""Indexes a folder of Claude transcripts, and lists all a catalog holds in a form in which two can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claude_lines import encoded
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.catalog.indexing import IndexResult, OwnerLookup
from lerim.sessions.discovery import compare_stamps, discover_stores
from lerim.sessions.model import Readable, Session, Transcript, Turn
from lerim.sessions.queue.jobs import enqueue_job
from lerim.sessions.readers import read_session
from lerim.sessions.readers.engine.whole_session import LoadedSession, WholeReading
from lerim.sessions.search import SessionFilters, SessionListItem

ROWS = (
    "SELECT place, platform, session, parent, size, mtime_ns, inode, vanished, error FROM transcripts ORDER BY place",
    "SELECT place, resume, title, started, ended, cwds, branches, models, turns, prompts, tool_calls,"
    " tool_errors, denials, input, output, cache_read, cache_write"
    " FROM sessions s JOIN transcripts ON transcripts.id = transcript ORDER BY place",
    "SELECT turn, place, ordinal, folders.cwd, project, role, kind, time, prose, branch, model, calls, errors,"
    " turns.failed, input, output, cache_read, cache_write, body FROM turns JOIN folders ON folders.id = folder"
    " JOIN transcripts ON transcripts.id = transcript ORDER BY turn",
    "SELECT kind, place, project, state, tries FROM jobs JOIN transcripts ON transcripts.id = transcript"
    " ORDER BY kind, place, project",
    "SELECT count(*) FROM words_docsize",
    "SELECT turns.turn, path, name FROM touched JOIN turns ON turns.id = touched.turn JOIN files ON files.id = file"
    " ORDER BY turns.turn, path",
    "SELECT turn, col, term, offset FROM vocabulary JOIN turns ON turns.id = doc ORDER BY turn, col, offset, term",
)


class ByName:
    """Every folder is the project of its last part."""

    def find_owner(self, cwd: str) -> str:
        return Path(cwd).name.encode("ascii", "replace").decode()


def write(root: Path, name: str, *records: Any) -> Path:
    """A session of Claude Code in a folder that belongs to the project `app`."""
    path = root / "projects" / "-home-ana-app" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded(*records))
    return path


def found(catalog: Catalog, *words: str) -> list[list[str]]:
    """What a search for each of the words finds."""
    return [[turn.text for turn in catalog.search_turns(word)] for word in words]


def index_all(catalog: Catalog, root: Path) -> list[IndexResult]:
    """One cycle as a sync does it: only what is new or changed, from where it was left; marks what is gone."""
    found = compare_stamps(discover_stores({"claude": [root]}), catalog.load_stamps())
    catalog.mark_vanished(found.vanished)

    def readings() -> Iterator[tuple[Transcript, Readable]]:
        for one in (*found.new, *found.changed):
            yield one, read_session(one, catalog.load_resume(one.place), brief=True)

    return list(catalog.index_transcripts(readings(), ByName()))


def listed(catalog: Catalog, project: str | None = None, limit: int = 1_000_000) -> list[SessionListItem]:
    """The sessions of a project, or all, as `lerim sessions list` finds them."""
    filters = SessionFilters(projects=None if project is None else (project,))
    return catalog.list_filtered_sessions(filters, limit)


def add(catalog: Catalog, session: Session, turns: list[Turn], owners: OwnerLookup | None = None) -> IndexResult:
    """Indexes a session that consists of these turns."""
    at = Transcript(session.platform, session.path, session.id, 1, 1, 1, parent=session.parent)
    loaded = LoadedSession(session, turns)
    reading = WholeReading(at, lambda _: loaded)
    return next(catalog.index_transcripts([(at, reading)], owners or ByName()))


def dump(catalog: Catalog, *words: str) -> list[object]:
    """All rows without their numbers, and which turns are found by each word."""
    catalog.db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab (main, words, instance)")
    rows: list[object] = [catalog.db.execute(rows).fetchall() for rows in ROWS]
    rows += [sorted(turn.id for turn in catalog.search_turns(word, limit=10_000)) for word in words]
    catalog.db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    return rows


def enqueue(catalog: Catalog, kind: str, place: str, project: str) -> None:
    """Lets a job wait for a transcript that the catalog knows."""
    [(row,)] = catalog.db.execute("SELECT id FROM transcripts WHERE place = ?", (place,))
    enqueue_job(catalog.db, kind, row, project)
