"""A person's decisions about ranked candidates, saved so that the ranking learns from them.

Each decision is a row of the project's review ledger, in the private folder of the person's home. It is inserted in the
transaction that starts the action and deleted in the one that undoes it, so the two always agree, even if the process
is killed. Each sync starts by computing the adjustment of the ranking from the rows of all projects.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from lerim import sqlite
from lerim.errors import Problem
from lerim.paths import Home

if TYPE_CHECKING:  # a sidecar that lists candidates need not import the ranker
    from lerim.extraction import Judgment, PersonalAdjustment

JudgmentKind = Literal["accepted", "edited", "rejected", "wanted"]
"""What a person did with a candidate. `wanted`: they had it proposed although it was left out."""
MAX_JUDGMENTS_PER_PROJECT = 2_000
"""Maximum number of decisions that are kept per project, the latest ones."""
BUSY_SECONDS = 10.0
# An action that is not finished may still be reverted, so it does not count yet.
_LAST_PER_CANDIDATE = (
    "SELECT max(j.number) FROM judgments AS j LEFT JOIN actions AS a ON a.id=j.action"
    " WHERE coalesce(a.stage, 'done') IN ('done', 'undoing') GROUP BY j.candidate"
)


class _AsProposed(msgspec.Struct):
    """The fields of a proposed candidate that are needed here. An earlier version of Lerim may have stored them."""

    signal: str
    primitive: str = ""
    kind: str | None = None
    score: float | None = None
    features: tuple[float, ...] = ()


class JudgmentTable:
    """The `judgments` table of an open ledger. The ledger commits."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def add(self, action: str, candidate: str, what: JudgmentKind, now: datetime) -> None:
        """Saves a decision about a candidate with its features. A candidate that was not ranked is ignored."""
        from lerim.extraction import named_features

        row = self._sql.execute("SELECT told FROM claims WHERE id=?", (candidate,)).fetchone()
        made = decode_proposed(row[0]) if row and row[0] else None
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
        self._sql.execute(
            "DELETE FROM judgments WHERE number <= (SELECT max(number) FROM judgments) - ?",
            (MAX_JUDGMENTS_PER_PROJECT,),
        )

    def delete(self, action: str) -> None:
        """Deletes the decision of an action that is undone."""
        self._sql.execute("DELETE FROM judgments WHERE action=?", (action,))


def decode_proposed(told: bytes) -> _AsProposed | None:
    """Returns a candidate from its stored form in the ledger; None if it cannot be read."""
    try:
        return msgspec.json.decode(told, type=_AsProposed)
    except msgspec.MsgspecError:
        return None


class ForgetResult(msgspec.Struct, frozen=True):
    """How many decisions were deleted; `problems` has one entry for each ledger that could not be written."""

    forgotten: int
    problems: list[Problem]


def load_adjustment(home: Home) -> PersonalAdjustment:
    """Returns the adjustment of the ranking, learned from the person's decisions in all projects. An unreadable
    ledger counts as empty; the commands of its own project report it."""
    from lerim.extraction import MAX_JUDGMENTS, learn_adjustment

    rows = [row for path in find_ledgers(home) for row in _read_judgments(path)]
    rows.sort(key=lambda row: row[0])
    return learn_adjustment(judgment for _, judgment in rows[-MAX_JUDGMENTS:])


def count_judgments(home: Home) -> int:
    """Returns how many candidates have a decision that the ranking learns from."""
    from lerim.extraction import MAX_JUDGMENTS

    return min(MAX_JUDGMENTS, sum(1 for path in find_ledgers(home) for _ in _read_judgments(path)))


def forget_judgments(home: Home) -> ForgetResult:
    """Deletes all decisions in all projects. From the next sync on, the ranking is no longer adjusted. Memories and
    rejections stay, and undo still works."""
    forgotten, problems = 0, []
    for path in find_ledgers(home):
        try:
            with closing(connect_ledger(path)) as db:
                db.execute("PRAGMA secure_delete=ON")
                forgotten += db.execute("DELETE FROM judgments").rowcount
        except sqlite3.Error as error:
            problems.append(Problem("judgments", str(path), f"What you decided here cannot be forgotten: {error}."))
    return ForgetResult(forgotten, problems)


def find_ledgers(home: Home) -> list[Path]:
    """Returns the review ledgers of all projects in this home, including projects that are no longer listed."""
    try:
        return sorted((home.root / "projects").glob("*/review.sqlite3"))
    except OSError:
        return []


def connect_ledger(path: Path) -> sqlite3.Connection:
    """Connects to a ledger without migrating it; each statement is its own transaction. The connection is writable
    where possible, because SQLite must roll back what a killed process left behind. Raises sqlite3.Error."""
    return sqlite.connect(path, wait=BUSY_SECONDS)


def _read_judgments(path: Path) -> Iterator[tuple[float, Judgment]]:
    from lerim.extraction import Judgment, passage_aspects

    query = f"SELECT at, what, primitive, kind, score, features FROM judgments WHERE number IN ({_LAST_PER_CANDIDATE})"
    try:
        with closing(connect_ledger(path)) as db:
            found = db.execute(query).fetchall()
    except sqlite3.Error:
        return
    for at, what, primitive, kind, score, features in found:
        try:
            seen = msgspec.json.decode(features, type=dict[str, float])
        except msgspec.MsgspecError:
            continue
        yield at, Judgment(passage_aspects(seen, primitive, kind), score, what != "rejected")
