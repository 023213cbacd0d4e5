"""Statistics over all sessions: counts, time, tool calls, tokens and cost; by day, agent, model or repository.

They are computed from turns, so that what a fork copied counts once. What is only known for a session as a whole
(tokens an agent reports at the end, the cost it recorded) is added once, to the session's last day, main model and last
folder. All sums use integers, so the groups add up to the total.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import msgspec

from lerim.models import ModelPrice
from lerim.sessions import NO_TOKENS, Catalog, convert_sqlite_errors
from lerim.statistics.session_parts import CountedPart, SessionTotals, read_counted_sessions, split_session

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

    Only turns between the bounds count; a session's own totals count at its end. Raises CatalogError.
    """
    earliest = since.timestamp() if since else -math.inf
    latest = until.timestamp() if until else math.inf
    is_bounded = since is not None or until is not None
    sums: dict[str | None, _GroupSum] = {}
    prices: dict[str, ModelPrice | None] = {}
    with convert_sqlite_errors(catalog.path):
        for session, turns in read_counted_sessions(catalog.db, since.timestamp() if since else None, project):
            for part in split_session(catalog.db, session, turns, prices):
                if project is not None and part.project != project:
                    continue
                if is_bounded and not (part.time is not None and earliest <= part.time < latest):
                    continue
                key = _find_group_key(by, session, part)
                group = sums.get(key)
                if group is None:
                    group = sums[key] = _GroupSum()
                _add_part(group, session, part)
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


def _find_group_key(by: GroupBy, session: SessionTotals, part: CountedPart) -> str | None:
    if by == "day":
        return _format_day(part.time)
    return {"agent": session.platform, "model": part.model, "repo": part.project}[by] or None


def _format_day(time: float | None) -> str | None:
    try:
        return None if time is None else datetime.fromtimestamp(time).astimezone().date().isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def _add_part(group: _GroupSum, session: SessionTotals, part: CountedPart) -> None:
    if session.is_main:
        group.sessions.add(session.transcript)
        if session.input is None:
            group.untold.add(session.transcript)
        if part.is_unpriced:
            group.unpriced.add(session.transcript)
    group.has_tokens = group.has_tokens or session.input is not None or part.tokens != NO_TOKENS
    group.prompts += part.prompt
    group.calls += part.calls
    group.errors += part.errors
    if part.tokens is not NO_TOKENS:
        group.input += part.tokens.input
        group.output += part.tokens.output
        group.cache_read += part.tokens.cache_read
        group.cache_write += part.tokens.cache_write
    group.milliseconds += part.milliseconds
    if part.cost_pico_usd is not None:
        group.priced = True
        group.cost_pico_usd += part.cost_pico_usd
