"""The parts of each session that the statistics count: its turns, and one part for what only its totals record.

The table `session_parts` stores their sums: for each session, one row per quarter of an hour, folder and model. In
every time zone in use, days begin at the start of a quarter. A session without rows has changed since it was
counted: it is counted again at the end of a sync and before statistics are shown. The sums leave out whatever may
change without the session: prices, the project of a folder, and whether the session is part of another one.
"""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import msgspec

from lerim.sessions.model import NO_TOKENS, Tokens
from lerim.sessions.tables import to_json_list
from lerim.sqlite import transaction

PAUSE_SECONDS = 30 * 60
"""A longer gap between two turns does not count as time spent on the session."""
QUARTER_SECONDS = 15 * 60
COUNTED_TOGETHER = 500
"""How many sessions are counted in one transaction, during which other processes have to wait."""
_MOST_COUNTED, _MOST_COST = 10**12, 2**63 - 1
"""The largest numbers in a transcript that are believed: sums of larger ones would not fit into a column."""
_FIND_UNCOUNTED = (
    "SELECT transcript FROM sessions s"
    " WHERE NOT EXISTS (SELECT 1 FROM session_parts p WHERE p.transcript = s.transcript) LIMIT ?"
)
SumRow = tuple[int | str | None, ...]
SUM_ROW = ", ".join("?" * 16)
"""The type of a row of `session_parts`, and the placeholders of its values in SQL."""


class CountedTurn(NamedTuple):
    """A turn from the catalog."""

    transcript: int
    time: float | None
    model: str
    folder: int
    prompt: int
    calls: int
    errors: int
    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None

    @property
    def tokens(self) -> Tokens:
        return Tokens.from_columns(self.input, self.output, self.cache_read, self.cache_write)


class SessionTotals(NamedTuple):
    """A session's totals from the catalog."""

    transcript: int
    turns: int
    prompts: int
    calls: int
    errors: int
    ended: float | None
    models: str
    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    cost: float | None

    @property
    def tokens(self) -> Tokens:
        return Tokens.from_columns(self.input, self.output, self.cache_read, self.cache_write)


class CountedPart(NamedTuple):
    """One part to count. `folder` is None in a session without turns of its own.

    `cost_pico_usd` is what the agent recorded, or 0 if there is nothing to pay; `is_unpriced`: there is a cost, but
    nobody knows it. `by_price`: the cost is computed from the tokens and the price of their model.
    """

    time: float | None
    folder: int | None
    model: str
    prompts: int = 0
    calls: int = 0
    errors: int = 0
    milliseconds: int = 0
    tokens: Tokens = NO_TOKENS
    by_price: bool = False
    cost_pico_usd: int | None = None
    is_unpriced: bool = False


def read_counted_sessions(
    db: sqlite3.Connection, transcripts: Iterable[int]
) -> Iterator[tuple[SessionTotals, list[CountedTurn]]]:
    """Yields the totals of these sessions, each with the turns that the catalog stores for it, in order."""
    parameters = (to_json_list(transcripts),)
    sessions = db.execute(
        "SELECT transcript, turns, prompts, tool_calls, tool_errors, ended, models, input, output, cache_read,"
        " cache_write, cost FROM sessions WHERE transcript IN (SELECT value FROM json_each(?)) ORDER BY transcript",
        parameters,
    ).fetchall()
    rows = db.execute(
        "SELECT transcript, time, model, folder, kind = 'prompt', calls, errors, input, output,"
        " cache_read, cache_write FROM turns WHERE transcript IN (SELECT value FROM json_each(?))"
        " ORDER BY transcript, ordinal, id",
        parameters,
    )
    groups = groupby(map(CountedTurn._make, rows), key=attrgetter("transcript"))
    number, turns = next(groups, (None, iter(())))
    for session in map(SessionTotals._make, sessions):
        while number is not None and number < session.transcript:
            number, turns = next(groups, (None, iter(())))
        yield session, list(turns) if number == session.transcript else []


def split_session(session: SessionTotals, turns: list[CountedTurn]) -> Iterator[CountedPart]:
    """Yields the parts of a session: its turns, and one part for what only its totals record."""
    cost = session.cost or 0  # agents also write 0 if they know no price
    has_cost = math.isfinite(cost) and cost > 0
    model_counts = Counter(turn.model for turn in turns if turn.model)
    model = model_counts.most_common(1)[0][0] if model_counts else session.models.partition("\n")[0]
    turn_models = [model]  # of the last turn first; a prompt counts for the model that answers it
    for turn in reversed(turns):
        turn_models.append(turn.model or turn_models[-1])
    last: float | None = None
    counted_tokens = NO_TOKENS
    for turn in turns:
        duration_ms = 0
        if turn.time is not None:
            if last is not None and 0 < turn.time - last <= PAUSE_SECONDS:
                duration_ms = round(turn.time * 1000) - round(last * 1000)
            last = turn.time if last is None else max(last, turn.time)
        tokens = turn.tokens
        if tokens != NO_TOKENS:
            counted_tokens += tokens
        counts = (turn.prompt, turn.calls, turn.errors, duration_ms)
        yield CountedPart(turn.time, turn.folder, turn_models.pop(), *counts, tokens, by_price=not has_cost)
    # A fork's totals include the turns it copied, which already count for the original session.
    is_complete = len(turns) == session.turns
    rest_tokens = _clamp_tokens(session.tokens - counted_tokens) if is_complete else NO_TOKENS
    has_no_tokens = rest_tokens == counted_tokens == NO_TOKENS
    cost_pico_usd: int | None = None
    if has_cost:
        cost_pico_usd = round(cost * 1e12)
    elif has_no_tokens and session.input is not None:
        cost_pico_usd = 0
    rest_counts = (
        session.prompts - sum(turn.prompt for turn in turns),
        session.calls - sum(turn.calls for turn in turns),
        session.errors - sum(turn.errors for turn in turns),
    )
    prompts, calls, errors = (max(0, count) if is_complete else 0 for count in rest_counts)
    yield CountedPart(
        last if last is not None else session.ended,
        turns[-1].folder if turns else None,
        model,
        prompts,
        calls,
        errors,
        0,
        rest_tokens,
        by_price=not has_cost,
        cost_pico_usd=cost_pico_usd,
        is_unpriced=not has_cost and has_no_tokens and session.input is None,
    )


def _clamp_tokens(tokens: Tokens) -> Tokens:
    return Tokens(*(max(0, count) for count in msgspec.structs.astuple(tokens)))


def count_changed_sessions(db: sqlite3.Connection) -> None:
    """Counts all sessions that changed since they were counted, in short transactions."""
    while db.execute(_FIND_UNCOUNTED, (1,)).fetchone():
        with transaction(db):
            found = db.execute(_FIND_UNCOUNTED, (COUNTED_TOGETHER,)).fetchall()
            write_session_parts(db, [transcript for (transcript,) in found])


def write_session_parts(db: sqlite3.Connection, transcripts: Iterable[int]) -> None:
    """Writes the sums of sessions that have none; call it inside a transaction."""
    rows: list[SumRow] = []
    for session, turns in read_counted_sessions(db, transcripts):
        rows += sum_parts(session.transcript, split_session(session, turns))
    db.executemany(f"INSERT INTO session_parts VALUES ({SUM_ROW})", rows)


def forget_session_parts(db: sqlite3.Connection, transcripts: Iterable[int]) -> None:
    """Removes the sums of sessions that change; call it inside a transaction."""
    db.executemany("DELETE FROM session_parts WHERE transcript = ?", [(transcript,) for transcript in transcripts])


def sum_parts(transcript: int, parts: Iterable[CountedPart]) -> list[SumRow]:
    """Returns the rows of a session: the sums of its parts for each quarter, folder and model."""
    sums: dict[tuple[int | None, int | None, str], CountedPart] = {}
    for part in parts:
        key = None if part.time is None else math.floor(part.time / QUARTER_SECONDS), part.folder, part.model
        before = sums.get(key)
        sums[key] = part if before is None else _add_parts(before, part)
    return [
        (
            transcript,
            number,
            *key,
            *(min(count, _MOST_COUNTED) for count in (part.prompts, part.calls, part.errors, part.milliseconds)),
            *(min(count, _MOST_COUNTED) for count in msgspec.structs.astuple(part.tokens)),
            part.by_price,
            None if part.cost_pico_usd is None else min(part.cost_pico_usd, _MOST_COST),
            part.is_unpriced,
        )
        for number, (key, part) in enumerate(sums.items())
    ]


def _add_parts(one: CountedPart, other: CountedPart) -> CountedPart:
    costs = [part.cost_pico_usd for part in (one, other) if part.cost_pico_usd is not None]
    return one._replace(
        prompts=one.prompts + other.prompts,
        calls=one.calls + other.calls,
        errors=one.errors + other.errors,
        milliseconds=one.milliseconds + other.milliseconds,
        tokens=one.tokens + other.tokens if other.tokens is not NO_TOKENS else one.tokens,
        cost_pico_usd=sum(costs) if costs else None,
        is_unpriced=one.is_unpriced or other.is_unpriced,
    )
