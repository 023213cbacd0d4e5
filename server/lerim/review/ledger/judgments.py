"""What a person decided about ranked candidates, kept so that their ranking learns from it.

Each decision is a row of the project's review ledger, in the private folder of the person's home. It is written in the
transaction that begins the act and deleted with the one that undoes it, so that a kill at any instant leaves both or
neither. The correction of the ranking is computed from the rows of all projects each time a sync begins.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from lerim import sqlite
from lerim.errors import Problem
from lerim.paths import Home

if TYPE_CHECKING:  # a sidecar that lists candidates does without the ranker and all it reads with
    from lerim.extraction import Correction, Judgment

JudgmentKind = Literal["accepted", "edited", "rejected", "wanted"]
"""What a person did with a candidate; `wanted`: had it proposed though it was left out."""
KEPT = 2_000
"""So many decisions are kept of a project, the latest."""
BUSY_SECONDS = 10.0
# An act that was begun and not ended yet may still be taken back; it counts once it is done.
_LAST = (
    "SELECT max(j.number) FROM judgments AS j LEFT JOIN actions AS a ON a.id=j.action"
    " WHERE coalesce(a.stage, 'done') IN ('done', 'undoing') GROUP BY j.candidate"
)


class _AsProposed(msgspec.Struct):
    """What is needed of a candidate as it was proposed, also by an earlier version."""

    signal: str
    primitive: str
    kind: str | None = None
    score: float | None = None
    features: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    at: float
    judgment: Judgment


class JudgmentTable:
    """The rows in an open ledger; the ledger commits."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def keep(self, action: str, candidate: str, what: JudgmentKind, now: datetime) -> None:
        """Keep a decision about a candidate with its features; one that nothing ranked is passed over."""
        from lerim.extraction import named_features

        row = self._sql.execute("SELECT told FROM claims WHERE id=?", (candidate,)).fetchone()
        made = _as_proposed(row[0]) if row and row[0] else None
        features = named_features(made.features) if made else {}
        if made is None or made.score is None or not features:
            return
        self._sql.execute(
            "INSERT INTO judgments (action, candidate, at, what, signal, primitive, kind, score, features)"
            " VALUES (?,?,?,?,?,?,?,?,?)",
            (
                *(action, candidate, now.timestamp(), what, made.signal, made.primitive, made.kind, made.score),
                msgspec.json.encode(features),
            ),
        )
        self._sql.execute("DELETE FROM judgments WHERE number <= (SELECT max(number) FROM judgments) - ?", (KEPT,))

    def take_back(self, action: str) -> None:
        """Forget the decision of an act that is undone."""
        self._sql.execute("DELETE FROM judgments WHERE action=?", (action,))


def _as_proposed(told: bytes) -> _AsProposed | None:
    try:
        return msgspec.json.decode(told, type=_AsProposed)
    except msgspec.MsgspecError:
        return None


class ForgetResult(msgspec.Struct, frozen=True):
    """How many decisions were forgotten; `problems` are the ledgers that could not be written."""

    forgotten: int
    problems: list[Problem]


def load_correction(home: Home) -> Correction:
    """What the person's decisions in all projects do to the ranking. A ledger that cannot be read counts as empty: the
    commands of its own project tell."""
    from lerim.extraction import MAX_JUDGMENTS, learn_correction

    rows = [row for path in find_ledgers(home) for row in _rows(path)]
    rows.sort(key=lambda row: row.at)
    return learn_correction(row.judgment for row in rows[-MAX_JUDGMENTS:])


def count_judgments(home: Home) -> int:
    """How many candidates there are whose decisions move the ranking."""
    from lerim.extraction import MAX_JUDGMENTS

    return min(MAX_JUDGMENTS, sum(1 for path in find_ledgers(home) for _ in _rows(path)))


def forget_judgments(home: Home) -> ForgetResult:
    """Forget all decisions in all projects: from the next sync on the ranking is as it was learned. What was accepted
    or rejected stays so, and undo goes on."""
    forgotten, problems = 0, []
    for path in find_ledgers(home):
        try:
            with closing(connect_ledger(path)) as db:
                db.execute("PRAGMA secure_delete=ON")
                if db.execute("SELECT 1 FROM sqlite_master WHERE name='judgments'").fetchone():
                    forgotten += db.execute("DELETE FROM judgments").rowcount
        except sqlite3.Error as error:
            problems.append(Problem("judgments", str(path), f"What you decided here cannot be forgotten: {error}."))
    return ForgetResult(forgotten, problems)


def find_ledgers(home: Home) -> list[Path]:
    """The review ledgers of all projects of this home, also of those that are not listed any more."""
    try:
        return sorted((home.root / "projects").glob("*/review.sqlite3"))
    except OSError:
        return []


def connect_ledger(path: Path) -> sqlite3.Connection:
    """A ledger as it is. Not read-only where it may be written: what a kill left half done is undone by whoever opens
    it next. Each statement is a transaction. Raises sqlite3.Error."""
    return sqlite.connect(path, wait=BUSY_SECONDS)


def _rows(path: Path) -> Iterator[_Row]:
    """The last decision about each candidate of a project."""
    from lerim.extraction import Judgment, passage_aspects

    query = f"SELECT at, what, primitive, kind, score, features FROM judgments WHERE number IN ({_LAST})"
    try:
        with closing(connect_ledger(path)) as db:
            found = db.execute(query).fetchall()
    except sqlite3.Error:  # also one of an earlier version, which has no such table yet
        return
    for at, what, primitive, kind, score, features in found:
        try:
            seen = msgspec.json.decode(features, type=dict[str, float])
        except msgspec.MsgspecError:
            continue
        judged = Judgment(passage_aspects(seen, primitive, kind), score, what != "rejected")
        yield _Row(at, judged)
