"""Lines of a file that may be growing, huge, or garbage: bytes in, bytes out, memory bounded by one line, work by what
the file holds.

Split on `\\n` only: JSON leaves U+2028 and friends raw inside strings, where `str.splitlines` would split.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from io import BufferedReader, FileIO
from typing import Any

LINE_LIMIT = 32 * 1024 * 1024
"""Longer lines are skipped without being held; the longest line seen in real sessions has 2 MB. Decoding takes about
four times the length of a line, and a reading has to stay below 200 MB."""

HEAD = 4096
"""Bytes at the start of a file that tell a rewritten file from one that grew."""

TAIL = 256
"""Bytes before the stored offset that do the same."""

BLOCK = 1024 * 1024
"""Bytes asked of the system at once."""


LINES, BYTES_A_LINE = 100_000, 64
"""Lines that are read of every file, and the bytes that allow one more; lines of real sessions have about 2,000."""

EMPTY = 64 * 1024 * 1024
"""Bytes without content that are passed over: a crash may leave blocks of NUL bytes, but a few kilobytes of disk can
stand for terabytes of them."""

_BLANKS = 1000
"""Blank lines in a row that are read one by one; the rest of them is passed over at once."""

_BLANK = re.compile(rb"[\n\r\t ]*")

FileLine = tuple[int, int, bytes | None, bool]
"""Where it starts and ends in the file; its bytes, None when it was too long; whether its `\\n` is there yet."""


class LineStream:
    """Lines from `offset` to the end; only the last one can be incomplete. What cannot seek stands there already.

    They end early where there are more of them, or more empty space, than any session has: `stopped` says so, in words
    that follow on “it”, and is '' otherwise.
    """

    def __init__(self, file: BufferedReader[Any], offset: int, limit: int = LINE_LIMIT) -> None:
        self.stopped = ""
        self._file = file
        self._offset = offset
        self._limit = limit
        self._empty = 0

    def __iter__(self) -> Iterator[FileLine]:
        file, limit = self._file, self._limit
        if file.seekable():
            file.seek(self._offset)
        start = self._offset
        left, blanks = LINES, 0
        while data := file.readline(limit + 1):
            end, complete = start + len(data), data.endswith(b"\n")
            left -= 1
            if len(data) > BYTES_A_LINE:
                left += len(data) // BYTES_A_LINE
                self._count_empty(data)
            blanks = blanks + 1 if data.isspace() else 0
            too_long = len(data) > limit and not complete
            if too_long:
                end, complete = self._skip(end)
            elif blanks > _BLANKS:
                start = self._past_blanks(end)
                left += 1
                continue
            if left < 0:
                self.stopped = "holds too many lines for its size"
            if self.stopped:
                return
            yield start, end, None if too_long else data, complete
            start = end

    def _skip(self, offset: int) -> tuple[int, bool]:
        """Passes over the rest of a line: where that ends, and whether it does."""
        while not self.stopped and (block := self._file.readline(BLOCK)):
            offset += len(block)
            self._count_empty(block)
            if block.endswith(b"\n"):
                return offset, True
        return offset, False

    def _past_blanks(self, offset: int) -> int:
        """Passes over blank lines, a buffer at a time; where they end."""
        while block := self._file.peek():
            found = _BLANK.match(block)
            blank = found.end() if found else 0
            self._file.read(blank)
            offset += blank
            self._add_empty(blank)
            if blank < len(block) or self.stopped:
                break
        return offset

    def _count_empty(self, data: bytes) -> None:
        self._add_empty(data.count(b"\0"))

    def _add_empty(self, size: int) -> None:
        self._empty += size
        if self._empty > EMPTY:
            self.stopped = f"holds more than {EMPTY >> 20} MB of empty lines"


def fingerprint_file(raw: FileIO, offset: int) -> bytes:
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
