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
from lerim.sessions import IS_MAIN_SESSION, NO_TOKENS, Tokens, columns

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


_MAY_COUNT = (
    " WHERE (:earliest IS NULL OR s.ended >= :earliest"
    "  OR t.id IN (SELECT transcript FROM turns WHERE time >= :earliest))"
    " AND (:project IS NULL OR NOT EXISTS (SELECT 1 FROM turns WHERE transcript = t.id)"
    "  OR t.id IN (SELECT transcript FROM turns WHERE folder IN (SELECT id FROM folders WHERE project = :project)))"
)
"""Leaves out sessions of which no part can count."""


def read_counted_sessions(
    db: sqlite3.Connection, earliest: float | None = None, project: str | None = None
) -> Iterator[tuple[SessionTotals, list[CountedTurn]]]:
    """Yields sessions with the turns the catalog keeps with them, in order: all that may have a part since `earliest`
    (epoch seconds) in this project; None means no bound."""
    parameters = {"earliest": earliest, "project": project}
    sessions = [
        SessionTotals(*row)
        for row in db.execute(
            f"SELECT t.id, t.platform, {IS_MAIN_SESSION}, s.turns, s.prompts, s.tool_calls, s.tool_errors, s.ended,"
            " s.models, s.cwds, s.input, s.output, s.cache_read, s.cache_write, s.cost"
            f" FROM sessions s JOIN transcripts t ON t.id = s.transcript{_MAY_COUNT} ORDER BY t.id",
            parameters,
        )
    ]
    is_bounded = earliest is not None or project is not None
    wanted = columns.to_json_list(session.transcript for session in sessions) if is_bounded else None
    rows = db.execute(
        "SELECT u.transcript, u.time, u.model, f.project, u.role = 'assistant', u.kind = 'prompt', u.calls, u.errors,"
        " u.input, u.output, u.cache_read, u.cache_write FROM turns u JOIN folders f ON f.id = u.folder"
        f"{' WHERE u.transcript IN (SELECT value FROM json_each(:wanted))' if is_bounded else ''}"
        " ORDER BY u.transcript, u.ordinal, u.id",
        {"wanted": wanted},
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
    has_cost = math.isfinite(cost) and cost > 0
    is_main = bool(session.is_main)
    model_counts = Counter(turn.model for turn in turns if turn.model)
    model = model_counts.most_common(1)[0][0] if model_counts else session.models.partition("\n")[0]
    answering_model = model
    turn_models = []  # a prompt counts for the model that answers it
    for turn in reversed(turns):
        answering_model = turn.model or answering_model
        turn_models.append(answering_model if turn.reply or model_counts else model)
    turn_models.reverse()
    last: float | None = None
    counted_tokens = NO_TOKENS
    for turn, turn_model in zip(turns, turn_models, strict=True):
        duration_ms = 0
        if turn.time is not None:
            if last is not None and is_main and 0 < turn.time - last <= PAUSE_SECONDS:
                duration_ms = round(turn.time * 1000) - round(last * 1000)
            last = turn.time if last is None else max(last, turn.time)
        tokens = turn.tokens
        cost_pico_usd, is_unpriced = None, False
        if tokens != NO_TOKENS:
            counted_tokens += tokens
            if not has_cost:
                cost_pico_usd, is_unpriced = _price_tokens(tokens, turn_model, prices)
        yield CountedPart(
            turn.time,
            turn_model,
            turn.project,
            turn.prompt if is_main else 0,
            turn.calls,
            turn.errors,
            tokens,
            duration_ms,
            cost_pico_usd,
            is_unpriced,
        )
    # A fork's totals include the turns it copied, which already count for the original session.
    is_complete = len(turns) == session.turns
    rest_tokens = _subtract_tokens(session.tokens, counted_tokens) if is_complete else NO_TOKENS
    time = last if last is not None else session.ended
    project = turns[-1].project if turns else _find_project(db, session.cwds)
    if has_cost:
        cost_pico_usd, is_unpriced = round(cost * 1e12), False
    elif rest_tokens != NO_TOKENS:
        cost_pico_usd, is_unpriced = _price_tokens(rest_tokens, model, prices)
    elif counted_tokens == NO_TOKENS:
        cost_pico_usd, is_unpriced = (None, True) if session.input is None else (0, False)
    else:
        cost_pico_usd, is_unpriced = None, False
    turn_sums = (
        sum(turn.prompt for turn in turns),
        sum(turn.calls for turn in turns),
        sum(turn.errors for turn in turns),
    )
    session_sums = (session.prompts, session.calls, session.errors)
    prompts, calls, errors = (
        max(0, all_ - some) if is_complete else 0 for all_, some in zip(session_sums, turn_sums, strict=True)
    )
    yield CountedPart(
        time, model, project, prompts if is_main else 0, calls, errors, rest_tokens, 0, cost_pico_usd, is_unpriced
    )


def _subtract_tokens(total: Tokens, spent: Tokens) -> Tokens:
    return Tokens(
        max(0, total.input - spent.input),
        max(0, total.output - spent.output),
        max(0, total.cache_read - spent.cache_read),
        max(0, total.cache_write - spent.cache_write),
    )


def _find_project(db: sqlite3.Connection, cwds: str) -> str:
    """Returns the project of a session without turns of its own."""
    row = db.execute("SELECT project FROM folders WHERE cwd = ?", (cwds.partition("\n")[0],)).fetchone()
    return str(row[0]) if row else ""


def _price_tokens(tokens: Tokens, model: str, prices: dict[str, ModelPrice | None]) -> tuple[int | None, bool]:
    if model not in prices:
        prices[model] = find_price(model)
    price = prices[model]
    return (None, True) if price is None else (price.of(tokens), False)
