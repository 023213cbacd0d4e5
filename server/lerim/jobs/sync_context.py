"""What the parts of one sync share: the project and the options, the lock and the catalog, progress and reports."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Literal

from lerim.config import RoleName, Settings, load
from lerim.errors import Problem, StoppedError
from lerim.jobs.activity_log import log_sync
from lerim.jobs.extracting import ReadingScope
from lerim.jobs.model_session import ModelSession
from lerim.jobs.proposal_sink import ProposalSink
from lerim.jobs.report import DroppedView, EmitSyncEvent, SessionCounts, SyncProgress, SyncReport, SyncState
from lerim.memory import QuoteChoice, Quotes
from lerim.models import (
    DayBudget,
    EditorBridge,
    ModelChoice,
    WaitingWork,
    choose_allowed,
    merge_role_usage,
    total_spent_today,
    total_usage,
)
from lerim.paths import Home, relative_variables
from lerim.project import FolderOwners, Project, hold_project_lock
from lerim.project import project as projects
from lerim.review import ReviewPaths, RunFolder, try_write_run
from lerim.sessions import (
    Catalog,
    DiscoveredStores,
    Listings,
    QueueJob,
    Readable,
    Transcript,
    compare_stamps,
    discover_stores,
    find_platform_roots,
    open_databases,
    read_session,
)
from lerim.times import parse_time

Cancelled = Callable[[], bool]
Clock = Callable[[], datetime]
_LEAST_BUDGET = 1e-9
"""A budget in dollars that allows no call; 0 would mean no limit."""
EmitMessage = Callable[[str], None]
"""Sends a progress message about the current job."""


def now() -> datetime:
    """Returns the current time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """The options of a sync.

    `explicit`: the person started it, so jobs that wait after a failure are tried again, and the editor may ask for
    consent. `since` and `until` limit the sessions by time. `accept_above`: candidates with at least this confidence
    are accepted without a review, with `quotes` shared in git or kept local. `model`: "auto" also asks the model of
    the settings, "none" asks none. `guidance` is an instruction to the model, "" for the one in the settings. `as_of`:
    turns said at or after this time are not read yet, so that the sync finds what one at that time would have found.
    """

    explicit: bool = True
    since: datetime | None = None
    until: datetime | None = None
    accept_above: float | None = None
    quotes: QuoteChoice | None = None
    model: Literal["auto", "none"] = "auto"
    guidance: str = ""
    as_of: datetime | None = None


def with_settings(options: SyncOptions, settings: Settings, quotes: Quotes, now: datetime) -> SyncOptions:
    """Returns options in which the settings, and the choice made about quotes, fill in what was not given."""
    least = settings.accept_above if options.accept_above is None else options.accept_above
    sharing = None if settings.quote_sharing == "ask" else settings.quote_sharing
    return replace(
        options,
        since=options.since or (parse_time(settings.sync_since, now) if settings.sync_since else None),
        accept_above=least if least > 0 or options.accept_above is not None else None,
        quotes=options.quotes or quotes.read_choice() or sharing,
    )


@dataclass(frozen=True, slots=True)
class SyncContext:
    """One sync of one project. `bridge` leads to the editor's own models; `listings` caches what the agents' databases
    contain. If `clock` shows another time than the present, `real_clock` is used for the queue and for money.
    `spending_limit` is how many dollars this sync may spend; None means as much as the day's budget allows."""

    project: Project
    home: Home
    environ: Mapping[str, str]
    options: SyncOptions
    emit: EmitSyncEvent
    cancelled: Cancelled
    clock: Clock = now
    bridge: EditorBridge | None = None
    listings: Listings = field(default_factory=dict)
    real_clock: Clock | None = None
    spending_limit: float | None = None

    @property
    def folders(self) -> tuple[str, ...]:
        """The project's root and its former folders."""
        return (str(self.project.root), *self.project.folders)

    @property
    def place(self) -> ReviewPaths:
        """The paths of the project's memories and its review."""
        return ReviewPaths(self.project, self.home)

    @property
    def settings(self) -> Settings:
        """The project's settings, loaded on each access. Their faults are reported where settings are shown."""
        return load.load_settings(self.environ, self.home, self.project.root)[0]

    @property
    def model_since(self) -> datetime | None:
        """The time from which a model is asked about sessions: `since` of the options, else that of the settings."""
        since = self.settings.sync_since
        return self.options.since or (parse_time(since, self.clock()) if since else None)

    @property
    def explicit(self) -> bool:
        """Whether the person started this sync."""
        return self.options.explicit

    def explicit_start(self) -> float | None:
        """Returns the current time in epoch seconds if the person started this sync, for `started` of
        `Catalog.claim_job`."""
        return (self.real_clock or self.clock)().timestamp() if self.explicit else None

    def raise_if_cancelled(self) -> None:
        """Raises StoppedError if the person has cancelled."""
        if self.cancelled():
            raise StoppedError

    def folder_owners(self) -> FolderOwners:
        """Returns the owners of working folders: all registered projects, and this project with its aliases, which may
        be unregistered."""
        registered, _ = projects.list_projects(self.home)
        return FolderOwners(
            [self.project, *(other for other in registered if other.key != self.project.key)], home=self.home
        )

    def reading_scope(self, owners: FolderOwners) -> ReadingScope:
        """Returns which turns of a session this sync reads, by the present time."""
        return ReadingScope(self.project, owners, self.clock().timestamp(), self.options.as_of)

    def open_model(self, role: RoleName) -> ModelSession | ModelChoice:
        """Chooses the model of a role. Returns a session with it, or the choice that says why it may not be asked."""
        settings = self.settings
        choice = choose_allowed(role, settings, self.home, self.environ, explicit=self.explicit)
        if choice.model is None or choice.why:
            return choice
        clock = self.real_clock or self.clock
        per_day = settings.daily_budget_usd
        if self.spending_limit is not None:
            limit = max(total_spent_today(self.home, clock().astimezone()).cost + self.spending_limit, _LEAST_BUDGET)
            per_day = min(per_day, limit) if per_day else limit
        budget = DayBudget(self.home, per_day, lambda: clock().astimezone())
        return ModelSession(
            choice.model, self.home, self.cancelled, budget, self.bridge, self.environ, choice_problems=choice.problems
        )

    @contextmanager
    def open_part(self, activity: str) -> Iterator[SyncPart]:
        """Opens a part of this sync, and holds the project's lock within the block. `activity` tells other processes
        what the lock is held for.

        Raises BusyError while another process works on the project, CatalogError.
        """
        place, options = self.place, self.options
        quotes = options.quotes or place.store().quotes.read_choice() or "shared"
        sink = ProposalSink(place, self.emit, options.accept_above, quotes, RunFolder(place, self.clock()), self.clock)
        lock = hold_project_lock(self.home, self.project.key, activity)
        with lock, Catalog.open(self.home) as catalog, closing(sink):
            yield SyncPart(self, catalog, sink)

    def find_stale_transcripts(
        self, catalog: Catalog, owners: FolderOwners
    ) -> tuple[DiscoveredStores, list[Transcript]]:
        """Returns the agents' stores, and their transcripts that are new or changed since they were indexed, newest
        first. Transcripts that no longer exist are marked in the catalog."""
        folders = [*owners.folders, *catalog.list_folders()]
        stores = discover_stores(find_platform_roots(self.environ, self.home), folders)
        stores.problems.extend(relative_variables(self.environ))
        open_databases(stores, catalog.load_store_stamps(), folders, catalog.load_damaged_stores(), self.listings)
        catalog.keep_damaged_stores(stores.damaged_stores)
        found = compare_stamps(stores, catalog.load_stamps())
        catalog.mark_vanished(found.vanished)
        return stores, sorted((*found.new, *found.changed), key=lambda one: one.mtime_ns, reverse=True)


@dataclass(slots=True)
class SyncPart:
    """One part of a sync: the catalog it reads from, and the sink that takes its results."""

    context: SyncContext
    catalog: Catalog
    sink: ProposalSink
    started_at: float = field(default_factory=time.monotonic)
    began: float = field(default_factory=time.time)
    """When it began, in epoch seconds, by the catalog's clock."""

    def claim_jobs(
        self,
        kind: str,
        started: float | None,
        since: datetime | None,
        message: str = "",
        *,
        done: int = 0,
        further: int = 0,
    ) -> Iterator[tuple[QueueJob, EmitMessage]]:
        """Claims the project's waiting jobs of a kind, the newest session first, and emits progress for each.

        Each job comes with a function that emits a progress message about it; `message` is its first. `started` and
        `since` are those of `Catalog.claim_job`. The progress counts `done` jobs that were claimed before and
        `further` ones that do not wait yet. Raises CatalogError.
        """
        key, until, number = self.context.project.key, self.context.options.until, done
        total = done + self.catalog.count_due_jobs(key, kind) + further
        while job := self.catalog.claim_job(
            key, kind=kind, started=started, began=self.began, since=since, until=until
        ):
            emit_message = partial(self.emit_progress, number, max(total, number + 1))
            emit_message(message)
            yield job, emit_message
            number += 1

    def emit_progress(self, done: int, total: int, message: str) -> None:
        """Emits progress: `done` of `total` sessions."""
        self.context.emit(SyncProgress("learning", done, total, len(self.sink.candidates), message))

    def finish(
        self,
        sessions: SessionCounts,
        state: SyncState,
        summary: str,
        *,
        model_sessions: Sequence[ModelSession] = (),
        problems: Sequence[Problem] = (),
        model: str = "none",
        waits: WaitingWork | None = None,
        left_out: int = 0,
    ) -> SyncReport:
        """Ends this part: writes its run folder, logs it in the activity log, and returns its report.

        `summary` is what the run folder's log says about the part. If something cannot be written, that is a problem
        in the report.
        """
        sink, run = self.sink, self.sink.run
        run.spent = merge_role_usage(one for session in model_sessions for one in session.spent)
        run.steps = [step for session in model_sessions for step in session.steps]
        run.note(f"{state}: {summary}")
        folder, unwritten = try_write_run(run)
        model_problems = [problem for session in model_sessions for problem in session.problems]
        items = [DroppedView(one.reason, one.title, one.session, one.turn, one.detail) for one in sink.dropped]
        report = SyncReport(
            project=str(self.context.project.root),
            sessions=sessions,
            candidates=sink.candidates,
            dropped=dict(Counter(item.reason for item in items)),
            dropped_items=items,
            withdrawn=sink.withdrawn,
            problems=list(dict.fromkeys([*sink.problems, *problems, *model_problems, *unwritten])),
            accepted=sink.accepted,
            left_out=left_out,
            model=model,
            usage=total_usage(run.spent),
            spent=run.spent,
            steps=run.steps,
            waits=waits or WaitingWork(),
            seconds=round(time.monotonic() - self.started_at, 3),
            run=str(folder or ""),
            state=state,
        )
        report.problems.extend(log_sync(self.context.home, self.context.clock(), report))
        return report


def resume_reading(catalog: Catalog, transcript: Transcript) -> Readable:
    """Returns a reading of a transcript that continues where the catalog's last one stopped."""
    return read_session(transcript, catalog.load_resume(transcript.place), brief=True)
