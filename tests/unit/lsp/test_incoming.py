"""What the editor sends, from a pipe and from what a loop cannot wait for."""

import asyncio
import os
import socket
from pathlib import Path
from typing import BinaryIO

import pytest

from hang import HANG
from lerim.lsp.boundary.parent import can_wait_on, read_stdin

HEADER = b"Content-Length: 300000\r\n"
SENT = HEADER + b"\r\n" + b"x" * 300_000 + b"?" * 200_000 + b"\n" + HEADER + b"half"


async def taken(source: BinaryIO, output: BinaryIO) -> list[bytes]:
    """Two lines, a body, a line that is too long, a line, and more than is left."""
    reader = await read_stdin(source, output)
    found = [await reader.readline(), await reader.readline(), await reader.readexactly(300_000)]
    assert await reader.readline() == b"\n"
    return [*found, await reader.readline(), await reader.readexactly(10), await reader.readline()]


def pipe() -> tuple[BinaryIO, BinaryIO]:
    source, sink = os.pipe()
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")


@pytest.mark.asyncio
async def test_lines_and_bodies_come_whole_from_a_pipe() -> None:
    source, sink = pipe()

    def write() -> None:
        with sink:
            sink.write(SENT)

    unread, output = pipe()
    with unread, output:
        assert can_wait_on(source, output)
        writing = asyncio.get_running_loop().run_in_executor(None, write)
        found = await taken(source, output)
    await writing
    assert found == [HEADER, b"\r\n", b"x" * 300_000, HEADER, None, b""]


@pytest.mark.asyncio
async def test_lines_and_bodies_come_whole_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "sent"
    path.write_bytes(SENT)
    with path.open("rb") as source, (tmp_path / "answers").open("wb") as output:
        assert not can_wait_on(source, output)
        assert await taken(source, output) == [HEADER, b"\r\n", b"x" * 300_000, HEADER, None, b""]


@pytest.mark.asyncio
@pytest.mark.skipif(os.name == "nt", reason="a folder cannot be opened there")
async def test_what_cannot_be_read_any_more_ends_like_what_is_over(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)  # reading a folder is an OSError
    with os.fdopen(os.dup(0), "rb", closefd=True) as source, (tmp_path / "answers").open("wb") as output:
        os.dup2(folder, source.fileno())
        os.close(folder)
        reader = await read_stdin(source, output)
        assert await asyncio.wait_for(reader.readline(), HANG) == b""


def test_one_socket_for_both_ways_and_a_pipe_on_windows_are_read_by_a_thread() -> None:
    ours, theirs = socket.socketpair()
    source, sink = pipe()
    with ours, theirs, source, sink, ours.makefile("rb") as read, ours.makefile("wb") as written:
        assert not can_wait_on(read, written, "linux")
        assert can_wait_on(read, sink, "linux")
        assert can_wait_on(source, written, "linux")
        assert not can_wait_on(source, written, "win32")
