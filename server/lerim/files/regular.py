"""Opening a file by its name: whatever else lies there (a folder, a pipe, a device) is an error, never a wait."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, FileIO
from pathlib import Path

from lerim.errors import TranscriptError, reason_of

_QUIETLY = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def open_buffered(path: Path) -> BufferedReader:
    """The file, to be read. Raises OSError where it cannot be, also for a folder, a pipe or a device."""
    return BufferedReader(open_unbuffered(path))


def open_unbuffered(path: Path) -> FileIO:
    """The same without a buffer."""
    handle = os.open(path, _QUIETLY)
    try:
        check_regular(handle, path)
        return FileIO(handle)
    except BaseException:
        os.close(handle)
        raise


def check_regular(handle: int, path: Path) -> None:
    """Raises OSError where what was opened is no regular file."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, "it is not a file", str(path))


def read_regular_file(path: Path) -> bytes:
    """All of a file. Raises OSError."""
    with open_buffered(path) as file:
        return file.read()


def unreadable_error(path: Path, error: OSError) -> TranscriptError:
    """The error to raise for a transcript that the system does not let be read."""
    return TranscriptError(
        f"The transcript cannot be read: {reason_of(error)}.",
        where=str(path),
        todo="Check that the file is still there and that you may read it.",
    )


def is_readable(path: Path) -> bool:
    """Whether a file can be opened."""
    try:
        open_unbuffered(path).close()
    except OSError:
        return False
    return True
