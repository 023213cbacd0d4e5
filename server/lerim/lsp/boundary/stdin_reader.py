"""What the editor sends, read by the event loop itself where the system can.

pygls has a thread read each line. Every hop to a thread and back waits for whatever our other threads are at, so that
a hover would wait many times while memories are read.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
import threading
from typing import BinaryIO

CHUNK = 0x10000


class StdinReader:
    """Lines and bytes: nothing once the editor is gone."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream

    async def readline(self) -> bytes:
        """The next line; one without an end, which no editor sends, comes as a line that says nothing."""
        await asyncio.sleep(0)  # what was asked before is begun before the next message is looked at
        whole = True
        while True:
            try:
                line = await self._stream.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                line = error.partial
            except asyncio.LimitOverrunError as error:
                await self._stream.readexactly(error.consumed)
                whole = False
                continue
            return line if whole else b"\n"

    async def readexactly(self, size: int) -> bytes | None:
        """So many bytes; None where the end comes first."""
        try:
            return await self._stream.readexactly(size)
        except asyncio.IncompleteReadError:
            return None


async def read_stdin(source: BinaryIO, output: BinaryIO) -> StdinReader:
    """Begins to read `source`, of which nothing was read yet. `output` is where answers go: it must stay blocking."""
    loop = asyncio.get_running_loop()
    stream = asyncio.StreamReader()
    if is_waitable(source, output):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), source)
    else:
        threading.Thread(target=_feed, args=(source, loop, stream), daemon=True, name="editor").start()
    return StdinReader(stream)


def is_waitable(source: BinaryIO, output: BinaryIO, platform: str = sys.platform) -> bool:
    """Whether the loop can wait for `source`: a pipe or socket of its own, not on Windows."""
    mode = os.fstat(source.fileno()).st_mode
    return (
        platform != "win32"
        and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))
        and not os.path.sameopenfile(source.fileno(), output.fileno())
    )


def _feed(source: BinaryIO, loop: asyncio.AbstractEventLoop, stream: asyncio.StreamReader) -> None:
    """Hands on what comes as it comes, until the end."""
    with contextlib.suppress(RuntimeError):  # the loop is over
        while data := os.read(source.fileno(), CHUNK):
            loop.call_soon_threadsafe(stream.feed_data, data)
        loop.call_soon_threadsafe(stream.feed_eof)
