"""Supports long work on a terminal: shows its progress line, and handles Ctrl-C, whose first press stops the work
where it can be resumed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from lerim.cli.terminal import output

Event = TypeVar("Event")
EXIT_CODES = {"done": 0, "partial": 3, "cancelled": 3, "busy": 4, "failed": 1}


@contextmanager
def interruptible(grace: float | None = None) -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether the person pressed Ctrl-C, so that work can stop where it can be resumed.

    A second press raises KeyboardInterrupt. With `grace`, the process is ended that many seconds after the first press
    if the work has not stopped; use this only for work that a kill does not harm.
    """
    stop_requested = threading.Event()
    work_ended = threading.Event()

    def handle_signal(_signal: int, _frame: object) -> None:
        if stop_requested.is_set():
            raise KeyboardInterrupt
        stop_requested.set()
        output.print_note("stopping; press Ctrl-C again to stop at once")
        if grace is not None:
            threading.Thread(target=exit_after, args=(grace,), daemon=True).start()

    def exit_after(seconds: float) -> None:
        if not work_ended.wait(seconds):
            os._exit(EXIT_CODES["cancelled"])

    previous_handler = signal.signal(signal.SIGINT, handle_signal)
    try:
        yield stop_requested.is_set
    finally:
        work_ended.set()
        signal.signal(signal.SIGINT, previous_handler)


@contextmanager
def show_progress(start: str, describe: Callable[[Event], str], *, quiet: bool) -> Iterator[Callable[[Event], None]]:
    """Shows a progress line if standard error is a terminal, and yields the function that updates it.

    `start` is the first line. `describe` returns the line for an event, or "" if the event does not change it.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _event: None
        return
    from rich.console import Console

    with Console(stderr=True, markup=False, highlight=False).status(start) as status:

        def show(event: Event) -> None:
            if line := describe(event):
                status.update(output.escape_controls(line))

        yield show
