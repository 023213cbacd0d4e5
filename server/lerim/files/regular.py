"""Opens files by name. Anything else with that name (a folder, a pipe, a device) is an error and never blocks."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, FileIO
from pathlib import Path

from lerim.errors import TranscriptError, error_reason

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def open_buffered(path: Path) -> BufferedReader:
    """Opens a file for reading. Raises OSError if that fails or it is a folder, a pipe or a device."""
    return BufferedReader(open_unbuffered(path))


def open_unbuffered(path: Path) -> FileIO:
    """Opens a file like `open_buffered`, without a buffer. Raises OSError."""
    handle = os.open(path, _READ_FLAGS)
    try:
        check_regular(handle, path)
        return FileIO(handle)
    except BaseException:
        os.close(handle)
        raise


def check_regular(handle: int, path: Path) -> None:
    """Raises OSError if the open file is not a regular file."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise OSError(errno.EINVAL, "it is not a file", str(path))


def read_regular_file(path: Path) -> bytes:
    """Returns the content of a file. Raises OSError."""
    with open_buffered(path) as file:
        return file.read()


def make_unreadable_error(path: Path, error: OSError) -> TranscriptError:
    """Returns the error to raise for a transcript that the system does not let us read."""
    return TranscriptError(
        f"The transcript cannot be read: {error_reason(error)}.",
        where=str(path),
        todo="Check that the file is still there and that you may read it.",
    )


def is_readable(path: Path) -> bool:
    """Returns whether a file can be opened."""
    try:
        open_unbuffered(path).close()
    except OSError:
        return False
    return True
