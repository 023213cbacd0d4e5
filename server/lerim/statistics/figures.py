"""Statistics over all sessions: counts, time, tool calls, tokens and cost; by day, agent, model or repository.

They are computed from turns, so that what a fork copied counts once. What is only known for a session as a whole
(tokens an agent reports at the end, the cost it recorded) is added once, to the session's last day, main model and last
folder. All sums use integers, so the groups add up to the total.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
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

    `sessions` counts those with something in this group: a session over two days is in both, and a subagent's counts as
    part of its parent's, if that was read. `errors` are failed tool calls. Tokens are None if no session of the group
    has counts; `untold` is how many have none. `cost` (USD) is None if no price is known; `unpriced` is how many
    sessions it leaves out, completely or in part. `seconds` is the time between turns, without gaps of more than half
    an hour.
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
    priced: bool = False
    prompts: int = 0
    calls: int = 0
    errors: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    milliseconds: int = 0
    cost_pico_usd: int = 0

    def to_figures(self, key: str | None) -> Figures:
        has_tokens = self.has_tokens
        return Figures(
            key=key,
            sessions=len(self.sessions),
            prompts=self.prompts,
            tool_calls=self.calls,
            errors=self.errors,
            input=self.input if has_tokens else None,
            output=self.output if has_tokens else None,
            cache_read=self.cache_read if has_tokens else None,
            cache_write=self.cache_write if has_tokens else None,
            seconds=self.milliseconds / 1000,
            cost=self.cost_pico_usd / 1e12 if self.priced else None,
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
    with convert_sqlite_errors(catalog.path):
        session_parts.count_changed_sessions(catalog.db)
        tables = cut_sessions(catalog.db, bounds)
        found = sum_groups(catalog.db, by, bounds, tables)
        prices = {model: find_price(model) for model in {one.model for one in found}}
        for one in found:
            _add_sum(sums[_make_key(one.key)], one, prices[one.model])
        unpriced_models = [model for model, price in prices.items() if price is None]
        for session in list_group_sessions(catalog.db, by, bounds, tables, unpriced_models):
            group = sums[_make_key(session.key)]
            group.sessions.add(session.transcript)
            if session.untold:
                group.untold.add(session.transcript)
            if session.unpriced:
                group.unpriced.add(session.transcript)
    groups = [one.to_figures(key) for key, one in sums.items()]
    groups.sort(
        key=lambda one: (one.key is None, one.key or "") if by == "day" else (-(one.output or 0), one.key or "")
    )
    return Statistics(by, groups, _sum_groups(sums.values()).to_figures(None))


def _sum_groups(groups: Iterable[_GroupSum]) -> _GroupSum:
    total = _GroupSum()
    for group in groups:
        for name in _GroupSum.__slots__:
            one, other = getattr(total, name), getattr(group, name)
            setattr(total, name, one | other if isinstance(one, set | bool) else one + other)
    return total


def _make_key(key: str | int | None) -> str | None:
    return _format_day(key * QUARTER_SECONDS) if isinstance(key, int) else key or None


def _format_day(time: float) -> str | None:
    try:
        return datetime.fromtimestamp(time).astimezone().date().isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def _add_sum(group: _GroupSum, one: GroupSum, price: ModelPrice | None) -> None:
    tokens = Tokens(one.input, one.output, one.cache_read, one.cache_write)
    group.has_tokens = group.has_tokens or bool(one.has_tokens)
    group.prompts += one.prompts
    group.calls += one.calls
    group.errors += one.errors
    group.input += tokens.input
    group.output += tokens.output
    group.cache_read += tokens.cache_read
    group.cache_write += tokens.cache_write
    group.milliseconds += one.milliseconds
    if one.cost is not None:
        group.priced = True
        group.cost_pico_usd += one.cost
    if one.by_price and price is not None and tokens != NO_TOKENS:
        group.priced = True
        group.cost_pico_usd += price.of(tokens)
