"""Works through a project's past, one local day after the other, as if Lerim had been there: each day is synced,
maintained and, if wanted, written to the journal with the clock at its end.

It holds the project's lock for all its days, because a sync in between would read the newest sessions first. A process
that is killed loses nothing: the next run continues with the day it was at, and the parts of a day can be repeated.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from lerim.errors import LerimError, Problem, StoppedError
from lerim.hook import refresh_if_used
from lerim.jobs.backfill.plan import plan_backfill, record_progress
from lerim.jobs.backfill.report import (
    BackfillDay,
    BackfillOptions,
    BackfillProgress,
    BackfillReport,
    EmitBackfill,
)
from lerim.jobs.maintain import maintain_project
from lerim.jobs.report import SyncReport, SyncState
from lerim.jobs.steps import accept_automatically, sync_by_rules
from lerim.jobs.sync import run_model_steps
from lerim.jobs.sync_context import SyncContext
from lerim.journal import build_entry, day_span, open_journal, write_entry
from lerim.models import RoleUsage, merge_role_usage, total_usage
from lerim.project import hold_project_lock
from lerim.review import queue
from lerim.sessions import shared_copies

_LATER_MEMORIES = (
    "There are memories of later days, so the memories were not maintained as on this day. `lerim maintain` does it."
)
_UNREAD = "The model has not read all sessions of this day{}. Run the same command again to continue."


def backfill_project(context: SyncContext, options: BackfillOptions, emit: EmitBackfill) -> BackfillReport:
    """Works through the days that no earlier run finished, oldest first, with the parts of a sync and of maintenance.

    `context` has the present clock; its options are not used. A day whose sessions the model could not read ends the
    run. Raises BusyError while another process works on the project, CatalogError, SettingsError, MemoryError_.
    """
    started_at = time.monotonic()
    own_lock = hold_project_lock(context.home, context.project.key, "working through the past", shared=True)
    with own_lock, shared_copies():
        run = _Backfill(context, options)
        try:
            plan = plan_backfill(run.at(context.clock()), options.until)
            run.work([date.fromisoformat(day) for day in plan.days], emit)
        except StoppedError:
            run.state = "cancelled"
        run.problems += refresh_if_used(context.project, context.home, context.environ)
    spent = merge_role_usage(run.spent)
    return BackfillReport(
        project=str(context.project.root),
        days=run.days,
        spent=spent,
        usage=total_usage(spent),
        problems=list(dict.fromkeys(run.problems)),
        state=run.state,
        next_day=run.next_day,
        message=run.message,
        seconds=round(time.monotonic() - started_at, 3),
    )


@dataclass(slots=True)
class _Backfill:
    """A backfill at work: what it did so far, and why it stopped."""

    context: SyncContext
    options: BackfillOptions
    days: list[BackfillDay] = field(default_factory=list)
    spent: list[RoleUsage] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    state: SyncState = "done"
    next_day: str = ""
    message: str = ""

    def work(self, days: Sequence[date], emit: EmitBackfill) -> None:
        """Works through these days. Raises StoppedError, CatalogError, MemoryError_."""
        for number, day in enumerate(days):
            self.next_day = day.isoformat()
            self.context.raise_if_cancelled()
            emit(BackfillProgress(day.isoformat(), number, len(days), sum(one.candidates for one in self.days)))
            if not self.work_day(day):
                return
            record_progress(self.context, day)
        self.next_day = ""

    def at(self, moment: datetime) -> SyncContext:
        """Returns the context of a sync at a moment. The sync sees nothing that was said after that second."""
        limit, end = self.options.budget, moment + timedelta(seconds=1)
        if limit is not None:
            limit = max(0.0, limit - total_usage(self.spent).cost)
        return replace(
            self.context,
            options=replace(
                self.context.options,
                explicit=True,
                until=end,
                as_of=end,
                model=self.options.model,
                accept_above=self.options.accept_above,
                quotes=self.options.quotes,
            ),
            emit=lambda _: None,
            clock=lambda: moment,
            real_clock=self.context.clock,
            spending_limit=limit,
        )

    def work_day(self, day: date) -> bool:
        """Works through one day. Returns False if the backfill has to stop at it. Raises StoppedError."""
        moment = min(day_span(day).until - timedelta(seconds=1), self.context.clock())
        context = self.at(moment)
        report = run_model_steps(sync_by_rules(context), context)
        if report.state != "cancelled":
            self.accept_left_waiting(context, day)
            report = accept_automatically(context, report)
        self.spent = merge_role_usage((*self.spent, *report.spent))
        self.problems += report.problems
        if report.state == "cancelled":
            raise StoppedError
        maintained = self.maintain(context)
        journal = self.write_entry(day, moment) if self.options.write_journal else ""
        self.days.append(
            BackfillDay(day.isoformat(), len(report.candidates), len(report.accepted), maintained, journal)
        )
        return not self.is_unread(report)

    def accept_left_waiting(self, context: SyncContext, day: date) -> None:
        """Accepts what a killed run proposed on this day but did not get to accept. A failure becomes a problem."""
        least, place = self.options.accept_above, context.place
        if least is None:
            return
        quotes = self.options.quotes or place.store().quotes.read_choice() or "shared"
        since, now = day_span(day).since, context.clock()
        utc_days = {f"{since:%Y%m%d}", f"{now:%Y%m%d}"}  # ids begin with one of them: the others are not read
        for name in queue.list_pending_page(place, 0, 0).ids:
            if name[:8] not in utc_days:
                continue
            try:
                one = queue.load_pending(place, name)
                is_of_day = bool(one.session) and since <= one.time <= now
                if is_of_day and one.action == "add" and one.record.confidence >= least and not queue.doubt_reason(one):
                    queue.accept_candidate(place, name, quotes=quotes, now=now, automatic=True)
            except LerimError as error:
                self.problems.append(Problem(error.code, name, error.explanation))

    def is_unread(self, report: SyncReport) -> bool:
        """Returns whether the chosen model has not read all sessions until this day: later ones must not come before
        them."""
        waits = report.waits
        if self.options.model == "none" or waits.why == "none":
            return False
        over_budget = self.options.budget is not None and any(step.kind == "dear" for step in report.steps)
        if not (waits.sessions or over_budget):
            return False
        why = "budget" if over_budget else waits.why
        reasons = {"budget": ": the budget is used up", "consent": ": you have not approved its cost"}
        self.state, self.message = "partial", _UNREAD.format(reasons.get(why, ""))
        return True

    def maintain(self, context: SyncContext) -> int:
        """Takes the lifecycle steps of a day, unless there are memories of later days. Returns how many there were.
        Raises MemoryError_, StoppedError."""
        stored, _ = context.place.store().load_all(archived=True)
        if any(one.record.created > context.clock() for one in stored):
            self.problems.append(Problem("backfill-later", str(context.project.memory_dir), _LATER_MEMORIES))
            return 0
        report = maintain_project(
            context.project, context.home, context.environ, lambda _: None, context.cancelled, context.clock
        )
        self.problems += report.problems
        if report.state == "cancelled":
            raise StoppedError
        return len(report.done)

    def write_entry(self, day: date, moment: datetime) -> str:
        """Writes the journal's entry of a day; returns what became of its file."""
        project, home = self.context.project, self.context.home
        try:
            entry = build_entry(open_journal(project, home, self.context.environ), day, moment + timedelta(seconds=1))
            self.problems += entry.problems
            return write_entry(project, home, entry).change
        except LerimError as error:
            self.problems.append(error.problem())
            return "failed"
