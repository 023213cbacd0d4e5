"""Splits a file that may be growing, huge or garbage into lines of bytes. Memory is limited by one line, work by the
size of the file.

Lines are split on `\\n` only: JSON leaves U+2028 and similar characters raw inside strings, where `str.splitlines`
would split.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

from lerim.errors import Problem
from lerim.sessions.model import UNKNOWN_FORM
from lerim.sessions.readers.live import CUT_SHORT

LINE_LIMIT = 32 * 1024 * 1024
"""Longer lines are skipped without being kept in memory; the longest line seen in real sessions has 2 MB. Decoding
takes about four times the length of a line, and a reading must stay below 200 MB."""

HEAD_BYTES = 4096
"""How many bytes at the start of a file are compared to tell a rewritten file from one that grew."""

TAIL_BYTES = 256
"""How many bytes before the stored offset are compared for the same purpose."""

BLOCK_BYTES = 1024 * 1024
"""How many bytes are read from the system at once."""


BASE_LINES, BYTES_A_LINE = 100_000, 64
"""How many lines are read from every file, and the number of bytes that allow one more; a line of a real session has
about 2,000 bytes."""

EMPTY_BYTES = 64 * 1024 * 1024
"""How many bytes without content are skipped: a crash may leave blocks of NUL bytes, but a sparse file of a few
kilobytes can contain terabytes of them."""

_BLANK_LINES = 1000
"""How many blank lines in a row are read one by one; any further ones are skipped all at once."""

_BLANK = re.compile(rb"[\n\r\t ]*")

TOO_LONG = "it is too long"
"""The reason why a line longer than `LINE_LIMIT` could not be read."""

FileLine = tuple[int, int, bytes | None, bool]
"""Start and end in the file; the bytes, or None if the line was too long; whether its `\\n` has been written yet."""


class LineStream:
    """The lines of a file from `offset` to the end; only the last one can be incomplete. A file that cannot seek must
    already be at `offset`.

    The stream ends early if there are more lines, or more empty space, than any session has: `stop_reason` then says
    so, worded to follow “it”, and is '' otherwise.
    """

    def __init__(self, file: BufferedReader[Any], offset: int, limit: int = LINE_LIMIT) -> None:
        self.stop_reason = ""
        self._file = file
        self._offset = offset
        self._limit = limit
        self._empty_bytes = 0

    def __iter__(self) -> Iterator[FileLine]:
        file, limit = self._file, self._limit
        if file.seekable():
            file.seek(self._offset)
        start = self._offset
        lines_left, blank_lines = BASE_LINES, 0
        while data := file.readline(limit + 1):
            end, complete = start + len(data), data.endswith(b"\n")
            lines_left -= 1
            if len(data) > BYTES_A_LINE:
                lines_left += len(data) // BYTES_A_LINE
                if empty := data.count(b"\0"):
                    self._add_empty(empty)
            blank_lines = blank_lines + 1 if data.isspace() else 0
            too_long = len(data) > limit and not complete
            if too_long:
                end, complete = self._skip_line(end)
            elif blank_lines > _BLANK_LINES:
                start = self._skip_blank_lines(end)
                lines_left += 1
                continue
            if lines_left < 0:
                self.stop_reason = "holds too many lines for its size"
            if self.stop_reason:
                return
            yield start, end, None if too_long else data, complete
            start = end

    def _skip_line(self, offset: int) -> tuple[int, bool]:
        """Skips the rest of a line. Returns the offset after it, and whether the line is complete."""
        while not self.stop_reason and (block := self._file.readline(BLOCK_BYTES)):
            offset += len(block)
            self._add_empty(block.count(b"\0"))
            if block.endswith(b"\n"):
                return offset, True
        return offset, False

    def _skip_blank_lines(self, offset: int) -> int:
        """Skips blank lines, a buffer at a time. Returns the offset where they end."""
        while block := self._file.peek():
            match = _BLANK.match(block)
            length = match.end() if match else 0
            self._file.read(length)
            offset += length
            self._add_empty(length)
            if length < len(block) or self.stop_reason:
                break
        return offset

    def _add_empty(self, size: int) -> None:
        self._empty_bytes += size
        if self._empty_bytes > EMPTY_BYTES:
            self.stop_reason = f"holds more than {EMPTY_BYTES >> 20} MB of empty lines"


def report_line(path: Path, start: int, reason: object, problems: list[Problem]) -> None:
    """Adds a problem for the line that begins at `start` and cannot be read."""
    what = f"A line of this session could not be read ({str(reason).split(':')[0]}) and was skipped"
    problems.append(Problem("bad-line", f"{path}@{start}", what))


def report_cut(path: Path, reason: str, problems: list[Problem]) -> None:
    """Adds a problem for a file that is not read to its end; `reason` is worded to follow “it”."""
    problems.insert(0, Problem(CUT_SHORT, str(path), f"Only part of this session was read: it {reason}"))


def report_unknown_form(path: Path, problems: list[Problem]) -> None:
    """Adds a problem for a session whose records are all of a form that its reader does not know."""
    what = "Lerim knows the form of none of its records; the agent may have changed it. Look for an update of Lerim"
    problems.append(Problem(UNKNOWN_FORM, str(path), what))


def fingerprint_file(raw: FileIO, offset: int) -> bytes:
    """Returns a 16-byte digest of the start of the file and the bytes just before `offset`; it stays equal while the
    file only grows.

    The position of `raw` is restored, so that a buffered reader on top of it is not disturbed.
    """
    position = raw.tell()
    raw.seek(0)
    digest = hashlib.blake2b(raw.read(min(HEAD_BYTES, offset)), digest_size=16)
    start = max(0, offset - TAIL_BYTES)
    raw.seek(start)
    digest.update(raw.read(offset - start))
    digest.update(str(offset).encode())
    raw.seek(position)
    return digest.digest()
