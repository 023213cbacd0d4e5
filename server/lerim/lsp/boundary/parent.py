"""Ending with the editor: a thread that sleeps until the parent process is gone, without polling where it can."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Callable

POLL_SECONDS = 2.0
SYNCHRONIZE = 0x00100000
INFINITE = 0xFFFFFFFF


def watch_parent(pid: int, gone: Callable[[], None]) -> None:
    """Calls `gone` from a daemon thread when process `pid` ends. A pid that is not alive now is not watched
    (the editor may live in another process namespace)."""
    wait = _waiter(pid)
    if wait is None:
        return

    def run() -> None:
        wait()
        gone()

    threading.Thread(target=run, daemon=True, name="parent").start()


def _waiter(pid: int) -> Callable[[], None] | None:
    if sys.platform == "win32":
        return _windows(pid)
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass  # alive, and not ours
    except OSError:
        return None
    if hasattr(os, "pidfd_open"):
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            return lambda: _poll(pid)
        return lambda: _wait_readable(handle)
    return lambda: _poll(pid)


def _wait_readable(handle: int) -> None:
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    while not poller.poll():
        pass


def _poll(pid: int) -> None:
    while True:
        time.sleep(POLL_SECONDS)
        try:
            os.kill(pid, 0)
        except PermissionError:
            continue
        except OSError:
            return


def _windows(pid: int) -> Callable[[], None] | None:
    # os.kill(pid, 0) would send Ctrl+C on Windows; a handle on the process is waited for instead.
    import ctypes

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - absent on other systems' type stubs
    handle = kernel.OpenProcess(SYNCHRONIZE, False, pid)
    if not handle:
        return None
    return lambda: kernel.WaitForSingleObject(handle, INFINITE)
