"""The daemon: syncs the projects when sessions have settled, and maintains their memories once a day.

It does nothing that an idle editor would not do: the same jobs, not explicit, so that budget and consent hold. While
another process works on a project, the daemon leaves it alone and tries later.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from lerim.errors import LerimError, error_location
from lerim.heap import release_heap
from lerim.jobs import (
    FailureLine,
    MaintainReportLine,
    StoreSnapshot,
    SyncReportLine,
    check_stores,
    find_sync_elsewhere,
    has_due_jobs,
    is_maintenance_due,
)
from lerim.paths import Home
from lerim.project import Project, list_projects, make_personal_project
from lerim.web.daemon.schedule import Schedule, Timings
from lerim.web.daemon.watching import watch_stores
from lerim.web.running_jobs import Work, WorkEvent, WorkKind

log = logging.getLogger("lerim.daemon")


class DaemonState(msgspec.Struct, frozen=True):
    """What the daemon is doing: `doing` is "waiting", or names the work and the project; `last` is the outcome of the
    latest work, and `last_at` when it ended ("" if there was none)."""

    doing: str
    last: str
    last_at: str


@dataclass(slots=True)
class Daemon:
    """Runs until its task is cancelled. `clock` gives the time with its zone, `monotonic` seconds."""

    home: Home
    environ: Mapping[str, str]
    work: Work
    clock: Callable[[], datetime]
    monotonic: Callable[[], float] = time.monotonic
    timings: Timings = field(default_factory=Timings)
    _schedule: Schedule = field(init=False)
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _snapshot: StoreSnapshot | None = None
    _state: DaemonState = field(default_factory=lambda: DaemonState("waiting", "", ""))

    def __post_init__(self) -> None:
        self._schedule = Schedule(self.timings)

    @property
    def state(self) -> DaemonState:
        """What the daemon is doing now."""
        return self._state

    def note_change(self) -> None:
        """Notes that a store changed, also while the daemon sleeps."""
        self._woken.set()

    async def run(self) -> None:
        """Watches and works until cancelled. A failure is logged, and the daemon goes on."""
        self._schedule.note_change(self.monotonic())
        watcher = asyncio.create_task(watch_stores(self.environ, self.home, self.note_change))
        try:
            while True:
                await self._sleep(self._schedule.seconds_until_next(self.monotonic()))
                await self.step()
                await asyncio.to_thread(release_heap)  # frees the stamps of every transcript on the machine
        finally:
            watcher.cancel()
            with suppress(asyncio.CancelledError):
                await watcher

    async def _sleep(self, seconds: float) -> None:
        """Waits this long, or until a store changes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    async def step(self) -> None:
        """Does what is due now."""
        now = self.monotonic()
        if self._woken.is_set():
            self._woken.clear()
            self._schedule.note_change(now)
        self._schedule.note_tick(now, self.clock().timestamp())
        try:
            if self._schedule.is_look_due(now):
                await self._sync_if_due()
            if self._schedule.is_quiet():
                await self._maintain_if_due()
        except LerimError as error:
            log.warning("%s", error)
            self._schedule.note_failure("", self.monotonic())
        except Exception as error:
            log.error("The daemon failed: %s at %s.", type(error).__name__, error_location(error))
            self._schedule.note_failure("", self.monotonic())

    async def _sync_if_due(self) -> None:
        """Looks at the stores and syncs all projects if a sync would find something."""
        projects = await asyncio.to_thread(self._list_projects)
        keys = [project.key for project in projects]
        snapshot, is_due = await asyncio.to_thread(check_stores, self.home, self.environ, keys, self._snapshot)
        self._schedule.note_looked(self.monotonic(), snapshot.settles_in)
        outcomes: list[bool] = []
        for project in projects if is_due else ():
            # the first sync reads the sessions of the whole machine, and queues those of the other projects
            if not any(outcomes) or await asyncio.to_thread(has_due_jobs, self.home, project.key):
                outcomes.append(await self._run("sync", project))
        self._snapshot = snapshot if all(outcomes) else None

    async def _maintain_if_due(self) -> None:
        projects = [*await asyncio.to_thread(self._list_projects), make_personal_project(self.home)]
        for project in projects:
            if await asyncio.to_thread(is_maintenance_due, project, self.home, self.clock()):
                await self._run("maintain", project)

    def _list_projects(self) -> list[Project]:
        return [project for project in list_projects(self.home)[0] if project.root.is_dir()]

    async def _run(self, kind: WorkKind, project: Project) -> bool:
        """Syncs or maintains one project, unless it has to wait. Returns whether that succeeded."""
        key = f"{kind} {project.key}"
        if not self._schedule.may_run(key, self.monotonic()):
            return False
        elsewhere = await asyncio.to_thread(find_sync_elsewhere, self.home, project.key)
        if elsewhere is not None:
            return self._note_failure(key, kind, project, f"process {elsewhere.pid} is syncing it")
        self._state = DaemonState(f"{kind} {project.name}", self._state.last, self._state.last_at)
        try:
            self.work.start(kind, project, explicit=False)
            outcome = await self.work.wait(kind, project)
        finally:
            self._state = DaemonState("waiting", self._state.last, self._state.last_at)
        if (reason := _find_failure(outcome)) is not None:
            return self._note_failure(key, kind, project, reason)
        self._schedule.note_success(key)
        self._note(f"{kind} {project.name}: {_describe(outcome)}")
        return True

    def _note_failure(self, key: str, kind: WorkKind, project: Project, reason: str) -> bool:
        seconds = self._schedule.note_failure(key, self.monotonic())
        self._note(f"{kind} {project.name}: {reason}; trying again in {seconds / 60:.0f} min")
        return False

    def _note(self, text: str) -> None:
        log.info("%s", text)
        self._state = DaemonState(self._state.doing, text, self.clock().isoformat(timespec="seconds"))


def _find_failure(outcome: WorkEvent | None) -> str | None:
    """Returns why work did not succeed, or None if it did."""
    match outcome:
        case FailureLine(message=message):
            return message
        case SyncReportLine(report=report) | MaintainReportLine(report=report):
            return report.message or report.state if report.state in ("busy", "failed", "cancelled") else None
        case _:
            return "it ended without a report"


def _describe(outcome: WorkEvent | None) -> str:
    match outcome:
        case SyncReportLine(report=report):
            return f"{report.sessions.new} new, {report.sessions.changed} changed, {len(report.candidates)} proposed"
        case MaintainReportLine(report=report):
            return f"{len(report.proposals)} proposed"
        case _:
            return "done"
