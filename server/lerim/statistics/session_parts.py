"""What the statistics count: every session split into its turns, and a part for what only its totals know."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from lerim.models import ModelPrice, find_price
from lerim.sessions import IS_MAIN_SESSION, NO_TOKENS, Tokens

PAUSE_SECONDS = 30 * 60
"""A longer gap between two turns does not count as time spent on the session."""


class CountedTurn(NamedTuple):
    """A turn from the catalog; `project` is that of its folder."""

    transcript: int
    time: float | None
    model: str
    project: str
    reply: int
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
    """A session's totals from the catalog. `is_main`: it counts as a session rather than as part of another."""

    transcript: int
    platform: str
    is_main: int
    turns: int
    prompts: int
    calls: int
    errors: int
    ended: float | None
    models: str
    cwds: str
    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    cost: float | None

    @property
    def tokens(self) -> Tokens:
        return Tokens.from_columns(self.input, self.output, self.cache_read, self.cache_write)


class CountedPart(NamedTuple):
    """One part to count: which group it belongs to, and its counts."""

    time: float | None
    model: str
    project: str
    prompt: int = 0
    calls: int = 0
    errors: int = 0
    tokens: Tokens = NO_TOKENS
    milliseconds: int = 0
    cost_pico_usd: int | None = None
    is_unpriced: bool = False


def read_counted_sessions(db: sqlite3.Connection) -> Iterator[tuple[SessionTotals, list[CountedTurn]]]:
    """Yields every session with the turns the catalog keeps with it, in order."""
    sessions = [
        SessionTotals(*row)
        for row in db.execute(
            f"SELECT t.id, t.platform, {IS_MAIN_SESSION}, s.turns, s.prompts, s.tool_calls, s.tool_errors, s.ended,"
            " s.models, s.cwds, s.input, s.output, s.cache_read, s.cache_write, s.cost"
            " FROM sessions s JOIN transcripts t ON t.id = s.transcript ORDER BY t.id"
        )
    ]
    rows = db.execute(
        "SELECT u.transcript, u.time, u.model, f.project, u.role = 'assistant', u.kind = 'prompt', u.calls, u.errors,"
        " u.input, u.output, u.cache_read, u.cache_write FROM turns u JOIN folders f ON f.id = u.folder"
        " ORDER BY u.transcript, u.ordinal, u.id"
    )
    groups = groupby(map(CountedTurn._make, rows), key=attrgetter("transcript"))
    number, turns = next(groups, (None, iter(())))
    for session in sessions:
        while number is not None and number < session.transcript:
            number, turns = next(groups, (None, iter(())))
        yield session, list(turns) if number == session.transcript else []


def split_session(
    db: sqlite3.Connection, session: SessionTotals, turns: list[CountedTurn], prices: dict[str, ModelPrice | None]
) -> Iterator[CountedPart]:
    """Yields the parts of a session: its turns, and one part for what only its totals know."""
    cost = session.cost or 0  # agents also write 0 if they know no price
    recorded = math.isfinite(cost) and cost > 0
    main = bool(session.is_main)
    named = Counter(turn.model for turn in turns if turn.model)
    model = named.most_common(1)[0][0] if named else session.models.partition("\n")[0]
    answered = model
    spoken = []  # a prompt counts for the model that answers it
    for turn in reversed(turns):
        answered = turn.model or answered
        spoken.append(answered if turn.reply or named else model)
    spoken.reverse()
    last: float | None = None
    spent = NO_TOKENS
    for turn, said in zip(turns, spoken, strict=True):
        lasted = 0
        if turn.time is not None:
            if last is not None and main and 0 < turn.time - last <= PAUSE_SECONDS:
                lasted = round(turn.time * 1000) - round(last * 1000)
            last = turn.time if last is None else max(last, turn.time)
        tokens = turn.tokens
        spent += tokens
        pico, unknown = (None, False) if recorded or tokens == NO_TOKENS else _cost(tokens, said, prices)
        yield CountedPart(
            turn.time,
            said,
            turn.project,
            turn.prompt if main else 0,
            turn.calls,
            turn.errors,
            tokens,
            lasted,
            pico,
            unknown,
        )
    # A fork's totals include the turns it copied, which already count for the original session.
    whole = len(turns) == session.turns
    rest = _rest(session.tokens, spent) if whole else NO_TOKENS
    at = last if last is not None else session.ended
    project = turns[-1].project if turns else _project(db, session.cwds)
    if recorded:
        pico, unknown = round(cost * 1e12), False
    elif rest != NO_TOKENS:
        pico, unknown = _cost(rest, model, prices)
    elif spent == NO_TOKENS:
        pico, unknown = (None, True) if session.input is None else (0, False)
    else:
        pico, unknown = None, False
    counted = (
        sum(turn.prompt for turn in turns),
        sum(turn.calls for turn in turns),
        sum(turn.errors for turn in turns),
    )
    told = (session.prompts, session.calls, session.errors)
    prompts, calls, errors = (max(0, all_ - some) if whole else 0 for all_, some in zip(told, counted, strict=True))
    yield CountedPart(at, model, project, prompts if main else 0, calls, errors, rest, 0, pico, unknown)


def _rest(total: Tokens, spent: Tokens) -> Tokens:
    return Tokens(
        max(0, total.input - spent.input),
        max(0, total.output - spent.output),
        max(0, total.cache_read - spent.cache_read),
        max(0, total.cache_write - spent.cache_write),
    )


def _project(db: sqlite3.Connection, cwds: str) -> str:
    """Returns the project of a session without turns of its own."""
    row = db.execute("SELECT project FROM folders WHERE cwd = ?", (cwds.partition("\n")[0],)).fetchone()
    return str(row[0]) if row else ""


def _cost(tokens: Tokens, model: str, prices: dict[str, ModelPrice | None]) -> tuple[int | None, bool]:
    if model not in prices:
        prices[model] = find_price(model)
    price = prices[model]
    return (None, True) if price is None else (price.of(tokens), False)
