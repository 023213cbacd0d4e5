"""Runs one job in its own process. It writes JSON lines (docs/PROTOCOL.md §2).

- `python -m lerim worker sync --repo PATH [--explicit | --options JSON]`: `SyncOptions`
- `worker maintain --repo PATH [--explicit] [--dry-run]`
- `worker ask --repo PATH`: the first line of input is the question
- `worker model`: asks the chosen model one tiny question
- `worker try --repo PATH`: lets the chosen model read one session
- `worker benefit --repo PATH`: computes what became of the memories that agents were given
- `worker journal --repo PATH --day DAY`: makes the entry of a day (`2026-03-02`, `today`)
- `worker check --repo PATH`: looks for what is wrong in the memories
- `worker call --session PLACE --turn TURN --call NUMBER`: reads the edits and the output of a call of a session

The process may be killed at any time: the next job continues from what the catalog has. It exits when its parent does.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import msgspec

from lerim.assistant import Question, SentenceEvent
from lerim.errors import LerimError, ProjectError, UsageError
from lerim.files import encode_writable_json
from lerim.jobs.maintain import MaintainProgress, MaintainReport
from lerim.jobs.report import CandidateFound, CandidateWithdrawn, SyncProgress, SyncReport
from lerim.models import (
    EditorAnswer,
    EditorAnswerPart,
    EditorBridge,
    EditorCancellation,
    EditorQuestion,
    EditorRefusal,
)
from lerim.process import lower_priority
from lerim.streams import claim_streams

if TYPE_CHECKING:
    from lerim.jobs.sync_context import SyncOptions
    from lerim.journal import JournalPage
    from lerim.paths import Home
    from lerim.project import Project

PROGRESS_INTERVAL = 0.1
"""The minimum number of seconds between two progress lines of one stage."""
MAX_QUESTION_BYTES = 100_000
"""The maximum length of the input line that holds a question."""


class SyncReportLine(msgspec.Struct, frozen=True, tag_field="event", tag="report"):
    """The last line of a sync: its report."""

    report: SyncReport


class ResultLine(msgspec.Struct, frozen=True, tag_field="event", tag="result"):
    """The last line of a job that belongs to one request, such as a question: what it returns."""

    result: Any


class FailureLine(msgspec.Struct, frozen=True, tag_field="event", tag="error"):
    """The last line of a job that failed: the error's code, its message and what to do."""

    code: str
    message: str
    todo: str = ""


class MaintainReportLine(msgspec.Struct, frozen=True, tag_field="event", tag="maintained"):
    """The last line of a maintenance run: its report."""

    report: MaintainReport


LastLine: TypeAlias = SyncReportLine | MaintainReportLine | ResultLine | FailureLine
"""What a job ends with."""

JobLine: TypeAlias = (
    SyncProgress
    | CandidateFound
    | CandidateWithdrawn
    | EditorQuestion
    | EditorCancellation
    | SentenceEvent
    | MaintainProgress
    | LastLine
)


class CancelLine(msgspec.Struct, frozen=True, tag_field="event", tag="cancel"):
    """Asks the job to stop."""


ParentLine: TypeAlias = CancelLine | EditorAnswer | EditorAnswerPart | EditorRefusal
"""The lines that the parent sends to a job."""


@dataclass(frozen=True, slots=True)
class Order:
    """One job: its name, and the folder whose repository it works on (`model` and `call` work on none).

    `explicit`: the person started it. `options` belongs to `sync`, `dry_run` to `maintain`, `question` to `ask`, `day`
    to `journal`, `call` (the session's place, the turn and the call's number) to the job of this name.
    """

    job: Literal["sync", "maintain", "ask", "model", "try", "benefit", "journal", "check", "call"]
    repo: Path = Path()
    explicit: bool = False
    options: SyncOptions | None = None
    dry_run: bool = False
    question: Question | None = None
    day: str = ""
    call: tuple[str, str, int] = ("", "", 0)


def parse_order(arguments: Sequence[str], source: BinaryIO) -> Order | None:
    """Returns the order that the arguments give, None if they are invalid. A question is read from `source`."""
    with suppress(msgspec.MsgspecError):
        match list(arguments):
            case ["model"]:
                return Order("model")
            case ["try", "--repo", path]:
                return Order("try", Path(path))
            case ["benefit", "--repo", path]:
                return Order("benefit", Path(path))
            case ["check", "--repo", path]:
                return Order("check", Path(path))
            case ["journal", "--repo", path, "--day", day]:
                return Order("journal", Path(path), day=day)
            case ["call", "--session", place, "--turn", turn, "--call", number] if number.isdecimal():
                return Order("call", call=(place, turn, int(number)))
            case ["ask", "--repo", path]:
                question = msgspec.json.decode(source.readline(MAX_QUESTION_BYTES), type=Question)
                return Order("ask", Path(path), question=question)
            case ["maintain", "--repo", path, *flags] if set(flags) <= {"--explicit", "--dry-run"}:
                return Order("maintain", Path(path), explicit="--explicit" in flags, dry_run="--dry-run" in flags)
            case ["sync", "--repo", path, *flags] if flags in ([], ["--explicit"]):
                return Order("sync", Path(path), explicit=bool(flags))
            case ["sync", "--repo", path, "--options", options]:
                from lerim.jobs.sync_context import SyncOptions

                return Order("sync", Path(path), options=msgspec.json.decode(options, type=SyncOptions))
    return None


class LineWriter:
    """Writes the job's output, one JSON object per line, from any thread. Progress within a stage is rate-limited."""

    def __init__(self, output: BinaryIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._output = output
        self._clock = clock
        self._lock = threading.Lock()
        self._stage = ""
        self._next_progress_at = 0.0

    def send(self, line: JobLine) -> None:
        """Writes one line. If the parent has closed the pipe, exits the process."""
        with self._lock:
            if isinstance(line, SyncProgress | MaintainProgress) and not self._is_due(line):
                return
            try:
                self._output.write(encode_writable_json(line) + b"\n")
                self._output.flush()
            except (BrokenPipeError, ValueError):
                os._exit(1)

    def _is_due(self, progress: SyncProgress | MaintainProgress) -> bool:
        """Returns whether to write a progress line: the first and the last of a stage always, others after an
        interval."""
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
    """Handles the parent's lines until the end of input, which means that it exited; then calls `on_parent_exit`.
    Invalid lines are ignored."""
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


_NOUNS = {
    "sync": "sync",
    "maintain": "maintenance",
    "ask": "answer",
    "model": "test",
    "try": "trial",
    "benefit": "computation",
    "journal": "journal",
    "check": "check",
    "call": "reading",
}
"""What a message about a failure calls each job."""


def run_order(order: Order, lines: LineWriter, cancel: threading.Event, bridge: EditorBridge) -> int:
    """Carries out the order, sends its last line, and returns the exit code."""
    try:
        lines.send(_execute_order(order, lines, cancel.is_set, bridge))
    except LerimError as error:
        return _send_failure(lines, error)
    except Exception as error:
        from lerim.jobs.unusable_home import explain_unusable_home

        if (home_error := explain_unusable_home(error)) is not None:
            return _send_failure(lines, home_error)
        # The message of an unexpected exception may quote a transcript; the traceback's locations do not.
        sys.stderr.write(f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}")
        message = f"The {_NOUNS[order.job]} stopped at an unexpected {type(error).__name__}."
        lines.send(FailureLine("error", message, "See Lerim: Show Log."))
        return 1
    return 0


def _send_failure(lines: LineWriter, error: LerimError) -> int:
    place = f" ({error.where})" if error.where else ""
    lines.send(FailureLine(error.code, f"{error.message}{place}", error.todo))
    return error.exit_code


def _execute_order(order: Order, lines: LineWriter, cancelled: Callable[[], bool], bridge: EditorBridge) -> LastLine:
    """Carries out the order and returns its last line. What a job needs is imported only by that job."""
    environ, home = os.environ, _find_home(Path.cwd() if order.job in ("model", "call") else order.repo)
    if order.job == "model":
        from lerim.config import load
        from lerim.models import find_extraction_model, probe_model

        settings, _ = load.load_settings(environ, home)
        model = find_extraction_model(settings, environ)
        return ResultLine(probe_model(settings, model, environ, cancelled, bridge))
    if order.job == "call":
        from lerim.sessions import Catalog, read_call

        with Catalog.open(home) as catalog:
            return ResultLine(read_call(catalog.db, *order.call))
    project = _find_project(order.repo, home)
    if order.job == "try":
        from lerim.jobs import session_trial

        request = session_trial.SessionTrialRequest(project, home, environ, cancelled, bridge)
        return ResultLine(session_trial.run_session_trial(request))
    if order.job == "benefit":
        from lerim.statistics import compute_benefit

        return ResultLine(compute_benefit(project, home, cancelled))
    if order.job == "check":
        from lerim.check import check_project

        return ResultLine(check_project(project, home, environ, cancelled))
    if order.job == "journal":
        return ResultLine(_tell_day(project, home, order.day))
    if order.question is not None:
        from lerim.assistant import answer_question

        now = partial(datetime.now, UTC)
        return ResultLine(answer_question(project, home, environ, order.question, lines.send, cancelled, now, bridge))
    if order.job == "maintain":
        from lerim.jobs import maintain

        dry_run = order.dry_run
        return MaintainReportLine(
            maintain.maintain_project(project, home, environ, lines.send, cancelled, dry_run=dry_run)
        )
    from lerim.jobs import sync

    sync_options = order.options or sync.SyncOptions(explicit=order.explicit)
    return SyncReportLine(sync.sync_project(project, home, environ, sync_options, lines.send, cancelled, bridge=bridge))


def _tell_day(project: Project, home: Home, day: str) -> JournalPage:
    """Returns the page of a day. Raises UsageError if `day` is not a day."""
    from lerim.journal import build_page, open_journal, parse_day

    now = datetime.now(UTC)
    try:
        return build_page(open_journal(project, home, os.environ), parse_day(day, now), now)
    except ValueError as error:
        raise UsageError(f"{error}.") from error


def _find_home(folder: Path) -> Home:
    """Returns the person's Lerim home. Raises HomeError, also if it is in the repository around `folder`."""
    from lerim.paths import Home
    from lerim.project import check_home_outside_repository

    home = Home.from_environ(os.environ)
    check_home_outside_repository(home, folder)
    return home


def _find_project(repo: Path, home: Home) -> Project:
    """Returns the project that contains a folder; for the home, the personal project. Raises ProjectError."""
    from lerim.project import project

    found = project.make_personal_project(home) if repo == home.root else project.locate_project(repo, home)
    if found is None:
        raise ProjectError("This folder is not in a git repository.", where=str(repo), todo="Run `git init` in it.")
    return found


def main(arguments: Sequence[str]) -> int:
    """Runs the job that the arguments name and exits the process with its code. Returns 2 if the arguments are
    invalid."""
    source, output = claim_streams()
    order = parse_order(arguments, source)
    if order is None:
        sys.stderr.write(f"These are not the arguments of a job.\n\n{__doc__}")
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
