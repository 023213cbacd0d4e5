"""Reads the editor's input in the event loop itself where the system allows that.

pygls reads each line in a thread. Every switch between threads may wait for our other threads, so a hover would be
delayed many times while memories are being read.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
import threading
from typing import BinaryIO

CHUNK_BYTES = 0x10000


class StdinReader:
    """Reads lines and bytes; returns nothing once the editor has closed the stream."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream

    async def readline(self) -> bytes:
        """The next line. An overlong line, which no editor sends, is returned as an empty line."""
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
    """Whether the event loop can wait for `source`: a pipe or socket not shared with `output`, and not on Windows."""
    mode = os.fstat(source.fileno()).st_mode
    return (
        platform != "win32"
        and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))
        and not os.path.sameopenfile(source.fileno(), output.fileno())
    )


def _feed_stream(source: BinaryIO, loop: asyncio.AbstractEventLoop, stream: asyncio.StreamReader) -> None:
    """Feeds `stream` from `source` until it ends."""
    with contextlib.suppress(RuntimeError):  # the loop is closed
        while data := os.read(source.fileno(), CHUNK_BYTES):
            loop.call_soon_threadsafe(stream.feed_data, data)
        loop.call_soon_threadsafe(stream.feed_eof)
