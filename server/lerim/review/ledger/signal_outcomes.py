"""Statistics per signal: how many candidates it proposed, and what the person decided about them."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import msgspec

from lerim.errors import Problem
from lerim.extraction import FORMER_SIGNALS, Signal
from lerim.review.ledger.judgments import connect_ledger, decode_proposed
from lerim.review.ledger.left_out import OPEN

SIGNAL_NAMES: dict[Signal, str] = {
    "prompt": "you typed",
    "answer": "your answer",
    "feedback": "you said about a call",
    "plan": "approved plan",
    "reply": "the agent said",
    "fixed-command": "fixed command",
    "friction": "same error in several sessions",
    "theme": "theme",
    "model": "model",
}
"""Each signal as it is shown to a person."""


class SignalOutcome(msgspec.Struct, frozen=True):
    """How many candidates of one signal had which outcome.

    `proposed` counts all that were ever proposed, including those that are waiting, withdrawn or outdated. A candidate
    that was edited and then accepted counts in both `edited` and `accepted`. `left_out` were not proposed;
    `proposed_anyway` were left out first and proposed because the person wanted them.
    """

    signal: str
    name: str
    proposed: int
    accepted: int
    edited: int
    rejected: int
    left_out: int
    proposed_anyway: int


COUNT_FIELDS = SignalOutcome.__struct_fields__[2:]
"""The names of the fields that count."""


def outcomes_by_signal(
    ledgers: Iterable[Path], since: datetime | None = None, until: datetime | None = None
) -> tuple[list[SignalOutcome], list[Problem]]:
    """Returns the outcomes of every signal in these ledgers, the signal with the most proposals first. Only turns
    from `since` until before `until` count (None: no bound). A ledger that cannot be read becomes a problem."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    problems: list[Problem] = []
    low = since.timestamp() if since else -math.inf
    high = until.timestamp() if until else math.inf
    for path in ledgers:
        try:
            with closing(connect_ledger(path)) as db:
                for signal, what in list(_counted(db, low, high)):
                    counts[signal][what] += 1
        except sqlite3.Error as error:
            problems.append(Problem("ledger-unreadable", str(path), f"The review ledger cannot be read: {error}."))
    order = sorted((name for name in SIGNAL_NAMES if counts.get(name)), key=lambda name: -counts[name]["proposed"])
    figures = [
        SignalOutcome(one, SIGNAL_NAMES[one], **{what: counts[one][what] for what in COUNT_FIELDS}) for one in order
    ]
    return figures, problems


def sum_outcomes(figures: Iterable[SignalOutcome]) -> SignalOutcome:
    """Returns the sum over all signals."""
    total: Counter[str] = Counter()
    for one in figures:
        total.update({name: getattr(one, name) for name in COUNT_FIELDS})
    return SignalOutcome("", "total", **{name: total[name] for name in COUNT_FIELDS})


def _counted(db: sqlite3.Connection, low: float, high: float) -> Iterator[tuple[str, str]]:
    done = {
        kind: {row[0] for row in db.execute("SELECT candidate FROM actions WHERE kind=? AND stage='done'", (kind,))}
        for kind in ("edit", "propose")
    }
    edited = done["edit"].union(row[0] for row in db.execute("SELECT candidate FROM judgments WHERE what='edited'"))
    # A claim without a candidate file (`written`) was never shown to anybody.
    query = "SELECT id, state, said, told FROM claims WHERE told != x'' AND written != ''"
    for name, state, said, told in db.execute(query):
        if low <= said / 1e6 < high:
            signal = _signal(told)
            yield signal, "proposed"
            if state in ("accepted", "rejected"):
                yield signal, state
            if name in edited:
                yield signal, "edited"
            if name in done["propose"]:
                yield signal, "proposed_anyway"
    for said, told in db.execute(f"SELECT l.said, l.candidate {OPEN} AND l.candidate IS NOT NULL"):
        if low <= said < high:
            yield _signal(told), "left_out"


def _signal(told: bytes) -> str:
    proposed = decode_proposed(told)
    return FORMER_SIGNALS.get(proposed.signal, proposed.signal) if proposed else ""
