"""Statistics over all sessions: counts, time, tool calls, tokens and cost; by day, agent, model or repository.

They are computed from turns, so that turns copied by a fork count once. Values that are only known for a session as
a whole (tokens that an agent reports at the end, the cost that it recorded) are added once, to the session's last
day, main model and last folder. All sums use integers, so that the groups add up to the total.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import msgspec

from lerim.models import ModelPrice, find_price
from lerim.sessions import NO_TOKENS, Catalog, Tokens, convert_sqlite_errors, session_parts
from lerim.statistics.stored_sums import (
    QUARTER_SECONDS,
    Bounds,
    GroupSum,
    cut_sessions,
    list_group_sessions,
    sum_groups,
)

GroupBy = Literal["day", "agent", "model", "repo"]


class Figures(msgspec.Struct, frozen=True):
    """The figures of one group. `key`: the day (local, `2026-07-01`), agent, model or project; None if unknown.

    `sessions` counts the sessions that have turns in this group: a session over two days is in both, and a
    subagent's session counts as part of its parent's, if that was read. `errors` are failed tool calls. Tokens are
    None if no session of the group has counts; `untold` is how many have none. `cost` (USD) is None if no price is
    known; `unpriced` is how many sessions it leaves out, completely or in part. `seconds` is the time between turns,
    without gaps of more than half an hour.
    """

    key: str | None
    sessions: int
    prompts: int
    tool_calls: int
    errors: int
    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    seconds: float
    cost: float | None
    untold: int
    unpriced: int


class Statistics(msgspec.Struct, frozen=True):
    """The groups (days in order, others by output tokens, highest first) and their total."""

    by: GroupBy
    groups: list[Figures]
    total: Figures


NO_FIGURES = Figures(None, 0, 0, 0, 0, None, None, None, None, 0.0, None, 0, 0)
"""The figures of no sessions."""


@dataclass(slots=True)
class _GroupSum:
    sessions: set[int] = field(default_factory=set)
    untold: set[int] = field(default_factory=set)
    unpriced: set[int] = field(default_factory=set)
    has_tokens: bool = False
    tokens: Tokens = NO_TOKENS
    prompts: int = 0
    calls: int = 0
    errors: int = 0
    milliseconds: int = 0
    cost_pico_usd: int | None = None

    def to_figures(self, key: str | None) -> Figures:
        has_tokens, tokens = self.has_tokens, self.tokens
        return Figures(
            key=key,
            sessions=len(self.sessions),
            prompts=self.prompts,
            tool_calls=self.calls,
            errors=self.errors,
            input=tokens.input if has_tokens else None,
            output=tokens.output if has_tokens else None,
            cache_read=tokens.cache_read if has_tokens else None,
            cache_write=tokens.cache_write if has_tokens else None,
            seconds=self.milliseconds / 1000,
            cost=None if self.cost_pico_usd is None else self.cost_pico_usd / 1e12,
            untold=len(self.untold),
            unpriced=len(self.unpriced),
        )


def compute_statistics(
    catalog: Catalog,
    by: GroupBy = "day",
    project: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Statistics:
    """Computes the figures of all sessions, or of one project, between two times (None: no bound).

    Only turns between the bounds count; a session's own totals count at its end. Sessions that changed since the last
    time are counted first. Raises CatalogError.
    """
    bounds = Bounds(project, since.timestamp() if since else None, until.timestamp() if until else None)
    sums: defaultdict[str | None, _GroupSum] = defaultdict(_GroupSum)
    total = _GroupSum()
    with convert_sqlite_errors(catalog.path):
        session_parts.count_changed_sessions(catalog.db)
        tables = cut_sessions(catalog.db, bounds)
        found = sum_groups(catalog.db, by, bounds, tables)
        prices = {model: find_price(model) for model in {one.model for one in found}}
        for one in found:
            for group in (sums[_make_key(one.key)], total):
                _add_sum(group, one, prices[one.model])
        unpriced_models = [model for model, price in prices.items() if price is None]
        for session in list_group_sessions(catalog.db, by, bounds, tables, unpriced_models):
            for group in (sums[_make_key(session.key)], total):
                group.sessions.add(session.transcript)
                if session.untold:
                    group.untold.add(session.transcript)
                if session.unpriced:
                    group.unpriced.add(session.transcript)
    groups = [one.to_figures(key) for key, one in sums.items()]
    groups.sort(
        key=lambda one: (one.key is None, one.key or "") if by == "day" else (-(one.output or 0), one.key or "")
    )
    return Statistics(by, groups, total.to_figures(None))


def _make_key(key: str | int | None) -> str | None:
    return _format_day(key * QUARTER_SECONDS) if isinstance(key, int) else key or None


def _format_day(time: float) -> str | None:
    try:
        return datetime.fromtimestamp(time).astimezone().date().isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def _add_sum(group: _GroupSum, one: GroupSum, price: ModelPrice | None) -> None:
    tokens = Tokens(one.input, one.output, one.cache_read, one.cache_write)
    group.has_tokens |= bool(one.has_tokens)
    group.tokens += tokens
    group.prompts += one.prompts
    group.calls += one.calls
    group.errors += one.errors
    group.milliseconds += one.milliseconds
    by_price = price.of(tokens) if one.by_price and price is not None and tokens != NO_TOKENS else None
    for cost in (one.cost, by_price):
        if cost is not None:
            group.cost_pico_usd = (group.cost_pico_usd or 0) + cost
