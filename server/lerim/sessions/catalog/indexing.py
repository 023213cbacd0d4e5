"""Indexes transcripts into the catalog: turns in short transactions, several small transcripts in one.

The position is written with the turns it covers, also in the middle of a long transcript. If a process is killed before
that, the next one reads the same turns again and updates them; the result is the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from lerim.errors import LerimError, Problem, UnfinishedError
from lerim.sessions import queue
from lerim.sessions.catalog import session_parts, turns
from lerim.sessions.model import LOST_PLACE_CODES, OmittedProblems, Readable, Session, Transcript, Turn
from lerim.sessions.tables import column_values, estimate_row_size, replace_surrogates, session_rows
from lerim.sqlite import transaction

BATCH_CHARACTERS = 2_000_000
LEAST_TURN_CHARACTERS = 1_000
"""The fewest characters a turn counts as, so that no transaction contains more than 2,000 turns."""
BATCH_TRANSCRIPTS = 100
DAMAGE_CODES = ("bad-row", "cut-short", "broken-log")
"""Problem codes of transcripts that are read except for a damaged part; shown by `lerim connect list`."""


class OwnerLookup(Protocol):
    """A way to look up the project a working folder belongs to ('' for none)."""

    def find_owner(self, cwd: str) -> str: ...


@dataclass(frozen=True, slots=True)
class IndexResult:
    """The result of indexing one transcript. `projects` are the projects with new work. `failed`: it could not be
    read at all. `is_busy`: another process was indexing it at the same time and continues, or its agent is writing
    it right now; in both cases it is found again later."""

    transcript: Transcript
    new_turns: int
    projects: frozenset[str]
    session: Session | None
    problems: tuple[Problem, ...] = ()
    failed: bool = False
    is_busy: bool = False


@dataclass(slots=True)
class _OpenTranscript:
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


def index_transcripts(
    db: sqlite3.Connection,
    readings: Iterable[tuple[Transcript, Readable]],
    owners: OwnerLookup,
    cancelled: Callable[[], bool],
) -> Iterator[IndexResult]:
    """Indexes transcripts one after another. Yields each result once it is written, so several may arrive together.

    Once `cancelled` returns True, what was read so far is written and reading stops, even in the middle of a
    transcript, which then has no result. A transcript that cannot be read is a problem in its result. Raises
    sqlite3.Error.
    """
    group: list[_OpenTranscript] = []
    size = 0
    for transcript, reading in readings:
        opened = _OpenTranscript(
            transcript, reading, session_rows.load_generation(db, replace_surrogates(transcript.place))
        )
        group.append(opened)
        try:
            for turn in reading:
                opened.unwritten_turns.append(turn)
                size += max(LEAST_TURN_CHARACTERS, estimate_row_size(turn))
                is_cancelled = cancelled()
                if is_cancelled or size >= BATCH_CHARACTERS:
                    opened.has_checkpoint = reading.checkpoint()
                    yield from _write_group(db, group, owners)
                    group, size = [opened], 0
                    if is_cancelled:
                        return
                    if opened.is_busy:
                        break
        except UnfinishedError:
            opened.is_busy = True
        except LerimError as error:
            opened.problem = _make_problem(transcript, error)
        opened.is_ended = True
        if len(group) >= BATCH_TRANSCRIPTS:
            yield from _write_group(db, group, owners)
            group, size = [], 0
    yield from _write_group(db, group, owners)


def _write_group(db: sqlite3.Connection, group: list[_OpenTranscript], owners: OwnerLookup) -> list[IndexResult]:
    """Writes all waiting turns in one transaction; returns the results of the transcripts that are finished."""
    if any(not one.is_busy for one in group):
        with transaction(db):
            rows = _enter_transcripts(db, group)
            batch = [(row, turn) for row, one in rows.items() for turn in one.unwritten_turns]
            folder_rows = {cwd: _enter_folder(db, cwd, owners) for cwd in {turn.cwd for _, turn in batch}}
            written = turns.write_turns(db, batch, {cwd: row for cwd, (row, _) in folder_rows.items()})
            new_work = {(row, project) for row, cwd in written.folders if (project := folder_rows[cwd][1])}
            for row, project in new_work:
                queue.enqueue_job(db, column_values.EXTRACT_JOB, row, project)
            for row, one in rows.items():
                _finish_transcript(db, row, one)
            session_parts.forget_session_parts(db, {*rows, *written.moved_from})
        for row, one in rows.items():
            one.new_turns += written.new[row]
            one.projects |= {project for transcript, project in new_work if transcript == row}
            one.generation += 1
            one.unwritten_turns = []
    return [one.make_result() for one in group if one.is_ended]


def _enter_transcripts(db: sqlite3.Connection, group: list[_OpenTranscript]) -> dict[int, _OpenTranscript]:
    rows: dict[int, _OpenTranscript] = {}
    for one in group:
        row = None if one.is_busy else session_rows.enter_transcript(db, one.transcript, one.generation)
        if row is None:
            one.is_busy = True
        else:
            rows[row] = one
    return rows


def _finish_transcript(db: sqlite3.Connection, row: int, one: _OpenTranscript) -> None:
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


def group_problems(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Combines the unreadable lines and rows of one transcript into a single problem that says how many there are."""
    places = [one for one in problems if one.code in LOST_PLACE_CODES]
    omitted = [one for one in problems if isinstance(one, OmittedProblems)]
    others = [one for one in problems if one.code not in LOST_PLACE_CODES and not isinstance(one, OmittedProblems)]
    number = len(places) + sum(one.count for one in omitted)
    if places and number > 1:
        first = places[0]
        places = [replace(first, message=f"{first.message.rstrip('.')} (the first of {number} such places in it)")]
    return (*places, *others)


def _enter_folder(db: sqlite3.Connection, cwd: str, owners: OwnerLookup) -> tuple[int, str]:
    """Returns the row of a working folder, and the project it now belongs to."""
    stored_cwd = replace_surrogates(cwd)
    row = db.execute("SELECT id, project FROM folders WHERE cwd = ?", (stored_cwd,)).fetchone()
    if row is None:
        insert = "INSERT INTO folders (cwd, project) VALUES (?, ?) RETURNING id, project"
        row = db.execute(insert, (stored_cwd, owners.find_owner(cwd))).fetchone()
    return int(row[0]), str(row[1])


def _make_problem(transcript: Transcript, error: LerimError) -> Problem:
    code = session_rows.UNREADABLE_ERROR if isinstance(error.__cause__, OSError) else error.code
    return Problem(code, replace_surrogates(transcript.place), error.explanation)
