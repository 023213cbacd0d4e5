"""Runs jobs as child processes, at most one of a kind per project: reads their output lines and cancels them."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import msgspec

from lerim.assistant import Answer, Question, Sentence, SentenceEvent
from lerim.errors import LerimError, error_reason
from lerim.jobs.maintain import MaintainReport
from lerim.jobs.processes.editor_questions import EditorAsker, JobQuestions
from lerim.jobs.report import SyncReport, SyncState
from lerim.jobs.worker import (
    CancelLine,
    FailureLine,
    JobLine,
    LastLine,
    MaintainReportLine,
    ParentLine,
    ResultLine,
    SyncReportLine,
)
from lerim.models import EditorCancellation, EditorQuestion
from lerim.process import ProcessLaunch, build_lerim_launch, kill_group

if TYPE_CHECKING:
    from lerim.jobs.sync_context import SyncOptions

log = logging.getLogger("lerim.jobs")

KILL_AFTER_SECONDS = 0.8
"""How long a cancelled job may take to end before it is killed."""
MAX_LINE = 64 * 1024 * 1024
_TRY_AGAIN = "Try again; it continues where it stopped."

LineHandler = Callable[[JobLine], None]
JobReport: TypeAlias = SyncReport | MaintainReport
Result = TypeVar("Result")


class JobError(LerimError):
    """The job could not be started, or it ended without a report."""

    code = "job"


@dataclass(slots=True)
class RunningJob:
    """A running sync or maintenance job. `waiters` counts the callers that wait for it and is 0 if the idle clock
    started it."""

    kind: Literal["sync", "maintain"]
    root: Path
    explicit: bool
    on_line: LineHandler
    dry_run: bool = False
    options: SyncOptions | None = None
    task: asyncio.Task[JobReport] | None = None
    process: asyncio.subprocess.Process | None = None
    waiters: int = 0
    cancelled: bool = False

    @property
    def name(self) -> str:
        """The job's name in messages."""
        return "sync" if self.kind == "sync" else "maintenance"


@dataclass(slots=True)
class JobProcesses:
    """All jobs of this sidecar or server; `running` holds them by project key.

    `make_environ` returns the environment for a new job, and `ask_editor` lets jobs ask the editor's models. A new job
    waits up to `cancel_wait_seconds` for a cancelled one to end. `one_off_processes` try a model or answer a question.
    """

    make_environ: Callable[[], Mapping[str, str]]
    home: Path
    ask_editor: EditorAsker
    executable: str = sys.executable
    cancel_wait_seconds: float = 5.0
    running: dict[str, RunningJob] = field(default_factory=dict)
    one_off_processes: set[asyncio.subprocess.Process] = field(default_factory=set)

    async def sync(
        self,
        key: str,
        root: Path,
        on_line: LineHandler,
        *,
        explicit: bool,
        has_waiter: bool = True,
        options: SyncOptions | None = None,
    ) -> SyncReport:
        """Runs a sync, with `options` if given, or joins the one that is running. Cancelling the last waiting caller
        cancels the job.

        An explicit sync covers more than an idle one, so it runs again after an idle one that it joined.
        `has_waiter`: the caller waits for the result and may cancel the job.
        """
        job = RunningJob("sync", root, explicit, on_line, options=options)
        report = await self._start_or_join(key, job, has_waiter=has_waiter)
        assert isinstance(report, SyncReport)
        return report

    async def maintain(
        self,
        key: str,
        root: Path,
        on_line: LineHandler,
        *,
        dry_run: bool = False,
        explicit: bool = True,
        has_waiter: bool = True,
    ) -> MaintainReport:
        """Maintains the memories of a project, or joins the maintenance that is running, as `sync` does."""
        job = RunningJob("maintain", root, explicit, on_line, dry_run)
        report = await self._start_or_join(f"{key} maintain{' dry' if dry_run else ''}", job, has_waiter=has_waiter)
        assert isinstance(report, MaintainReport)
        return report

    async def _start_or_join(self, key: str, wanted: RunningJob, *, has_waiter: bool) -> JobReport:
        while True:
            job = self.running.get(key)
            if job is not None and job.cancelled:
                await self._wait_until_cancelled(job)
                continue
            joined = job is not None
            if job is None:
                job = self.running[key] = wanted
                job.task = asyncio.create_task(self._run_process(key, job))
                job.task.add_done_callback(lambda task: task.cancelled() or task.exception())
            report = await self._wait_for_report(job, has_waiter=has_waiter)
            if not joined or job.explicit or not wanted.explicit:
                return report

    async def _wait_for_report(self, job: RunningJob, *, has_waiter: bool) -> JobReport:
        assert job.task is not None
        job.waiters += has_waiter
        try:
            return await asyncio.shield(job.task)
        except asyncio.CancelledError:
            if job.waiters <= 1 and not job.task.done():
                job.cancelled = True
                await self._cancel(job)
            raise
        finally:
            job.waiters -= has_waiter

    async def _wait_until_cancelled(self, job: RunningJob) -> None:
        """Waits until a cancelled job has ended. Raises JobError if that takes too long."""
        assert job.task is not None
        done, _ = await asyncio.wait({job.task}, timeout=self.cancel_wait_seconds)
        if not done:
            raise JobError(f"The {job.name} was cancelled but has not ended yet.", todo="Try again in a moment.")

    async def _cancel(self, job: RunningJob) -> None:
        """Asks the job to stop, and kills it and its children if it has not stopped after `KILL_AFTER_SECONDS`."""
        assert job.task is not None
        if job.process is not None:
            send_line(job.process, CancelLine())
        done, _ = await asyncio.wait({job.task}, timeout=KILL_AFTER_SECONDS)
        if not done and job.process is not None:
            kill_group(job.process.pid, self.make_environ())
            await asyncio.wait({job.task})

    async def _run_process(self, key: str, job: RunningJob) -> JobReport:
        flags = [*(["--explicit"] if job.explicit else []), *(["--dry-run"] if job.dry_run else [])]
        if job.options is not None:
            flags = ["--options", msgspec.json.encode(job.options).decode()]
        try:
            async with self._start([job.kind, "--repo", str(job.root), *flags], job.name, _TRY_AGAIN) as job.process:
                if job.cancelled:
                    kill_group(job.process.pid, self.make_environ())
                return await self._read_report(job, job.process)
        finally:
            self.running.pop(key, None)

    @asynccontextmanager
    async def _start(self, arguments: Sequence[str], name: str, todo: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """Kills the job if it still runs after the block. Raises JobError if it cannot be started or sends too much."""
        environ = self.make_environ()
        launch = build_lerim_launch(["worker", *arguments], self.executable, environ)
        try:
            process = await start_process(launch, self.home)
        except OSError as error:
            raise JobError(f"The {name} could not be started: {error_reason(error)}.", where=self.executable) from error
        try:
            yield process
        except ValueError as error:  # asyncio raises it for a line over MAX_LINE
            raise JobError(f"The {name} sent too much output.", todo=todo) from error
        finally:
            if process.returncode is None:
                await kill_and_wait(process, environ)

    async def _read_report(self, job: RunningJob, process: asyncio.subprocess.Process) -> JobReport:
        last, code = await self._read_lines(process, job.on_line, explicit=job.explicit)
        if isinstance(last, SyncReportLine | MaintainReportLine):
            return last.report
        if job.cancelled:
            return make_empty_report(
                job, "cancelled", f"The {job.name} was cancelled; the next one continues where it stopped."
            )
        if not isinstance(last, FailureLine):
            raise JobError(f"The {job.name} ended without a report (exit code {code}).", todo=_TRY_AGAIN)
        if last.code == "busy":
            return make_empty_report(job, "busy", f"{last.message} {last.todo}".strip())
        raise _make_job_error(last)

    async def _read_lines(
        self, process: asyncio.subprocess.Process, on_line: LineHandler, *, explicit: bool = True
    ) -> tuple[LastLine | None, int]:
        """Reads a job's lines until it ends: forwards its questions to the editor and passes the others to `on_line`.

        Returns the line it ended with, and its exit code. Raises ValueError for a line over MAX_LINE.
        """
        assert process.stdout is not None
        decoder = msgspec.json.Decoder(JobLine)
        last: LastLine | None = None
        questions = JobQuestions(self.ask_editor, explicit, lambda answer: send_line(process, answer))
        try:
            async for raw in process.stdout:
                try:
                    line: JobLine = decoder.decode(raw)
                except msgspec.MsgspecError as error:
                    log.warning("A line of the job was not understood: %s.", type(error).__name__)
                    continue
                if isinstance(line, LastLine):
                    last = line
                elif isinstance(line, EditorQuestion | EditorCancellation):
                    questions.handle_line(line)
                else:
                    on_line(line)
        finally:
            questions.cancel_all()
        return last, await process.wait()

    async def run_once(
        self,
        arguments: Sequence[str],
        name: str,
        result_type: type[Result],
        *,
        first_line: bytes = b"",
        on_line: LineHandler = lambda _line: None,
    ) -> Result:
        """Runs a job that belongs to one request, such as a question, and returns its result, a `result_type`.

        `name` is the job's name in messages, and `first_line` is sent to it. If cancelled, the job ends within a
        second. Raises JobError if it could not be started, if it failed, or if it ended without a result.
        """
        async with self._start(arguments, name, "Ask for less.") as process:
            self.one_off_processes.add(process)
            try:
                if first_line and process.stdin is not None:
                    process.stdin.write(first_line)
                last, code = await self._read_lines(process, on_line)
            except asyncio.CancelledError:
                send_line(process, CancelLine())
                await asyncio.wait({asyncio.create_task(process.wait())}, timeout=KILL_AFTER_SECONDS)
                raise
            finally:
                self.one_off_processes.discard(process)
        if isinstance(last, ResultLine):
            with suppress(msgspec.ValidationError):  # a new version was installed while this process runs
                return msgspec.convert(last.result, result_type)
        if isinstance(last, FailureLine):
            raise _make_job_error(last)
        raise JobError(f"The {name} ended without an answer (exit code {code}).", todo="Try again.")

    async def ask(self, root: Path, question: Question, on_sentence: Callable[[Sentence], None]) -> Answer:
        """Asks a question about a repository. `on_sentence` gets each complete sentence.

        Raises JobError if there is no answer.
        """

        def pass_sentence(line: JobLine) -> None:
            if isinstance(line, SentenceEvent):
                on_sentence(line.sentence)

        first_line = msgspec.json.encode(question) + b"\n"
        arguments = ["ask", "--repo", str(root)]
        return await self.run_once(arguments, "question", Answer, first_line=first_line, on_line=pass_sentence)

    def kill_all(self) -> None:
        """Kills every job at once, when this process ends."""
        for process in (*(job.process for job in self.running.values()), *self.one_off_processes):
            if process is not None and process.returncode is None:
                kill_group(process.pid, self.make_environ())


async def kill_and_wait(process: asyncio.subprocess.Process, environ: Mapping[str, str]) -> None:
    """Kills a process and waits briefly until it has ended."""
    kill_group(process.pid, environ)
    await asyncio.wait({asyncio.create_task(process.wait())}, timeout=KILL_AFTER_SECONDS)


def send_line(process: asyncio.subprocess.Process, line: ParentLine) -> None:
    """Sends a line to a job; does nothing if the job has ended."""
    if process.stdin is not None and not process.stdin.is_closing():
        process.stdin.write(msgspec.json.encode(line) + b"\n")


def make_empty_report(job: RunningJob, state: SyncState, message: str) -> JobReport:
    """Makes the report of a job that did nothing."""
    report_type = MaintainReport if job.kind == "maintain" else SyncReport
    return report_type("", state=state, message=message)


def _make_job_error(failure: FailureLine) -> JobError:
    error = JobError(failure.message, todo=failure.todo)
    error.code = failure.code
    return error


def start_process(launch: ProcessLaunch, folder: Path) -> Awaitable[asyncio.subprocess.Process]:
    """Starts a child process with pipes on stdin and stdout; it shares our stderr."""
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
