"""Syncs and maintenance that the server runs, as child processes, and who follows them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

from lerim.errors import LerimError, error_location
from lerim.jobs import (
    CandidateFound,
    CandidateWithdrawn,
    FailureLine,
    JobLine,
    JobProcesses,
    MaintainProgress,
    MaintainReport,
    MaintainReportLine,
    SyncOptions,
    SyncProgress,
    SyncReport,
    SyncReportLine,
    find_sync_elsewhere,
)
from lerim.models import EditorQuestion, EditorRefusal
from lerim.paths import Home
from lerim.project import Project
from lerim.views import refresh_agent_files

log = logging.getLogger("lerim.work")

WorkKind = Literal["sync", "maintain"]
_NOUNS: dict[WorkKind, str] = {"sync": "sync", "maintain": "maintenance"}
"""What a message about a failure calls each kind."""
Job: TypeAlias = Callable[[], Awaitable[SyncReport | MaintainReport]]
WorkEvent: TypeAlias = (
    SyncProgress
    | CandidateFound
    | CandidateWithdrawn
    | MaintainProgress
    | SyncReportLine
    | MaintainReportLine
    | FailureLine
)
"""What a follower sees. The last one is a report or a failure."""
LOOK_AGAIN_SECONDS = 0.5
"""How often the progress of another process is read."""
MAX_WAITING_EVENTS = 1000
"""A follower that reads slowly misses the oldest events beyond these."""


@dataclass(slots=True)
class _Run:
    """One run: its task, its latest progress, and those who follow it."""

    task: asyncio.Task[WorkEvent] | None = None
    latest: WorkEvent | None = None
    followers: set[asyncio.Queue[WorkEvent | None]] = field(default_factory=set)

    def pass_line(self, line: JobLine) -> None:
        """Passes a line of the job to all followers, if it is for them."""
        if isinstance(line, SyncProgress | CandidateFound | CandidateWithdrawn | MaintainProgress):
            self.tell(line)

    def tell(self, event: WorkEvent | None) -> None:
        """Passes an event to all followers; None is the end."""
        if event is not None and not isinstance(event, CandidateFound | CandidateWithdrawn):
            self.latest = event
        for follower in self.followers:
            if follower.qsize() >= MAX_WAITING_EVENTS:
                follower.get_nowait()
            follower.put_nowait(event)


class Work:
    """Runs at most one sync and one maintenance of a project, and keeps the outcome of the latest ones."""

    def __init__(self, home: Home, environ: Mapping[str, str]) -> None:
        self._home = home
        self._processes = JobProcesses(lambda: environ, home.root, _refuse_editor_question)
        self._running: dict[tuple[WorkKind, str], _Run] = {}
        self._outcomes: dict[tuple[WorkKind, str], WorkEvent] = {}

    @property
    def processes(self) -> JobProcesses:
        """The child processes."""
        return self._processes

    def is_running(self, kind: WorkKind, project: Project) -> bool:
        """Returns whether the server runs this now."""
        return (kind, project.key) in self._running

    def start(
        self,
        kind: WorkKind,
        project: Project,
        *,
        explicit: bool,
        dry_run: bool = False,
        options: SyncOptions | None = None,
    ) -> bool:
        """Starts a run in the background, a sync with its `options`. Returns False if one is running already."""
        if self.is_running(kind, project):
            return False
        run = self._running[kind, project.key] = _Run()
        processes, key, root = self._processes, project.key, project.root
        job: Job = (
            partial(processes.sync, key, root, run.pass_line, explicit=explicit, options=options)
            if kind == "sync"
            else partial(processes.maintain, key, root, run.pass_line, dry_run=dry_run, explicit=explicit)
        )
        run.task = asyncio.create_task(self._find_outcome(kind, project, job, refresh=not dry_run))
        run.task.add_done_callback(partial(self._end, kind, project, run))
        return True

    async def _find_outcome(self, kind: WorkKind, project: Project, job: Job, *, refresh: bool) -> WorkEvent:
        try:
            report = await job()
        except LerimError as error:
            return FailureLine(error.code, error.message, error.todo)
        except Exception as error:  # a follower must not wait for ever
            log.error("The %s failed: %s at %s.", kind, type(error).__name__, error_location(error))
            return FailureLine(
                "error", f"The {_NOUNS[kind]} stopped at an unexpected {type(error).__name__}.", "See the log."
            )
        if refresh:
            await self._refresh_agent_files(project)
        return SyncReportLine(report) if isinstance(report, SyncReport) else MaintainReportLine(report)

    def _end(self, kind: WorkKind, project: Project, run: _Run, task: asyncio.Task[WorkEvent]) -> None:
        """Keeps the outcome of a run and tells its followers, also of one that was cancelled before it began."""
        stopped = f"The {_NOUNS[kind]} was cancelled; the next one continues where it stopped."
        outcome = FailureLine("cancelled", stopped) if task.cancelled() else task.result()
        self._outcomes[kind, project.key] = outcome
        del self._running[kind, project.key]
        run.tell(outcome)
        run.tell(None)

    async def _refresh_agent_files(self, project: Project) -> None:
        """Brings what agents are given up to date. What fails is only logged: the run before it was good."""
        try:
            _, problems = await asyncio.to_thread(refresh_agent_files, project, self._home)
        except Exception as error:
            log.error("Agents' files stay old: %s at %s.", type(error).__name__, error_location(error))
            return
        for problem in problems:
            log.warning("%s: %s", problem.code, problem.path)

    async def wait(self, kind: WorkKind, project: Project) -> WorkEvent | None:
        """Waits until a run has ended and returns its outcome; None if the server has not run any."""
        run = self._running.get((kind, project.key))
        if run is not None and run.task is not None:
            await asyncio.wait({run.task})
        return self._outcomes.get((kind, project.key))

    async def follow(self, kind: WorkKind, project: Project) -> AsyncGenerator[WorkEvent]:
        """Yields the events of a run from now on, and its outcome.

        If the server runs none, a sync of another process is followed; if there is none, the latest outcome is yielded.
        """
        run = self._running.get((kind, project.key))
        if run is None:
            if kind == "sync":
                async for progress in self._follow_elsewhere(project):
                    yield progress
            if (outcome := self._outcomes.get((kind, project.key))) is not None:
                yield outcome
            return
        events: asyncio.Queue[WorkEvent | None] = asyncio.Queue()
        run.followers.add(events)
        try:
            if run.latest is not None:
                yield run.latest
            while (event := await events.get()) is not None:
                yield event
        finally:
            run.followers.discard(events)

    async def _follow_elsewhere(self, project: Project) -> AsyncGenerator[SyncProgress]:
        shown: SyncProgress | None = None
        while (found := await asyncio.to_thread(find_sync_elsewhere, self._home, project.key)) is not None:
            if found.progress is not None and found.progress != shown:
                shown = found.progress
                yield shown
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    def cancel(self, kind: WorkKind, project: Project) -> bool:
        """Asks a run to stop; it ends within a second. Returns False if there is none."""
        run = self._running.get((kind, project.key))
        return run is not None and run.task is not None and run.task.cancel()

    async def close(self) -> None:
        """Stops all runs. Each continues where it stopped when it is started again."""
        tasks = [run.task for run in self._running.values() if run.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._processes.kill_all()


async def _refuse_editor_question(question: EditorQuestion, _explicit: bool, _hear: object) -> EditorRefusal:
    """Answers a job's question for the editor's own model: there is no editor."""
    return EditorRefusal(question.id, "not-found")
