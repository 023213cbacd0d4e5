"""One job as a process: `python -m lerim worker sync --repo PATH [--explicit]`, JSON lines (docs/PROTOCOL.md §2).

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
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from lerim.errors import LerimError
from lerim.models.editor import Answer, Ask, Bridge, Refused, Unask
from lerim.process import be_nice, claim_streams
from lerim.report import Event, Found, Progress, SyncReport, Withdrew

if TYPE_CHECKING:
    from lerim.jobs import SyncOptions

PROGRESS_EVERY = 0.1
"""Seconds between two progress lines of one stage."""


class Report(msgspec.Struct, frozen=True, tag_field="event", tag="report"):
    """The job's last line: what it did."""

    report: SyncReport


class Failed(msgspec.Struct, frozen=True, tag_field="event", tag="error"):
    """The job's last line when it could not go on: an error's code, message and what to do."""

    code: str
    message: str
    todo: str = ""


Line = Progress | Found | Withdrew | Ask | Unask | Report | Failed


class Cancel(msgspec.Struct, frozen=True, tag_field="event", tag="cancel"):
    """The job shall stop."""


Told = Cancel | Answer | Refused
"""What a job is sent."""


@dataclass(frozen=True, slots=True)
class Order:
    """What to do: one sync of the repository that holds `repo`."""

    repo: Path
    explicit: bool


def parse(arguments: Sequence[str]) -> Order | None:
    """The order the arguments give, or None if they are not `sync --repo PATH [--explicit]`."""
    match list(arguments):
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
            if isinstance(line, Progress) and not self._due(line):
                return
            try:
                self._output.write(self._encoder.encode(line) + b"\n")
                self._output.flush()
            except (BrokenPipeError, ValueError):
                os._exit(1)

    def _due(self, progress: Progress) -> bool:
        now = self._clock()
        last = progress.sessions_done == progress.sessions_total
        if progress.stage == self._stage and now < self._next and not last:
            return False
        self._stage, self._next = progress.stage, now + PROGRESS_EVERY
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


def work(order: Order, lines: Lines, cancel: threading.Event, bridge: Bridge) -> int:
    """Does the order and sends how it ended; returns the exit code."""
    from lerim import jobs, project
    from lerim.errors import ProjectError
    from lerim.paths import Home

    def emit(event: Event) -> None:
        lines.send(event)

    try:
        home = Home.of(os.environ)
        found = project.locate(order.repo, home)
        if found is None:
            raise ProjectError(
                "This folder is in no git repository.", where=str(order.repo), todo="Run `git init` in it."
            )
        options: SyncOptions = jobs.SyncOptions(explicit=order.explicit)
        report = jobs.run(found, home, os.environ, options, emit, cancel.is_set, bridge=bridge)
    except LerimError as error:
        lines.send(Failed(error.code, str(error), error.todo))
        return error.exit_code
    except Exception as error:
        # The message of a foreign exception may quote a transcript; where it happened does not.
        sys.stderr.write(f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}")
        lines.send(
            Failed("error", f"The sync stopped at an unexpected {type(error).__name__}.", "See Lerim: Show Log.")
        )
        return 1
    lines.send(Report(report))
    return 0


def main(arguments: Sequence[str]) -> int:
    """The process's entry; returns the exit code."""
    order = parse(arguments)
    if order is None:
        sys.stderr.write("usage: lerim worker sync --repo PATH [--explicit]\n")
        return 2
    source, output = claim_streams()
    be_nice()
    cancel, lines = threading.Event(), Lines(output)
    bridge = Bridge(lines.send)
    ear = (source, cancel, bridge, lambda: os._exit(1))
    threading.Thread(target=listen, args=ear, daemon=True, name="parent").start()
    code = work(order, lines, cancel, bridge)
    output.flush()
    # A daemon thread blocked in a buffered read can abort the interpreter's own shutdown; everything is closed by now.
    os._exit(code)
