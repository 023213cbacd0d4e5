"""One job as a process, JSON lines (docs/PROTOCOL.md §2): `python -m lerim worker sync --repo PATH [--explicit]`,
`worker maintain --repo PATH [--explicit] [--dry-run]`, `worker ask --repo PATH`, whose first line of input is the
question, `worker model`, which asks the chosen model one tiny question, or `worker try --repo PATH`, which lets it read
one session.

It may be killed at any instant: the catalog carries on from where it was. It ends by itself when its parent does.
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

from lerim import maintained
from lerim.errors import LerimError
from lerim.lead import cited
from lerim.lead.cited import Question, Said
from lerim.maintained import MaintainProgress, MaintainReport
from lerim.models.editor import Answer, Ask, Bridge, Part, Refused, Unask
from lerim.models.usage import Step, Usage
from lerim.process import be_nice, claim_streams
from lerim.report import Found, Progress, SyncReport, Withdrew
from lerim.session_trial import SessionTrial

if TYPE_CHECKING:
    from lerim.jobs import SyncOptions
    from lerim.paths import Home
    from lerim.project import Project

PROGRESS_EVERY = 0.1
"""Seconds between two progress lines of one stage."""
MOST_QUESTION = 100_000
"""Bytes of the line that holds a question."""


class Report(msgspec.Struct, frozen=True, tag_field="event", tag="report"):
    """The job's last line: what it did."""

    report: SyncReport


class Tried(msgspec.Struct, frozen=True, tag_field="event", tag="tried"):
    """The last line of a job that tried a model: which answered, what it said, and what that took."""

    model: str
    answer: str
    usage: Usage
    steps: list[Step] = []


class TriedOn(msgspec.Struct, frozen=True, tag_field="event", tag="triedOn"):
    """The last line of a job that tried a model on one session: what the rules and the model find there."""

    trial: SessionTrial


class Answered(msgspec.Struct, frozen=True, tag_field="event", tag="answered"):
    """The last line of a job that was asked something."""

    answer: cited.Answer


class Failed(msgspec.Struct, frozen=True, tag_field="event", tag="error"):
    """The job's last line when it could not go on: an error's code, message and what to do."""

    code: str
    message: str
    todo: str = ""


class Maintained(msgspec.Struct, frozen=True, tag_field="event", tag="maintained"):
    """The last line of a job that maintained memories: what it did."""

    report: MaintainReport


Line: TypeAlias = (
    Progress
    | Found
    | Withdrew
    | Ask
    | Unask
    | Said
    | MaintainProgress
    | Report
    | Tried
    | TriedOn
    | Answered
    | Maintained
    | Failed
)


class Cancel(msgspec.Struct, frozen=True, tag_field="event", tag="cancel"):
    """The job shall stop."""


Told: TypeAlias = Cancel | Answer | Part | Refused
"""What a job is sent."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to do: one sync of the repository that holds `repo`."""

    repo: Path
    explicit: bool


@dataclass(frozen=True, slots=True)
class TryModel:
    """What to do: ask the chosen model one tiny question."""


@dataclass(frozen=True, slots=True)
class TryOn:
    """What to do: let the chosen model read one session of the repository that holds `repo`."""

    repo: Path


@dataclass(frozen=True, slots=True)
class AskAbout:
    """What to do: answer the question, the first line of input, about the repository that holds `repo`."""

    repo: Path
    question: Question


@dataclass(frozen=True, slots=True)
class Maintain:
    """What to do: maintain the memories of the repository that holds `repo`."""

    repo: Path
    explicit: bool
    dry_run: bool


AnyOrder: TypeAlias = Order | TryModel | TryOn | AskAbout | Maintain


def parse(arguments: Sequence[str], source: BinaryIO) -> AnyOrder | None:
    """The order the arguments give, or None if they are none of those above; only a question is read from `source`."""
    match list(arguments):
        case ["model"]:
            return TryModel()
        case ["try", "--repo", path]:
            return TryOn(Path(path))
        case ["ask", "--repo", path]:
            try:
                return AskAbout(Path(path), msgspec.json.decode(source.readline(MOST_QUESTION), type=Question))
            except msgspec.MsgspecError:
                return None
        case ["maintain", "--repo", path, *flags] if set(flags) <= {"--explicit", "--dry-run"}:
            return Maintain(Path(path), explicit="--explicit" in flags, dry_run="--dry-run" in flags)
        case ["sync", "--repo", path]:
            return Order(Path(path), explicit=False)
        case ["sync", "--repo", path, "--explicit"] | ["sync", "--explicit", "--repo", path]:
            return Order(Path(path), explicit=True)
    return None


class Lines:
    """The job's output: one JSON object a line, from any thread; progress of one stage is thinned."""

    def __init__(self, output: BinaryIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._output = output
        self._clock = clock
        self._lock = threading.Lock()
        self._encoder = msgspec.json.Encoder()
        self._stage = ""
        self._next = 0.0

    def send(self, line: Line) -> None:
        """Writes one line; a parent that is gone ends the process."""
        with self._lock:
            if isinstance(line, Progress | MaintainProgress) and not self._due(line):
                return
            try:
                self._output.write(self._encoder.encode(line) + b"\n")
                self._output.flush()
            except (BrokenPipeError, ValueError):
                os._exit(1)

    def _due(self, at: Progress | MaintainProgress) -> bool:
        now = self._clock()
        last = at.sessions_done == at.sessions_total if isinstance(at, Progress) else at.done == at.total
        if at.stage == self._stage and now < self._next and not last:
            return False
        self._stage, self._next = at.stage, now + PROGRESS_EVERY
        return True


def listen(source: BinaryIO, cancel: threading.Event, bridge: Bridge, gone: Callable[[], None]) -> None:
    """Reads the parent's lines until the end of input, which means it died: then `gone()`. Other lines are ignored."""
    decoder = msgspec.json.Decoder(Told)
    for line in iter(source.readline, b""):
        try:
            told: Told = decoder.decode(line)
        except msgspec.MsgspecError:
            continue
        if isinstance(told, Cancel):
            cancel.set()
        else:
            bridge.take(told)
    gone()


def work(order: AnyOrder, lines: Lines, cancel: threading.Event, bridge: Bridge) -> int:
    """Does the order and sends how it ended; returns the exit code."""
    what = {Order: "sync", TryModel: "test", TryOn: "trial", AskAbout: "answer", Maintain: "maintaining"}[type(order)]
    try:
        last = _done(order, lines, cancel, bridge)
    except LerimError as error:
        lines.send(Failed(error.code, str(error), error.todo))
        return error.exit_code
    except Exception as error:
        from lerim.unusable_home import unusable_home

        if (known := unusable_home(error)) is not None:
            lines.send(Failed(known.code, str(known), known.todo))
            return known.exit_code
        # The message of a foreign exception may quote a transcript; where it happened does not.
        sys.stderr.write(f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}")
        lines.send(
            Failed("error", f"The {what} stopped at an unexpected {type(error).__name__}.", "See Lerim: Show Log.")
        )
        return 1
    lines.send(last)
    return 0


def _done(
    order: AnyOrder, lines: Lines, cancel: threading.Event, bridge: Bridge
) -> Report | Tried | TriedOn | Answered | Maintained:
    match order:
        case TryModel():
            return _try(cancel, bridge)
        case TryOn(repo):
            return _try_on(repo, cancel, bridge)
        case AskAbout(repo, question):
            return _ask(repo, question, lines, cancel, bridge)
        case Maintain():
            return _maintain(order, lines, cancel, bridge)
        case Order():
            return _sync(order, lines, cancel, bridge)


def _sync(order: Order, lines: Lines, cancel: threading.Event, bridge: Bridge) -> Report:
    from lerim import jobs

    home = _home(order.repo)
    options: SyncOptions = jobs.SyncOptions(explicit=order.explicit)
    project = _project(order.repo, home)
    return Report(jobs.run(project, home, os.environ, options, lines.send, cancel.is_set, bridge=bridge))


def _ask(repo: Path, question: Question, lines: Lines, cancel: threading.Event, bridge: Bridge) -> Answered:
    from datetime import UTC, datetime

    from lerim import ask

    home = _home(repo)
    answer = ask.run(
        _project(repo, home), home, os.environ, question, lines.send, cancel.is_set, lambda: datetime.now(UTC), bridge
    )
    return Answered(answer)


def _maintain(order: Maintain, lines: Lines, cancel: threading.Event, bridge: Bridge) -> Maintained:
    from lerim import maintain

    home = _home(order.repo)
    options = maintained.MaintainOptions(dry_run=order.dry_run, explicit=order.explicit)
    project = _project(order.repo, home)
    return Maintained(maintain.run(project, home, os.environ, options, lines.send, cancel.is_set, bridge=bridge))


def _home(folder: Path) -> Home:
    """The person's home, which is not in the repository around `folder`. Raises HomeError."""
    from lerim.home import check_around
    from lerim.paths import Home

    home = Home.of(os.environ)
    check_around(home, folder)
    return home


def _project(repo: Path, home: Home) -> Project:
    """The project that holds a folder; the home is the person's own. Raises ProjectError."""
    from lerim import project
    from lerim.errors import ProjectError

    found = project.personal(home) if repo == home.root else project.locate(repo, home)
    if found is None:
        raise ProjectError("This folder is in no git repository.", where=str(repo), todo="Run `git init` in it.")
    return found


def _try(cancel: threading.Event, bridge: Bridge) -> Tried:
    home = _home(Path.cwd())
    from lerim.models.trial import chosen_tried

    trial = chosen_tried(home, os.environ, cancel.is_set, bridge)
    return Tried(trial.model, trial.answer, trial.usage, trial.steps)


def _try_on(repo: Path, cancel: threading.Event, bridge: Bridge) -> TriedOn:
    from lerim import session_trial

    home = _home(repo)
    trial = session_trial.Trial(_project(repo, home), home, os.environ, cancel.is_set, bridge)
    return TriedOn(session_trial.run(trial))


def main(arguments: Sequence[str]) -> int:
    """The process's entry; returns the exit code."""
    source, output = claim_streams()
    order = parse(arguments, source)
    if order is None:
        sys.stderr.write(
            "usage: lerim worker sync --repo PATH [--explicit], lerim worker maintain --repo PATH [--explicit]"
            " [--dry-run], lerim worker ask --repo PATH (the question as JSON on standard input), lerim worker model,"
            " lerim worker try --repo PATH\n"
        )
        return 2
    be_nice()
    cancel, lines = threading.Event(), Lines(output)
    bridge = Bridge(lines.send)
    ear = (source, cancel, bridge, lambda: os._exit(1))
    threading.Thread(target=listen, args=ear, daemon=True, name="parent").start()
    code = work(order, lines, cancel, bridge)
    output.flush()
    # A daemon thread blocked in a buffered read can abort the interpreter's own shutdown; everything is closed by now.
    os._exit(code)
