"""What all parts of one sync share: the project, what the person asked for, and how a part tells and reports."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Literal

from lerim.config import Settings, load
from lerim.errors import Problem, StoppedError
from lerim.jobs.activity_log import log_sync
from lerim.jobs.model_session import ModelSession
from lerim.jobs.proposal_sink import ProposalSink
from lerim.jobs.report import DroppedView, EmitSyncEvent, SessionCounts, SyncProgress, SyncReport, SyncState
from lerim.memory import QuoteChoice
from lerim.models import EditorBridge, WaitingWork, merge_role_usage, total_usage
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
Tell = Callable[[str], None]


def now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How to sync. `explicit`: the person asked, so a session's last exchange counts at once.

    `since` and `until` bound the sessions by time. `accept_above`: candidates with at least this confidence are
    accepted without a review, with `quotes` shared in git or kept local. `model`: whether the model of the settings is
    asked, too; `guidance` is what it should heed, "" for what the settings say.
    """

    explicit: bool = True
    since: datetime | None = None
    until: datetime | None = None
    accept_above: float | None = None
    quotes: QuoteChoice | None = None
    model: Literal["auto", "none"] = "auto"
    guidance: str = ""


@dataclass(frozen=True, slots=True)
class SyncContext:
    """One sync of one project. `bridge` leads to the editor's own models, `listings` is what databases held."""

    project: Project
    home: Home
    environ: Mapping[str, str]
    options: SyncOptions
    emit: EmitSyncEvent
    cancelled: Cancelled
    clock: Clock = now
    bridge: EditorBridge | None = None
    listings: Listings = field(default_factory=dict)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders in which the project is and was."""
        return (str(self.project.root), *self.project.folders)

    @property
    def place(self) -> ReviewPaths:
        """Where the project's memories and its review are."""
        return ReviewPaths(self.project, self.home)

    @property
    def settings(self) -> Settings:
        """The settings for this project, read now; their faults are told where settings are shown."""
        return load.load_settings(self.environ, self.home, self.project.root)[0]

    @property
    def model_since(self) -> datetime | None:
        """Since when a model is asked about sessions: the person's `since`, else that of the settings."""
        since = self.settings.sync_since
        return self.options.since or (parse_time(since, self.clock()) if since else None)

    @property
    def explicit(self) -> bool:
        """Whether the person asked for this sync."""
        return self.options.explicit

    def started(self) -> float | None:
        """Now, where the person asked for this sync: see `started` of `Catalog.claim_job`."""
        return self.clock().timestamp() if self.explicit else None

    def raise_if_cancelled(self) -> None:
        """Raise StoppedError once the person cancelled."""
        if self.cancelled():
            raise StoppedError

    def owners(self) -> FolderOwners:
        """Every registered project with its aliases; this one as it was given, it may carry aliases of its own."""
        listed, _ = projects.list_projects(self.home)
        return FolderOwners(
            [self.project, *(other for other in listed if other.key != self.project.key)], home=self.home
        )

    @contextmanager
    def part(self, doing: str) -> Iterator[SyncPart]:
        """One part of this sync, which holds the project's lock within this block; `doing` tells others what it does.

        Raises BusyError while another process works on the project, CatalogError.
        """
        place, options = self.place, self.options
        quotes = options.quotes or place.store().quotes.read_choice() or "shared"
        sink = ProposalSink(place, self.emit, options.accept_above, quotes, RunFolder(place, self.clock()))
        lock = hold_project_lock(self.home, self.project.key, doing)
        with lock, Catalog.open(self.home) as catalog, closing(sink):
            yield SyncPart(self, catalog, sink)

    def stale(self, catalog: Catalog, owners: FolderOwners) -> tuple[DiscoveredStores, list[Transcript]]:
        """What lies in the agents' stores, and what of it is new or changed, newest first."""
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
    """One part of a sync: the catalog it reads from, and the sink it proposes through."""

    context: SyncContext
    catalog: Catalog
    sink: ProposalSink
    began: float = field(default_factory=time.monotonic)

    def claims(
        self, kind: str, started: float | None, since: datetime | None, message: str = ""
    ) -> Iterator[tuple[QueueJob, Tell]]:
        """Claim the project's waiting jobs of a kind, the newest session first, and tell how far that is.

        Each comes with a function that tells what is done for it now. `started` and `since` are those of
        `Catalog.claim_job`. Raises CatalogError.
        """
        key, until, number = self.context.project.key, self.context.options.until, 0
        waiting = self.catalog.count_due_jobs(key, kind)
        while job := self.catalog.claim_job(key, kind=kind, started=started, since=since, until=until):
            tell = partial(self.tell, number, max(waiting, number + 1))
            tell(message)
            yield job, tell
            number += 1

    def tell(self, done: int, total: int, message: str) -> None:
        """Tell how many of the sessions are done."""
        self.context.emit(SyncProgress("learning", done, total, len(self.sink.candidates), message))

    def finish(
        self,
        sessions: SessionCounts,
        state: SyncState,
        summary: str,
        *,
        asked: Sequence[ModelSession] = (),
        problems: Sequence[Problem] = (),
        model: str = "none",
        waits: WaitingWork | None = None,
        left_out: int = 0,
    ) -> SyncReport:
        """End this part: write its run folder, note it in the activity log and return its report.

        `summary` is what the session log says it did. What cannot be written is a problem in the report.
        """
        sink, run = self.sink, self.sink.run
        run.spent = merge_role_usage(one for session in asked for one in session.spent)
        run.steps = [step for session in asked for step in session.steps]
        run.note(f"{state}: {summary}")
        folder, unwritten = try_write_run(run)
        failed = [problem for session in asked for problem in session.problems]
        items = [DroppedView(one.reason, one.title, one.session, one.turn, one.detail) for one in sink.dropped]
        report = SyncReport(
            project=str(self.context.project.root),
            sessions=sessions,
            candidates=sink.candidates,
            dropped=dict(Counter(item.reason for item in items)),
            dropped_items=items,
            withdrawn=sink.withdrawn,
            problems=list(dict.fromkeys([*sink.problems, *problems, *failed, *unwritten])),
            accepted=sink.accepted,
            left_out=left_out,
            model=model,
            usage=total_usage(run.spent),
            spent=run.spent,
            steps=run.steps,
            waits=waits or WaitingWork(),
            seconds=round(time.monotonic() - self.began, 3),
            run=str(folder or ""),
            state=state,
        )
        report.problems.extend(log_sync(self.context.home, self.context.clock(), report))
        return report


def resume_reading(catalog: Catalog, transcript: Transcript) -> Readable:
    """A reading of a transcript from where the catalog's last one stopped."""
    return read_session(transcript, catalog.load_resume(transcript.place), brief=True)
