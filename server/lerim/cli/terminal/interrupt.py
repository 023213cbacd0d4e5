"""Ctrl-C: the first press stops work where it can be resumed, the second ends it at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lerim.cli.terminal import output

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
