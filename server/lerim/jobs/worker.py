"""Runs one job in its own process. It writes JSON lines (docs/PROTOCOL.md §2).

- `python -m lerim worker sync --repo PATH [--explicit]`
- `worker maintain --repo PATH [--explicit] [--dry-run]`
- `worker ask --repo PATH`: the first line of input is the question
- `worker model`: asks the chosen model one tiny question
- `worker try --repo PATH`: lets the chosen model read one session

The process may be killed at any time: the next job continues from what the catalog has. It exits when its parent does.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

import msgspec

from lerim.assistant import Answer, Question, SentenceEvent
from lerim.errors import LerimError
from lerim.jobs.maintain import MaintainOptions, MaintainProgress, MaintainReport
from lerim.jobs.report import CandidateFound, CandidateWithdrawn, SyncProgress, SyncReport
from lerim.jobs.session_trial import SessionTrial
from lerim.models import (
    EditorAnswer,
    EditorAnswerPart,
    EditorBridge,
    EditorCancellation,
    EditorQuestion,
    EditorRefusal,
    ModelStep,
    Usage,
)
from lerim.process import claim_streams, lower_priority

if TYPE_CHECKING:
    from lerim.jobs.sync_context import SyncOptions
    from lerim.paths import Home
    from lerim.project import Project

PROGRESS_INTERVAL = 0.1
"""The minimum number of seconds between two progress lines of one stage."""
MAX_QUESTION_BYTES = 100_000
"""The maximum length of the input line that holds a question."""


class SyncReportLine(msgspec.Struct, frozen=True, tag_field="event", tag="report"):
    """The last line of a sync: its report."""

    report: SyncReport


class ModelTestLine(msgspec.Struct, frozen=True, tag_field="event", tag="tried"):
    """The last line of a job that tested a model: which one answered, its answer and the usage."""

    model: str
    answer: str
    usage: Usage
    steps: list[ModelStep] = []


class SessionTrialLine(msgspec.Struct, frozen=True, tag_field="event", tag="triedOn"):
    """The last line of a job that tried a model on one session: what the rules and the model find there."""

    trial: SessionTrial


class AnswerLine(msgspec.Struct, frozen=True, tag_field="event", tag="answered"):
    """The last line of a job that answered a question."""

    answer: Answer


class FailureLine(msgspec.Struct, frozen=True, tag_field="event", tag="error"):
    """The last line of a job that failed: the error's code, its message and what to do."""

    code: str
    message: str
    todo: str = ""


class MaintainReportLine(msgspec.Struct, frozen=True, tag_field="event", tag="maintained"):
    """The last line of a maintenance run: its report."""

    report: MaintainReport


JobLine: TypeAlias = (
    SyncProgress
    | CandidateFound
    | CandidateWithdrawn
    | EditorQuestion
    | EditorCancellation
    | SentenceEvent
    | MaintainProgress
    | SyncReportLine
    | ModelTestLine
    | SessionTrialLine
    | AnswerLine
    | MaintainReportLine
    | FailureLine
)


class CancelLine(msgspec.Struct, frozen=True, tag_field="event", tag="cancel"):
    """Asks the job to stop."""


ParentLine: TypeAlias = CancelLine | EditorAnswer | EditorAnswerPart | EditorRefusal
"""The lines that the parent sends to a job."""


@dataclass(frozen=True, slots=True)
class SyncOrder:
    """Sync the repository that contains `repo`."""

    repo: Path
    explicit: bool


@dataclass(frozen=True, slots=True)
class ModelTestOrder:
    """Ask the chosen model one tiny question."""


@dataclass(frozen=True, slots=True)
class SessionTrialOrder:
    """Let the chosen model read one session of the repository that contains `repo`."""

    repo: Path


@dataclass(frozen=True, slots=True)
class QuestionOrder:
    """Answer a question about the repository that contains `repo`."""

    repo: Path
    question: Question


@dataclass(frozen=True, slots=True)
class MaintainOrder:
    """Maintain the memories of the repository that contains `repo`."""

    repo: Path
    explicit: bool
    dry_run: bool


AnyOrder: TypeAlias = SyncOrder | ModelTestOrder | SessionTrialOrder | QuestionOrder | MaintainOrder


def parse_order(arguments: Sequence[str], source: BinaryIO) -> AnyOrder | None:
    """Return the order that the arguments give, None if they are invalid. A question is read from `source`."""
    match list(arguments):
        case ["model"]:
            return ModelTestOrder()
        case ["try", "--repo", path]:
            return SessionTrialOrder(Path(path))
        case ["ask", "--repo", path]:
            try:
                return QuestionOrder(
                    Path(path), msgspec.json.decode(source.readline(MAX_QUESTION_BYTES), type=Question)
                )
            except msgspec.MsgspecError:
                return None
        case ["maintain", "--repo", path, *flags] if set(flags) <= {"--explicit", "--dry-run"}:
            return MaintainOrder(Path(path), explicit="--explicit" in flags, dry_run="--dry-run" in flags)
        case ["sync", "--repo", path]:
            return SyncOrder(Path(path), explicit=False)
        case ["sync", "--repo", path, "--explicit"] | ["sync", "--explicit", "--repo", path]:
            return SyncOrder(Path(path), explicit=True)
    return None


class LineWriter:
    """Writes the job's output, one JSON object per line, from any thread. Progress within a stage is rate-limited."""

    def __init__(self, output: BinaryIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._output = output
        self._clock = clock
        self._lock = threading.Lock()
        self._encoder = msgspec.json.Encoder()
        self._stage = ""
        self._next_progress_at = 0.0

    def send(self, line: JobLine) -> None:
        """Write one line. If the parent has closed the pipe, exit the process."""
        with self._lock:
            if isinstance(line, SyncProgress | MaintainProgress) and not self._is_due(line):
                return
            try:
                self._output.write(self._encoder.encode(line) + b"\n")
                self._output.flush()
            except (BrokenPipeError, ValueError):
                os._exit(1)

    def _is_due(self, progress: SyncProgress | MaintainProgress) -> bool:
        """Whether to write a progress line: the first and the last of a stage always, others after an interval."""
        now = self._clock()
        if isinstance(progress, SyncProgress):
            is_last = progress.sessions_done == progress.sessions_total
        else:
            is_last = progress.done == progress.total
        if progress.stage == self._stage and now < self._next_progress_at and not is_last:
            return False
        self._stage, self._next_progress_at = progress.stage, now + PROGRESS_INTERVAL
        return True


def listen_to_parent(
    source: BinaryIO, cancel: threading.Event, bridge: EditorBridge, on_parent_exit: Callable[[], None]
) -> None:
    """Handle the parent's lines until the end of input, which means that it exited; then call `on_parent_exit`. Invalid
    lines are ignored."""
    decoder = msgspec.json.Decoder(ParentLine)
    for line in iter(source.readline, b""):
        try:
            message: ParentLine = decoder.decode(line)
        except msgspec.MsgspecError:
            continue
        if isinstance(message, CancelLine):
            cancel.set()
        else:
            bridge.deliver(message)
    on_parent_exit()


def run_order(order: AnyOrder, lines: LineWriter, cancel: threading.Event, bridge: EditorBridge) -> int:
    """Carry out the order, send its last line, and return the exit code."""
    job_name = {
        SyncOrder: "sync",
        ModelTestOrder: "test",
        SessionTrialOrder: "trial",
        QuestionOrder: "answer",
        MaintainOrder: "maintaining",
    }[type(order)]
    try:
        last_line = _execute_order(order, lines, cancel, bridge)
    except LerimError as error:
        lines.send(FailureLine(error.code, str(error), error.todo))
        return error.exit_code
    except Exception as error:
        from lerim.jobs.unusable_home import explain_unusable_home

        if (home_error := explain_unusable_home(error)) is not None:
            lines.send(FailureLine(home_error.code, str(home_error), home_error.todo))
            return home_error.exit_code
        # The message of an unexpected exception may quote a transcript; the traceback's locations do not.
        sys.stderr.write(f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}")
        lines.send(
            FailureLine(
                "error", f"The {job_name} stopped at an unexpected {type(error).__name__}.", "See Lerim: Show Log."
            )
        )
        return 1
    lines.send(last_line)
    return 0


def _execute_order(
    order: AnyOrder, lines: LineWriter, cancel: threading.Event, bridge: EditorBridge
) -> SyncReportLine | ModelTestLine | SessionTrialLine | AnswerLine | MaintainReportLine:
    match order:
        case ModelTestOrder():
            return _test_model(cancel, bridge)
        case SessionTrialOrder(repo):
            return _try_session(repo, cancel, bridge)
        case QuestionOrder(repo, question):
            return _ask(repo, question, lines, cancel, bridge)
        case MaintainOrder():
            return _maintain(order, lines, cancel, bridge)
        case SyncOrder():
            return _sync(order, lines, cancel, bridge)


def _sync(order: SyncOrder, lines: LineWriter, cancel: threading.Event, bridge: EditorBridge) -> SyncReportLine:
    from lerim.jobs import sync

    home = _find_home(order.repo)
    options: SyncOptions = sync.SyncOptions(explicit=order.explicit)
    project = _find_project(order.repo, home)
    return SyncReportLine(
        sync.sync_project(project, home, os.environ, options, lines.send, cancel.is_set, bridge=bridge)
    )


def _ask(
    repo: Path, question: Question, lines: LineWriter, cancel: threading.Event, bridge: EditorBridge
) -> AnswerLine:
    from datetime import UTC, datetime

    from lerim.assistant import answer_question

    home = _find_home(repo)
    answer = answer_question(
        _find_project(repo, home),
        home,
        os.environ,
        question,
        lines.send,
        cancel.is_set,
        lambda: datetime.now(UTC),
        bridge,
    )
    return AnswerLine(answer)


def _maintain(
    order: MaintainOrder, lines: LineWriter, cancel: threading.Event, bridge: EditorBridge
) -> MaintainReportLine:
    from lerim.jobs import maintain

    home = _find_home(order.repo)
    options = MaintainOptions(dry_run=order.dry_run, explicit=order.explicit)
    project = _find_project(order.repo, home)
    return MaintainReportLine(
        maintain.maintain_project(project, home, os.environ, options, lines.send, cancel.is_set, bridge=bridge)
    )


def _find_home(folder: Path) -> Home:
    """Return the person's Lerim home. Raises HomeError, also if it lies in the repository around `folder`."""
    from lerim.paths import Home
    from lerim.project import check_home_outside_repository

    home = Home.from_environ(os.environ)
    check_home_outside_repository(home, folder)
    return home


def _find_project(repo: Path, home: Home) -> Project:
    """Return the project that contains a folder; for the home, the personal project. Raises ProjectError."""
    from lerim.errors import ProjectError
    from lerim.project import project

    found = project.make_personal_project(home) if repo == home.root else project.locate_project(repo, home)
    if found is None:
        raise ProjectError("This folder is not in a git repository.", where=str(repo), todo="Run `git init` in it.")
    return found


def _test_model(cancel: threading.Event, bridge: EditorBridge) -> ModelTestLine:
    home = _find_home(Path.cwd())
    from lerim.models import probe_chosen_model

    trial = probe_chosen_model(home, os.environ, cancel.is_set, bridge)
    return ModelTestLine(trial.model, trial.answer, trial.usage, trial.steps)


def _try_session(repo: Path, cancel: threading.Event, bridge: EditorBridge) -> SessionTrialLine:
    from lerim.jobs import session_trial

    home = _find_home(repo)
    trial = session_trial.SessionTrialRequest(_find_project(repo, home), home, os.environ, cancel.is_set, bridge)
    return SessionTrialLine(session_trial.run_session_trial(trial))


def main(arguments: Sequence[str]) -> int:
    """Run the job that the arguments name and exit the process with its code. Return 2 if the arguments are invalid."""
    source, output = claim_streams()
    order = parse_order(arguments, source)
    if order is None:
        sys.stderr.write(
            "usage: lerim worker sync --repo PATH [--explicit], lerim worker maintain --repo PATH [--explicit]"
            " [--dry-run], lerim worker ask --repo PATH (the question as JSON on standard input), lerim worker model,"
            " lerim worker try --repo PATH\n"
        )
        return 2
    lower_priority()
    cancel, lines = threading.Event(), LineWriter(output)
    bridge = EditorBridge(lines.send)
    listener_args = (source, cancel, bridge, lambda: os._exit(1))
    threading.Thread(target=listen_to_parent, args=listener_args, daemon=True, name="parent").start()
    code = run_order(order, lines, cancel, bridge)
    output.flush()
    # A daemon thread blocked in a buffered read can abort the interpreter's own shutdown; everything is closed by now.
    os._exit(code)
