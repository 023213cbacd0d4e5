"""Watches the editor's process from a thread and reports its end, without polling where the system allows that."""

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


def watch_parent(pid: int, on_exit: Callable[[], None]) -> None:
    """Calls `on_exit` from a daemon thread when process `pid` ends.

    A process that does not exist now is not watched, since the editor may run in another process namespace.
    """
    wait_for_exit = _make_waiter(pid)
    if wait_for_exit is None:
        return

    def run() -> None:
        wait_for_exit()
        on_exit()

    threading.Thread(target=run, daemon=True, name="parent").start()


def _make_waiter(pid: int) -> Callable[[], None] | None:
    if sys.platform == "win32":
        return _make_windows_waiter(pid)
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass  # the process exists but belongs to another user
    except OSError:
        return None
    if hasattr(os, "pidfd_open"):
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            return lambda: _poll_until_exit(pid)
        return lambda: _wait_readable(handle)
    return lambda: _poll_until_exit(pid)


def _wait_readable(handle: int) -> None:
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    while not poller.poll():
        pass


def _poll_until_exit(pid: int) -> None:
    while True:
        time.sleep(POLL_SECONDS)
        try:
            os.kill(pid, 0)
        except PermissionError:
            continue
        except OSError:
            return


def _make_windows_waiter(pid: int) -> Callable[[], None] | None:
    # os.kill(pid, 0) would send Ctrl+C on Windows, so this waits on a handle of the process instead.
    import ctypes

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - absent on other systems' type stubs
    handle = kernel.OpenProcess(SYNCHRONIZE, False, pid)
    if not handle:
        return None
    return lambda: kernel.WaitForSingleObject(handle, INFINITE)
