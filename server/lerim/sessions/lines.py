"""Lines of a file that may be growing, huge, or garbage: bytes in, bytes out, memory bounded by one line.

Split on `\\n` only: JSON leaves U+2028 and friends raw inside strings, where `str.splitlines` would split.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from io import FileIO
from typing import BinaryIO

LINE_LIMIT = 32 * 1024 * 1024
"""Longer lines are skipped without being held; the longest line seen in real sessions has 2 MB. Decoding takes about
four times the length of a line, and a reading has to stay below 200 MB."""

HEAD = 4096
"""Bytes at the start of a file that tell a rewritten file from one that grew."""

TAIL = 256
"""Bytes before the stored offset that do the same."""

BLOCK = 1024 * 1024
"""Bytes asked of the system at once."""


Line = tuple[int, int, bytes | None, bool]
"""Where it starts and ends in the file; its bytes, None when it was too long; whether its `\\n` is there yet."""


def lines(file: BinaryIO, offset: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
    """Lines from `offset` to the end; only the last one can be incomplete. What cannot seek stands there already."""
    if file.seekable():
        file.seek(offset)
    readline = file.readline
    start = offset
    while data := readline(limit + 1):
        end = start + len(data)
        if data.endswith(b"\n"):
            yield start, end, data, True
        elif len(data) <= limit:
            yield start, end, data, False
        else:
            end, complete = _skip(file, end)
            yield start, end, None, complete
        start = end


def _skip(file: BinaryIO, offset: int) -> tuple[int, bool]:
    while block := file.readline(BLOCK):
        offset += len(block)
        if block.endswith(b"\n"):
            return offset, True
    return offset, False


def fingerprint(raw: FileIO, offset: int) -> bytes:
    """What stands at the start of the file and just before `offset`, as 16 bytes; equal while the file only grows.

    `raw` is left where it was, so that whoever reads lines from it through a buffer goes on undisturbed.
    """
    place = raw.tell()
    raw.seek(0)
    digest = hashlib.blake2b(raw.read(min(HEAD, offset)), digest_size=16)
    start = max(0, offset - TAIL)
    raw.seek(start)
    digest.update(raw.read(offset - start))
    digest.update(str(offset).encode())
    raw.seek(place)
    return digest.digest()
