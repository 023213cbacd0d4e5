"""The options, the plan, the progress and the report of a backfill, as `backfill --json` shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.jobs.report import SyncState
from lerim.memory import QuoteChoice
from lerim.models import NO_USAGE, RoleUsage, Usage, WaitingWork


@dataclass(frozen=True, slots=True)
class BackfillOptions:
    """The options of a backfill. `until` is the last day to work on, None for today. `budget` is the most that models
    may cost in this run, in dollars, None for as much as the day's budget allows. `accept_above` and `quotes` are those
    of a sync. `write_journal`: write the entry of each day."""

    until: date | None = None
    budget: float | None = None
    model: Literal["auto", "none"] = "auto"
    accept_above: float | None = None
    quotes: QuoteChoice | None = None
    write_journal: bool = False


class BackfillPlan(msgspec.Struct, frozen=True):
    """What a backfill would do: its days, oldest first, and what it would cost. `waits` has the sessions that are not
    read yet, their tokens and their price with the chosen model; `done_through` is the last day of an earlier run, ""
    if there was none."""

    project: str
    days: list[str]
    waits: WaitingWork
    done_through: str = ""


class BackfillProgress(msgspec.Struct, frozen=True):
    """The progress of a backfill: it begins with `day`, after `days_done` of `days_total`."""

    day: str
    days_done: int
    days_total: int
    candidates: int


EmitBackfill = Callable[[BackfillProgress], None]


class BackfillDay(msgspec.Struct, frozen=True):
    """One day that was worked through: how many candidates were proposed and accepted, how many lifecycle steps were
    proposed or done, and what became of the journal's file ("" if none was asked for)."""

    day: str
    candidates: int
    accepted: int
    maintained: int
    journal: str = ""


class BackfillReport(msgspec.Struct, frozen=True):
    """The outcome of a backfill. `state` is `partial` if it stopped at `next_day`; `message` says why."""

    project: str
    days: list[BackfillDay]
    spent: list[RoleUsage]
    usage: Usage = NO_USAGE
    problems: list[Problem] = []
    state: SyncState = "done"
    next_day: str = ""
    message: str = ""
    seconds: float = 0.0
