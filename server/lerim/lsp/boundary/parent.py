"""Reads the input from the editor's process, and notices its end, without polling where the system allows that.

Input is read in the event loop itself where possible. pygls reads each line in a thread. Every switch between threads
may wait for our other threads, so a hover would be delayed many times while memories are being read.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import stat
import sys
import threading
import time
from collections.abc import Callable
from typing import BinaryIO

POLL_SECONDS = 2.0
SYNCHRONIZE = 0x00100000
INFINITE = 0xFFFFFFFF
CHUNK_BYTES = 0x10000


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


class StdinReader:
    """Reads lines and bytes; returns nothing once the editor has closed the stream."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream

    async def readline(self) -> bytes:
        """Returns the next line. An overlong line, which no editor sends, is returned as an empty line."""
        await asyncio.sleep(0)  # handlers of earlier messages start before the next message is read
        is_complete = True
        while True:
            try:
                line = await self._stream.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                line = error.partial
            except asyncio.LimitOverrunError as error:
                await self._stream.readexactly(error.consumed)
                is_complete = False
                continue
            return line if is_complete else b"\n"

    async def readexactly(self, size: int) -> bytes | None:
        """Exactly `size` bytes, or None if the stream ends first."""
        try:
            return await self._stream.readexactly(size)
        except asyncio.IncompleteReadError:
            return None


async def read_stdin(source: BinaryIO, output: BinaryIO) -> StdinReader:
    """Starts reading `source`, which must be unread so far. `output`, where answers go, must stay blocking."""
    loop = asyncio.get_running_loop()
    stream = asyncio.StreamReader()
    if can_wait_on(source, output):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), source)
    else:
        threading.Thread(target=_feed_stream, args=(source, loop, stream), daemon=True, name="editor").start()
    return StdinReader(stream)


def can_wait_on(source: BinaryIO, output: BinaryIO, platform: str = sys.platform) -> bool:
    """Returns whether the event loop can wait for `source`: a pipe or socket not shared with `output`, and not on
    Windows."""
    mode = os.fstat(source.fileno()).st_mode
    return (
        platform != "win32"
        and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))
        and not os.path.sameopenfile(source.fileno(), output.fileno())
    )


def _feed_stream(source: BinaryIO, loop: asyncio.AbstractEventLoop, stream: asyncio.StreamReader) -> None:
    """Feeds `stream` from `source` until it ends or cannot be read any more."""
    with contextlib.suppress(RuntimeError):  # the loop is closed
        with contextlib.suppress(OSError):
            while data := os.read(source.fileno(), CHUNK_BYTES):
                loop.call_soon_threadsafe(stream.feed_data, data)
        loop.call_soon_threadsafe(stream.feed_eof)
