"""Makes the index from which the hook program answers: one database for each worktree, in `~/.lerim/run/hooks/`.

It is made again as a whole and renamed into place, so that the program can open it without locks. The line and words
of a memory, which are slow to compute, are copied from the previous index if the memory's file is unchanged.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from lerim import __version__
from lerim.config import EDITOR_VARIABLE, load
from lerim.errors import BusyError, HomeError, Problem, error_reason
from lerim.hook.background import find_hook_index
from lerim.hook.program import lookup, match, session
from lerim.memory import (
    LIVE_FOLDERS,
    AgentMemories,
    FileVersion,
    MemoryRecord,
    ServableMemory,
    parse_reference,
    render_memory_line,
)
from lerim.paths import Home
from lerim.project import Project, open_git
from lerim.review import make_approval_test

MAX_SECTION = {"decided": 12, "open": 6, "drifted": 6}
"""Maximum number of memories of each section of the briefing that are kept. The program gives the agent those that
fit."""
MAX_SESSION_SECONDS = 7 * 86_400
"""Seconds after its last event from which a session counts as ended."""
_WAIT_SECONDS = 30
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE folders (path TEXT NOT NULL, mtime INTEGER NOT NULL);
CREATE TABLE memories (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL, scope TEXT NOT NULL, kind TEXT NOT NULL, updated INTEGER NOT NULL,
    text TEXT NOT NULL, file TEXT NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL, is_fresh INTEGER NOT NULL,
    is_order INTEGER NOT NULL,
    title_terms TEXT NOT NULL, quote_terms TEXT NOT NULL, title_weight REAL NOT NULL, quote_weight REAL NOT NULL
);
CREATE TABLE sources (row INTEGER NOT NULL, file TEXT NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE TABLE places (
    path TEXT NOT NULL, name TEXT NOT NULL, symbol TEXT NOT NULL, last_name TEXT NOT NULL, row INTEGER NOT NULL
);
CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, weight REAL NOT NULL);
CREATE TABLE postings (term INTEGER NOT NULL, field INTEGER NOT NULL, row INTEGER NOT NULL,
    PRIMARY KEY (term, field, row)) WITHOUT ROWID;
CREATE TABLE start (position INTEGER PRIMARY KEY, section TEXT NOT NULL, row INTEGER NOT NULL, since TEXT NOT NULL);
"""
_INDEXES = """
CREATE INDEX sources_row ON sources (row);
CREATE INDEX places_path ON places (path);
CREATE INDEX places_name ON places (name);
CREATE INDEX places_symbol ON places (symbol) WHERE symbol != '';
CREATE INDEX places_last_name ON places (last_name) WHERE last_name != '';
"""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One memory in the form in which the index has it: its line, the words of its title and of its quotes, and
    whether it reads like an order."""

    text: str
    title_terms: tuple[str, ...]
    quote_terms: tuple[str, ...]
    is_order: bool


def refresh_hook_index(project: Project, home: Home, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """Makes the index of this worktree from the memories that agents may be given now. Returns a problem for each
    memory that could not be read. Raises HomeError if the index cannot be written, BusyError while another process
    keeps making it, MemoryError_ if nothing can be read."""
    path = find_hook_index(project.root, home)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock"), timeout=_WAIT_SECONDS, mode=0o600):
            _remove_leftovers(path)
            return _make_index(path, project, home, environ)
    except Timeout as error:
        message = "Another process is making the hooks' index."
        raise BusyError(message, where=str(path), todo="Try again in a moment.") from error
    except (OSError, sqlite3.Error) as error:
        reason = error_reason(error) if isinstance(error, OSError) else str(error)
        todo = "Make the folder writable and free some space."
        raise HomeError(f"The hooks' index cannot be written: {reason}.", where=str(path), todo=todo) from error


def _make_index(path: Path, project: Project, home: Home, environ: Mapping[str, str]) -> list[Problem]:
    folders = _stat_folders(project, home)  # before the memories are read, so that a later change is noticed
    known_meta = _read_meta(path)
    known = _read_known(path, known_meta)
    git = open_git(project.root, environ)
    with AgentMemories(project, home, make_approval_test(project, home), git) as memories:
        found = memories.list_servable({version for version, entry in known.items() if not entry.is_order}).memories
        problems = memories.problems
    temporary = path.with_suffix(f".{os.getpid()}.new")
    try:
        with suppress(FileNotFoundError):
            temporary.unlink()
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(temporary, isolation_level=None)) as db:
            db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;")
            for statement in filter(str.strip, _TABLES.split(";")):
                db.execute(statement)
            _write_meta(db, project, home, environ, known_meta)
            db.executemany("INSERT INTO folders VALUES (?, ?)", folders)
            _write_memories(db, found, known)
            for statement in filter(str.strip, _INDEXES.split(";")):
                db.execute(statement)
            db.execute("COMMIT")
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    return problems


def _remove_leftovers(path: Path) -> None:
    """Removes the files of this index that killed processes left behind, the indexes of worktrees that no longer
    exist, and the files of sessions that ended long ago. The caller holds the lock."""
    oldest = time.time() - MAX_SESSION_SECONDS
    for file in (*path.parent.glob(f"{session.CALLS}/*"), *path.parent.glob(f"{session.SESSIONS}/*")):
        with suppress(FileNotFoundError):  # another process removes them, too
            if file.stat().st_mtime < oldest:
                file.unlink()
    for unfinished in path.parent.glob(f"{path.stem}.*.new"):
        unfinished.unlink(missing_ok=True)
    for other in path.parent.glob("*.sqlite3"):
        root = _read_meta(other).get("root", "") if other != path else ""
        if root and not Path(root).is_dir():
            for file in path.parent.glob(f"{other.stem}.*"):
                file.unlink(missing_ok=True)


def _write_meta(
    db: sqlite3.Connection, project: Project, home: Home, environ: Mapping[str, str], known: Mapping[str, str]
) -> None:
    settings, _ = load.load_settings(environ, home, project.root)
    deny_once = "1" if settings.deny_once else "0"
    from_editor = known.get("deny_once_in_editor", "")
    if environ.get(EDITOR_VARIABLE):  # only the editor knows its settings; without it, what it said last still holds
        from_editor = deny_once if settings.origins["agents.deny_once"] == load.EDITOR_LAYER else ""
    values = {
        "version": str(lookup.INDEX_VERSION),
        "made_by": __version__,
        "root": str(project.root),
        "key": project.key,
        "deny_once": from_editor or deny_once,
        "deny_once_in_editor": from_editor,
    }
    db.executemany("INSERT INTO meta VALUES (?, ?)", values.items())


def _write_memories(
    db: sqlite3.Connection, found: Sequence[ServableMemory], known: Mapping[FileVersion, _Entry]
) -> None:
    served = [one for one in found if one.memory.record.primitive in ("decision", "learning", "question")]
    entries = [_make_entry(one, known) for one in served]
    fresh = [entry for one, entry in zip(served, entries, strict=True) if one.memory.state == "fresh"]
    counts = Counter(term for entry in fresh for term in {*entry.title_terms, *entry.quote_terms})
    total = len(fresh)
    weights = {term: weight for term, count in counts.items() if (weight := match.weigh_term(count, total))}
    numbers = {term: number for number, term in enumerate(weights)}
    db.executemany("INSERT INTO terms VALUES (?, ?, ?)", ((numbers[term], term, weights[term]) for term in weights))
    rows: list[tuple[str | int | float, ...]] = []
    places: list[tuple[str | int, ...]] = []
    sources: list[tuple[str | int, ...]] = []
    postings: list[tuple[int, int, int]] = []
    for row, (one, entry) in enumerate(zip(served, entries, strict=True)):
        record, is_fresh = one.memory.record, one.memory.state == "fresh"
        fields = ((lookup.TITLE, entry.title_terms), (lookup.QUOTE, entry.quote_terms))
        totals = [sum(weights.get(term, 0.0) for term in terms) for _, terms in fields]
        joined = (" ".join(entry.title_terms), " ".join(entry.quote_terms))
        updated = int(record.updated.timestamp())
        kind = record.kind or record.primitive
        rows.append(
            (
                *(row, record.id, one.memory.scope, kind, updated, entry.text),
                *(one.file.path, one.file.mtime, one.file.size, is_fresh, entry.is_order),
                *(*joined, *totals),
            )
        )
        sources += [(row, *file) for file in one.sources]
        if is_fresh:
            places += [(*place, row) for place in _list_places(record)]
            postings += [(numbers[term], field, row) for field, terms in fields for term in terms if term in numbers]
    db.executemany(f"INSERT INTO memories VALUES ({','.join('?' * 15)})", rows)
    db.executemany("INSERT INTO sources VALUES (?, ?, ?, ?)", sources)
    db.executemany("INSERT INTO places VALUES (?, ?, ?, ?, ?)", places)
    db.executemany("INSERT OR IGNORE INTO postings VALUES (?, ?, ?)", sorted(postings))
    _write_start(db, served)


def _write_start(db: sqlite3.Connection, served: Sequence[ServableMemory]) -> None:
    """Writes the briefing that an agent is shown when a session starts, most important first: the latest decisions
    (and preferences), the open questions, and the memories that have drifted."""
    newest = sorted(range(len(served)), key=lambda row: served[row].memory.record.updated, reverse=True)
    sections: dict[str, list[int]] = {name: [] for name in MAX_SECTION}
    for row in newest:
        section = _section_of(served[row])
        if section and len(sections[section]) < MAX_SECTION[section]:
            sections[section].append(row)
    rows = [(name, row, served[row].since) for name, some in sections.items() for row in some]
    db.executemany("INSERT INTO start (section, row, since) VALUES (?, ?, ?)", rows)


def _section_of(one: ServableMemory) -> str:
    record = one.memory.record
    if one.memory.state != "fresh":
        return "drifted" if record.primitive != "question" else ""
    if record.primitive == "question":
        return "open"
    return "decided" if record.primitive == "decision" or record.kind == "preference" else ""


def _make_entry(one: ServableMemory, known: Mapping[FileVersion, _Entry]) -> _Entry:
    record = one.memory.record
    if one.memory.state != "fresh":
        return _Entry(render_memory_line(record, one.memory.detail or "its code has changed"), (), (), one.is_order)
    return known.get(one.file) or _Entry(
        render_memory_line(record),
        tuple(match.list_terms(record.title)),
        tuple(match.list_terms(" ".join(item.quote for item in record.evidence))),
        one.is_order,
    )


def _list_places(record: MemoryRecord) -> list[tuple[str, str, str, str]]:
    """Returns the path, file name, symbol and last part of the symbol of each reference."""
    references = filter(None, map(parse_reference, record.references))
    return [
        (one.path, one.path.rpartition("/")[2], one.symbol, one.symbol.replace("::", ".").rpartition(".")[2])
        for one in references
    ]


def _stat_folders(project: Project, home: Home) -> list[tuple[str, int]]:
    """Returns the folders of memories and when each was last changed; 0 for a folder that does not exist."""
    folders = [top / name for top in (project.memory_dir, home.memory) for name in LIVE_FOLDERS]
    return [(str(folder), _changed_at(folder)) for folder in folders]


def _changed_at(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _read_meta(path: Path) -> dict[str, str]:
    """Returns the metadata of an index; nothing if the index cannot be used."""
    try:
        with closing(_open_index(path)) as db:
            return dict(db.execute("SELECT name, value FROM meta"))
    except (sqlite3.Error, ValueError):
        return {}


def _open_index(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _read_known(path: Path, meta: Mapping[str, str]) -> dict[FileVersion, _Entry]:
    """Returns the entries of the previous index for the memories that are fresh; none if another version of Lerim
    made that index."""
    if (meta.get("version"), meta.get("made_by")) != (str(lookup.INDEX_VERSION), __version__):
        return {}
    try:
        with closing(_open_index(path)) as db:
            query = "SELECT file, mtime, size, text, title_terms, quote_terms, is_order FROM memories WHERE is_fresh"
            return {
                FileVersion(file, mtime, size): _Entry(
                    text, tuple(title.split()), tuple(quotes.split()), bool(is_order)
                )
                for file, mtime, size, text, title, quotes, is_order in db.execute(query)
            }
    except (sqlite3.Error, OSError, ValueError):
        return {}
