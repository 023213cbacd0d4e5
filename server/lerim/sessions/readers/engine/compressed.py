"""Reads files compressed with zstd as a stream, so that neither memory nor work depends on the size a file claims to
have.

A few kilobytes can unpack to gigabytes of lines, so the output is limited in proportion to the size on disk. Real
rollouts unpack to 5 to 15 times their size, with one line for every 300 packed bytes; the limits are at least six times
that.
"""

from __future__ import annotations

import sys
import time
from io import RawIOBase
from typing import IO, TYPE_CHECKING, cast

if sys.version_info >= (3, 14) and not TYPE_CHECKING:
    from compression import zstd
else:
    from backports import zstd

COMPRESSED_SUFFIX = ".zst"

WINDOW_LOG = 26
"""Frames that need a window of more than 2^26 bytes are not read; Codex writes frames that need 2^21."""

BASE_BYTES, BYTES_A_BYTE = 16_000_000, 100
"""How many unpacked bytes are read from every packed file, and how many more for each packed byte."""

BASE_LINES, BYTES_A_LINE = 10_000, 20
"""How many lines are read from every packed file, and the number of packed bytes that allow one more."""

BASE_SECONDS, SECONDS_A_BYTE = 10.0, 10 / 1_000_000
"""How many seconds of CPU time all work on a packed file may take, including the caller's, and how many more for
each packed byte."""

_NEWLINE = 10


class UnpackedStream(RawIOBase):
    """The contents of a packed file. It ends where the file is damaged or a limit is reached; `stop_reason` then says
    why, worded to follow “it”, and is '' at the end of the file."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        """Takes the size of the packed file, which determines the limits."""
        options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: WINDOW_LOG}
        self._inner = zstd.ZstdFile(file, options=options)
        self._byte_limit = BASE_BYTES + BYTES_A_BYTE * size
        self._lines_left = BASE_LINES + size // BYTES_A_LINE
        self._deadline = time.thread_time() + BASE_SECONDS + SECONDS_A_BYTE * size
        self.unpacked_bytes = 0
        self.stop_reason = ""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._inner.close()
        super().close()

    def readinto(self, buffer: object) -> int:
        if self.stop_reason:
            return 0
        target = cast(bytearray, buffer)
        try:
            block = self._inner.read1(len(target))  # at most one frame, so that damage in the next one does not lose it
        except EOFError:  # the packed file ends in the middle: it is being written, or was cut
            return 0
        except zstd.ZstdError as error:
            self.stop_reason = f"is not compressed correctly ({error})"
            return 0
        self.unpacked_bytes += len(block)
        if self.unpacked_bytes > self._byte_limit:
            self.stop_reason = f"unpacks to more than {self._byte_limit // 1_000_000} MB"
            return 0
        if time.thread_time() > self._deadline:
            self.stop_reason = "takes too long to read for its size"
            return 0
        end = self._end_of_lines(block)
        target[:end] = block[:end]
        return end

    def _end_of_lines(self, block: bytes) -> int:
        """Returns how many leading bytes of a block may be read without exceeding the number of lines left."""
        lines = block.count(_NEWLINE)
        if lines <= self._lines_left:
            self._lines_left -= lines
            return len(block)
        self.stop_reason = "holds too many lines for its size"
        end = 0
        for _ in range(self._lines_left):
            end = block.index(_NEWLINE, end) + 1
        return end
