"""When and how often memories were used, what became of it, and the feedback on them: `uses.sqlite3` in a private
folder.

A use is: a person accepted, wrote, changed, restored or verified a memory, called it useful, opened it or viewed its
hover; a session repeated it; an answer cited it; an agent was given it. Lerim's own reading does not count, and no use
ever makes a memory truer. Nothing here raises: what cannot be read counts as unused, what cannot be written is lost,
and both are reported in `problems`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeVar

from lerim import sqlite
from lerim.errors import MemoryError_, Problem
from lerim.memory.lifecycle import NO_OUTCOMES, Feedback, ServedOutcomes, find_unwanted_reason
from lerim.memory.store import StoredMemory

UseKind = Literal["kept", "said", "useful", "opened", "hovered", "cited", "served"]

VERSION = 2
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TABLES = """
CREATE TABLE uses (
    memory TEXT NOT NULL, how TEXT NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (memory, how)
) WITHOUT ROWID;
CREATE TABLE feedback (memory TEXT NOT NULL, what TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX feedback_memory ON feedback (memory, at);
"""
_OUTCOMES = """
CREATE TABLE outcomes (
    memory TEXT PRIMARY KEY, repeated INTEGER NOT NULL, followed INTEGER NOT NULL, contradicted INTEGER NOT NULL
) WITHOUT ROWID;
"""
_SCHEMA = sqlite.Schema(
    name="The record of uses",
    version=VERSION,
    upgrade=lambda db, version: sqlite.run_script(db, _OUTCOMES if version == 1 else _TABLES + _OUTCOMES),
    settings=("synchronous = NORMAL",),
    wait=2.0,
    error=MemoryError_,
    failure="The uses of memories cannot be recorded",
    todo="Check the file's permissions and the free disk space.",
    todo_damaged="A new record is started next time.",
    replacement_notice="Memories count as unused until they are used again.",
    code="uses",
)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RecordedUse:
    """When a memory was last used, how often, and what became of it where agents were given it, as last computed."""

    last: datetime
    count: int
    outcomes: ServedOutcomes = NO_OUTCOMES


class Uses:
    """The uses of one scope's memories; the database is created on first use. Safe across threads and processes."""

    def __init__(self, private_dir: Path) -> None:
        self.path = private_dir / "uses.sqlite3"
        self.problems: list[Problem] = []

    def record_use(self, ids: Iterable[str], how: UseKind, at: datetime) -> None:
        """Counts one use of each of these memories at this time."""
        rows = [(one, how, _to_microseconds(at)) for one in dict.fromkeys(ids)]
        if rows:
            self._changed(lambda db: db.executemany(_NOTE, rows))

    def record_feedback(self, memory_id: str, what: Feedback, at: datetime) -> None:
        """Records a person's feedback on a memory."""
        self._changed(
            lambda db: db.execute("INSERT INTO feedback VALUES (?, ?, ?)", (memory_id, what, _to_microseconds(at)))
        )

    def replace_outcomes(self, outcomes: Mapping[str, ServedOutcomes]) -> None:
        """Keeps what became of memories that agents were given, by id, instead of what was kept before."""
        rows = [
            (memory, one.repeated, one.followed, one.contradicted)
            for memory, one in outcomes.items()
            if one != NO_OUTCOMES
        ]
        if not rows and not self.path.exists():
            return

        def replace(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM outcomes")
            db.executemany("INSERT INTO outcomes VALUES (?, ?, ?, ?)", rows)

        self._changed(replace)

    def of_memories(self, ids: Iterable[str]) -> dict[str, RecordedUse]:
        """Returns the uses of these memories by id, without those that were never used."""
        wanted = json.dumps(list(ids))
        query = f"{_SUMS} WHERE memory IN (SELECT value FROM json_each(?)) GROUP BY memory"
        return self._read(lambda db: _read_uses(db.execute(query, (wanted,))), {})

    def of_all(self) -> dict[str, RecordedUse]:
        """Returns the uses of every memory that was ever used, by id."""
        return self._read(lambda db: _read_uses(db.execute(f"{_SUMS} GROUP BY memory")), {})

    def last_feedback(self) -> dict[str, tuple[Feedback, datetime]]:
        """Returns the last feedback on each memory that has any, with its time, by id."""
        query = "SELECT memory, what, max(at) FROM feedback GROUP BY memory"
        return self._read(lambda db: {one: (what, _from_microseconds(at)) for one, what, at in db.execute(query)}, {})

    def find_unwanted(self) -> dict[str, tuple[Feedback, datetime]]:
        """Returns the memories that a person last called wrong or outdated and did nothing to keep since, by id, with
        the time of it."""
        kept = self.last_kept()
        feedback = self.last_feedback().items()
        return {one: said for one, said in feedback if find_unwanted_reason(*said, kept.get(one)) is not None}

    def delete_last_feedback(self, memory_id: str) -> None:
        """Deletes the last feedback on a memory."""
        last = "SELECT rowid FROM feedback WHERE memory = ? ORDER BY at DESC, rowid DESC LIMIT 1"
        self._changed(lambda db: db.execute(f"DELETE FROM feedback WHERE rowid = ({last})", (memory_id,)))

    def last_kept(self) -> dict[str, datetime]:
        """Returns when a person last did something with each memory that shows they want to keep it, by id."""
        query = "SELECT memory, last FROM uses WHERE how = 'kept'"
        return self._read(lambda db: {memory: _from_microseconds(last) for memory, last in db.execute(query)}, {})

    def _read(self, work: Callable[[sqlite3.Connection], Result], nothing: Result) -> Result:
        with sqlite.note_errors(self.path, _SCHEMA, self.problems):
            if self.path.exists():
                with closing(sqlite.open_database(self.path, _SCHEMA, self.problems)) as db:
                    return work(db)
        return nothing

    def _changed(self, work: Callable[[sqlite3.Connection], object]) -> None:
        with sqlite.note_errors(self.path, _SCHEMA, self.problems):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with closing(sqlite.open_database(self.path, _SCHEMA, self.problems)) as db, sqlite.transaction(db):
                work(db)


def unused_since(stored: StoredMemory, last: datetime | None) -> datetime:
    """Returns the time since which a memory has been unused. `last` is its last recorded use, if any; its `updated`
    and `verified` count, too. The time of its file does not count, because git writes files, too."""
    known = [stored.record.updated, last or stored.record.updated]
    with suppress(ValueError):
        known.append(datetime.fromisoformat(stored.record.verified[:10]).replace(tzinfo=UTC))
    return max(known)


_SUMS = (
    "SELECT memory, max(last), sum(count), repeated, followed, contradicted FROM uses LEFT JOIN outcomes USING (memory)"
)
_NOTE = (
    "INSERT INTO uses VALUES (?, ?, ?, 1) "
    "ON CONFLICT (memory, how) DO UPDATE SET last = max(last, excluded.last), count = count + 1"
)


def _read_uses(rows: Iterable[tuple[str, int, int, int | None, int, int]]) -> dict[str, RecordedUse]:
    return {
        memory: RecordedUse(
            _from_microseconds(last),
            count,
            NO_OUTCOMES if repeated is None else ServedOutcomes(repeated, followed, contradicted),
        )
        for memory, last, count, repeated, followed, contradicted in rows
    }


def _to_microseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


def _from_microseconds(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)
