"""Files packed with zstd, read as a stream: memory stays flat whatever the file claims to hold."""

from __future__ import annotations

import sys
from io import BufferedReader, RawIOBase
from typing import IO, TYPE_CHECKING, cast

if sys.version_info >= (3, 14) and not TYPE_CHECKING:
    from compression import zstd
else:
    from backports import zstd

SUFFIX = ".zst"

WINDOW = 26
"""A frame that wants more than 2^26 bytes of its past kept is not read; Codex writes frames that want 2^21."""

UNPACKED = 1 << 33
"""Bytes after which unpacking stops: 8 GB, more than any session and little enough to end soon."""


def unpacked(file: IO[bytes], block: int) -> BufferedReader:
    """The contents of the packed `file` as a stream of lines. Reading from it raises OSError where they are damaged."""
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: WINDOW}
    return BufferedReader(_Guarded(zstd.ZstdFile(file, options=options)), block)


class _Guarded(RawIOBase):
    """What `inner` unpacks; its own errors are errors of the disk to everyone outside."""

    def __init__(self, inner: zstd.ZstdFile) -> None:
        self._inner = inner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        try:
            return self._inner.readinto(cast(bytearray, buffer))
        except EOFError:  # the packed file ends in the middle: it is being written, or was cut
            return 0
        except zstd.ZstdError as error:
            raise OSError(f"it is not packed as it should be ({error})") from error
