"""The sidecar's side of a job: one process a project, its lines up, cancel down, gone when nobody wants it."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from lerim.assistant import Answer, Question, Sentence, SentenceEvent
from lerim.errors import LerimError, reason_of
from lerim.jobs import (
    AnswerLine,
    CancelLine,
    FailureLine,
    JobLine,
    MaintainReport,
    MaintainReportLine,
    ParentLine,
    SessionCounts,
    SyncReport,
    SyncReportLine,
    SyncState,
)
from lerim.lsp.window.questions import Asker, JobQuestions
from lerim.models import EditorCancellation, EditorQuestion
from lerim.process import ProcessLaunch, build_lerim_launch, kill_group

log = logging.getLogger("lerim.jobs")

GRACE = 0.8
"""Seconds a cancelled job has before it is killed."""
MAX_LINE = 64 * 1024 * 1024
_AGAIN = "Try again; it continues where it stopped."

LineHandler = Callable[[JobLine], None]
JobReport: TypeAlias = SyncReport | MaintainReport


class JobError(LerimError):
    """The job could not be started or ended without a report."""

    code = "job"


@dataclass(slots=True)
class RunningJob:
    """A running sync or maintaining and who waits for it. `waiting` 0 is one that the idle clock started."""

    what: Literal["sync", "maintain"]
    root: Path
    explicit: bool
    told: LineHandler
    dry_run: bool = False
    task: asyncio.Task[JobReport] | None = None
    process: asyncio.subprocess.Process | None = None
    waiting: int = 0
    cancelled: bool = False

    @property
    def name(self) -> str:
        """What messages call it."""
        return "sync" if self.what == "sync" else "maintaining"


@dataclass(slots=True)
class Jobs:
    """Every job of this sidecar, by project key. `environ` is the environment of a job that begins now, `asker` its way
    to the editor's models. `patience`: seconds a sync waits for the end of a cancelled one. `trials`: processes that
    try a model or answer a question."""

    environ: Callable[[], Mapping[str, str]]
    home: Path
    asker: Asker
    executable: str = sys.executable
    patience: float = 5.0
    running: dict[str, RunningJob] = field(default_factory=dict)
    trials: set[asyncio.subprocess.Process] = field(default_factory=set)

    async def sync(self, key: str, root: Path, told: LineHandler, *, explicit: bool, waits: bool = True) -> SyncReport:
        """Runs a sync, or joins the one that runs. Cancelling the last one who waits cancels the job.

        An explicit sync takes more than an idle one, so that it runs again after an idle one it had to wait for.
        """
        report = await self._joined(key, RunningJob("sync", root, explicit, told), waits=waits)
        assert isinstance(report, SyncReport)
        return report

    async def maintain(
        self,
        key: str,
        root: Path,
        told: LineHandler,
        *,
        dry_run: bool = False,
        explicit: bool = True,
        waits: bool = True,
    ) -> MaintainReport:
        """Maintains the memories of a project, or joins the maintaining that runs, in the way of `sync`."""
        job = RunningJob("maintain", root, explicit, told, dry_run)
        report = await self._joined(f"{key} maintain{' dry' if dry_run else ''}", job, waits=waits)
        assert isinstance(report, MaintainReport)
        return report

    async def _joined(self, key: str, wanted: RunningJob, *, waits: bool) -> JobReport:
        while True:
            job = self.running.get(key)
            if job is not None and job.cancelled:
                await self._over(job)
                continue
            joined = job is not None
            if job is None:
                job = self.running[key] = wanted
                job.task = asyncio.create_task(self._run(key, job))
                job.task.add_done_callback(lambda task: task.cancelled() or task.exception())
            report = await self._wait(job, waits=waits)
            if not joined or job.explicit or not wanted.explicit:
                return report

    async def _wait(self, job: RunningJob, *, waits: bool) -> JobReport:
        assert job.task is not None
        job.waiting += waits
        try:
            return await asyncio.shield(job.task)
        except asyncio.CancelledError:
            if job.waiting <= 1 and not job.task.done():
                job.cancelled = True
                await self._end(job)
            raise
        finally:
            job.waiting -= waits

    async def _over(self, job: RunningJob) -> None:
        """Waits until a cancelled job is gone. Raises JobError if it does not go."""
        assert job.task is not None
        done, _ = await asyncio.wait({job.task}, timeout=self.patience)
        if not done:
            raise JobError(f"The {job.name} was cancelled but has not ended yet.", todo="Try again in a moment.")

    async def _end(self, job: RunningJob) -> None:
        """Asks the job to stop, and kills it and its children if it has not within the grace."""
        assert job.task is not None
        if job.process is not None:
            send_line(job.process, CancelLine())
        done, _ = await asyncio.wait({job.task}, timeout=GRACE)
        if not done and job.process is not None:
            kill_group(job.process.pid, self.environ())
            await asyncio.wait({job.task})

    async def _run(self, key: str, job: RunningJob) -> JobReport:
        flags = [*(["--explicit"] if job.explicit else []), *(["--dry-run"] if job.dry_run else [])]
        arguments = ["worker", job.what, "--repo", str(job.root), *flags]
        try:
            job.process = await start_process(build_lerim_launch(arguments, self.executable, self.environ()), self.home)
            if job.cancelled:
                kill_group(job.process.pid, self.environ())
            return await self._follow(job, job.process)
        except OSError as error:
            raise JobError(
                f"The {job.name} could not be started: {reason_of(error)}.", where=self.executable
            ) from error
        except ValueError as error:  # what asyncio makes of a line over MAX_LINE
            raise JobError(f"The {job.name} sent too much output.", todo=_AGAIN) from error
        finally:
            self.running.pop(key, None)
            if job.process is not None and job.process.returncode is None:
                await kill_and_wait(job.process, self.environ())

    async def _follow(self, job: RunningJob, process: asyncio.subprocess.Process) -> JobReport:
        assert process.stdout is not None
        decoder = msgspec.json.Decoder(JobLine)
        last: SyncReportLine | MaintainReportLine | FailureLine | None = None
        questions = JobQuestions(self.asker, job.explicit, lambda answer: send_line(process, answer))
        try:
            async for raw in process.stdout:
                try:
                    line: JobLine = decoder.decode(raw)
                except msgspec.MsgspecError as error:
                    log.warning("A line of the job was not understood: %s.", type(error).__name__)
                    continue
                if isinstance(line, SyncReportLine | MaintainReportLine | FailureLine):
                    last = line
                elif isinstance(line, EditorQuestion | EditorCancellation):
                    questions.take(line)
                else:
                    job.told(line)
        finally:
            questions.end()
        code = await process.wait()
        if isinstance(last, SyncReportLine | MaintainReportLine):
            return last.report
        if job.cancelled:
            return make_empty_report(
                job, "cancelled", (f"The {job.name} was cancelled; the next one continues where it stopped.")
            )
        if last is None:
            raise JobError(f"The {job.name} ended without a report (exit code {code}).", todo=_AGAIN)
        if last.code == "busy":
            return make_empty_report(job, "busy", last.message)
        raise make_job_error(last)

    async def ask(self, root: Path, question: Question, told: Callable[[Sentence], None]) -> Answer:
        """Asks about a repository in a process of its own; `told` hears each sentence as it is complete. Cancelled, the
        process is gone within a second.

        Raises JobError, and the error that kept the process from an answer.
        """
        environ = self.environ()
        try:
            process = await start_process(
                build_lerim_launch(["worker", "ask", "--repo", str(root)], self.executable, environ), self.home
            )
        except OSError as error:
            raise JobError(f"The question could not be asked: {reason_of(error)}.", where=self.executable) from error
        self.trials.add(process)
        questions = JobQuestions(self.asker, True, lambda answer: send_line(process, answer))
        try:
            assert process.stdin is not None
            process.stdin.write(msgspec.json.encode(question) + b"\n")
            return await self._answer(process, questions, told)
        except ValueError as error:
            raise JobError("The answer was too long.", todo="Ask for less.") from error
        except asyncio.CancelledError:
            send_line(process, CancelLine())
            await asyncio.wait({asyncio.create_task(process.wait())}, timeout=GRACE)
            raise
        finally:
            questions.end()
            self.trials.discard(process)
            if process.returncode is None:
                await kill_and_wait(process, environ)

    async def _answer(
        self, process: asyncio.subprocess.Process, questions: JobQuestions, told: Callable[[Sentence], None]
    ) -> Answer:
        assert process.stdout is not None
        decoder = msgspec.json.Decoder(JobLine)
        last: AnswerLine | FailureLine | None = None
        async for raw in process.stdout:
            try:
                line: JobLine = decoder.decode(raw)
            except msgspec.MsgspecError as error:
                log.warning("A line of an answer was not understood: %s.", type(error).__name__)
                continue
            if isinstance(line, AnswerLine | FailureLine):
                last = line
            elif isinstance(line, EditorQuestion | EditorCancellation):
                questions.take(line)
            elif isinstance(line, SentenceEvent):
                told(line.sentence)
        code = await process.wait()
        if last is None:
            raise JobError(f"The question ended without an answer (exit code {code}).", todo="Ask again.")
        if isinstance(last, FailureLine):
            raise make_job_error(last)
        return last.answer

    def kill_all(self) -> None:
        """Kills every job at once; for the end of the sidecar."""
        for process in (*(job.process for job in self.running.values()), *self.trials):
            if process is not None and process.returncode is None:
                kill_group(process.pid, self.environ())


async def kill_and_wait(process: asyncio.subprocess.Process, environ: Mapping[str, str]) -> None:
    """Kills a process and waits until the system has let go of it, for a moment at most."""
    kill_group(process.pid, environ)
    await asyncio.wait({asyncio.create_task(process.wait())}, timeout=GRACE)


def send_line(process: asyncio.subprocess.Process, line: ParentLine) -> None:
    """Sends a job a line; one that has ended takes none."""
    if process.stdin is not None and not process.stdin.is_closing():
        process.stdin.write(msgspec.json.encode(line) + b"\n")


def make_empty_report(job: RunningJob, state: SyncState, message: str) -> JobReport:
    """A report of a job that did nothing."""
    if job.what == "maintain":
        return MaintainReport("", state=state, message=message)
    return SyncReport(
        project="",
        sessions=SessionCounts(),
        candidates=[],
        dropped={},
        dropped_items=[],
        withdrawn=[],
        problems=[],
        state=state,
        message=message,
    )


def make_job_error(failed: FailureLine) -> LerimError:
    """The job's error as one of ours, with its code."""
    error = JobError(failed.message)
    error.code = failed.code
    return error


def start_process(launch: ProcessLaunch, folder: Path) -> Awaitable[asyncio.subprocess.Process]:
    """Starts a child with pipes on stdin and stdout; its stderr is ours."""
    return asyncio.create_subprocess_exec(
        *launch.argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=launch.environ,
        cwd=folder if folder.is_dir() else None,
        limit=MAX_LINE,
        creationflags=launch.creationflags,
        start_new_session=launch.new_session,
    )
