"""Indexes transcripts into the catalog: turns in short transactions, several small transcripts in one.

The position is written with the turns it covers, also in the middle of a long transcript. If a process is killed before
that, the next one reads the same turns again and updates them; the result is the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from lerim.errors import LerimError, Problem, UnfinishedError, reason_of
from lerim.sessions import queue
from lerim.sessions.catalog import turns
from lerim.sessions.model import Readable, Session, Transcript, Turn
from lerim.sessions.tables import columns, estimate_row_size, replace_surrogates, session_rows
from lerim.sqlite import transaction

BATCH_CHARACTERS = 2_000_000
LEAST_CHARACTERS = 1_000
"""A turn counts as at least this many, so that no transaction contains more than 2,000 turns."""
BATCH_TRANSCRIPTS = 100
_PLACES = ("bad-line", "bad-row", "line-too-long")
"""Problem codes of single lines and rows; a problem `many` says how many more there were."""
DAMAGE_CODES = ("bad-row", "cut-short", "broken-log")
"""Problem codes of transcripts that are read except for a damaged part; saved with the transcript, for the doctor."""


class OwnerLookup(Protocol):
    """Looks up the project a working folder belongs to ('' for none)."""

    def find_owner(self, cwd: str) -> str: ...


@dataclass(frozen=True, slots=True)
class IndexResult:
    """The result of indexing one transcript. `projects` are those with new work. `failed`: it could not be read at all.
    `is_busy`: another process was indexing it at the same time and continues, or its agent is writing it right now; in
    both cases it is found again later."""

    transcript: Transcript
    new_turns: int
    projects: frozenset[str]
    session: Session | None
    problems: tuple[Problem, ...] = ()
    failed: bool = False
    is_busy: bool = False


@dataclass(slots=True)
class _Open:
    """A transcript being indexed: its turns waiting to be written, and the results so far."""

    transcript: Transcript
    reading: Readable
    generation: int
    unwritten_turns: list[Turn] = field(default_factory=list)
    has_checkpoint: bool = False
    is_ended: bool = False
    is_busy: bool = False
    problem: Problem | None = None
    new_turns: int = 0
    projects: set[str] = field(default_factory=set)

    def make_result(self) -> IndexResult:
        given = (self.transcript, self.new_turns, frozenset(self.projects))
        if self.is_busy:
            return IndexResult(*given, None, is_busy=True)
        if self.problem:
            return IndexResult(*given, None, (self.problem,), failed=True)
        return IndexResult(*given, self.reading.session, group_problems(self.reading.problems))


FolderRows = dict[str, tuple[int, str]]
"""cwd -> (its row, the project it belongs to)."""


def index_transcripts(
    db: sqlite3.Connection,
    readings: Iterable[tuple[Transcript, Readable]],
    owners: OwnerLookup,
    folders: FolderRows,
    cancelled: Callable[[], bool],
) -> Iterator[IndexResult]:
    """Indexes transcripts one after another. Yields each result once it is written, so some arrive together.

    `folders` is a cache kept between calls. Once `cancelled`, what was read so far is written and reading stops, even
    in the middle of a transcript, which then has no result. A transcript that cannot be read is a problem in its
    result. Raises sqlite3.Error.
    """
    group: list[_Open] = []
    size = 0
    for transcript, reading in readings:
        one = _Open(transcript, reading, session_rows.load_generation(db, replace_surrogates(transcript.place)))
        group.append(one)
        try:
            for turn in reading:
                one.unwritten_turns.append(turn)
                size += max(LEAST_CHARACTERS, estimate_row_size(turn))
                stop = cancelled()
                if stop or size >= BATCH_CHARACTERS:
                    one.has_checkpoint = reading.checkpoint()
                    yield from _write(db, group, owners, folders)
                    group, size = [one], 0
                    if stop:
                        return
                    if one.is_busy:
                        break
        except UnfinishedError:
            one.is_busy = True
        except (LerimError, OSError) as error:
            one.problem = _problem(transcript, error)
        one.is_ended = True
        if len(group) >= BATCH_TRANSCRIPTS:
            yield from _write(db, group, owners, folders)
            group, size = [], 0
    yield from _write(db, group, owners, folders)


def _write(db: sqlite3.Connection, group: list[_Open], owners: OwnerLookup, folders: FolderRows) -> list[IndexResult]:
    """Writes all waiting turns in one transaction; returns the results of the transcripts that are finished."""
    added: FolderRows = {}
    if any(not one.is_busy for one in group):
        with transaction(db):
            rows = _enter(db, group)
            batch = [(row, turn) for row, one in rows.items() for turn in one.unwritten_turns]
            for cwd in {turn.cwd for _, turn in batch}:
                added[cwd] = folders.get(cwd) or _folder(db, cwd, owners)
            written = turns.write_turns(db, batch, {cwd: row for cwd, (row, _) in added.items()})
            found = _projects(written.folders, added)
            for row, project in found:
                queue.enqueue_job(db, columns.EXTRACT_JOB, row, project)
            for row, one in rows.items():
                _finish(db, row, one)
        for row, one in rows.items():
            one.new_turns += written.new[row]
            one.projects |= {project for of, project in found if of == row}
            one.generation += 1
            one.unwritten_turns = []
        folders.update(added)
    return [one.make_result() for one in group if one.is_ended]


def _enter(db: sqlite3.Connection, group: list[_Open]) -> dict[int, _Open]:
    rows: dict[int, _Open] = {}
    for one in group:
        row = None if one.is_busy else session_rows.enter_transcript(db, one.transcript, one.generation)
        if row is None:
            one.is_busy = True
        else:
            rows[row] = one
    return rows


def _finish(db: sqlite3.Connection, row: int, one: _Open) -> None:
    if one.problem:
        session_rows.fail_transcript(db, one.transcript, one.problem)
    elif one.is_ended:
        damage = next(
            (problem.message for problem in group_problems(one.reading.problems) if problem.code in DAMAGE_CODES), ""
        )
        session_rows.finish_transcript(db, row, one.transcript, one.reading.session, one.reading.resume, damage)
        if one.reading.ids is not None:
            turns.remove_other_turns(db, row, one.reading.ids)
    elif one.has_checkpoint:
        session_rows.keep_session_progress(db, row, one.reading.session, one.reading.resume)


def group_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Combines the unreadable lines and rows of one transcript into a single problem that says how many there are."""
    places = [one for one in problems if one.code in _PLACES]
    others = [one for one in problems if one.code not in (*_PLACES, "many")]
    number = len(places) + sum(int(one.message.split(" ", 1)[0]) for one in problems if one.code == "many")
    if places and number > 1:
        first = places[0]
        places = [replace(first, message=f"{first.message.rstrip('.')} (the first of {number} such places in it)")]
    return (*places, *others)


def _projects(own: Iterable[tuple[int, str]], folders: Mapping[str, tuple[int, str]]) -> set[tuple[int, str]]:
    return {(row, folders[cwd][1]) for row, cwd in own if folders[cwd][1]}


def _folder(db: sqlite3.Connection, cwd: str, owners: OwnerLookup) -> tuple[int, str]:
    spelled = replace_surrogates(cwd)
    owner = owners.find_owner(cwd)
    db.execute("INSERT INTO folders (cwd, project) VALUES (?, ?) ON CONFLICT DO NOTHING", (spelled, owner))
    row = db.execute("SELECT id, project FROM folders WHERE cwd = ?", (spelled,)).fetchone()
    return int(row[0]), str(row[1])


def _problem(transcript: Transcript, error: LerimError | OSError) -> Problem:
    closed = isinstance(error, OSError) or isinstance(error.__cause__, OSError)
    code = session_rows.UNREADABLE_ERROR if closed else getattr(error, "code", LerimError.code)
    message = reason_of(error) if isinstance(error, OSError) else error.explanation
    return Problem(code, replace_surrogates(transcript.place), message)
