"""Replacing and removing a file only if it still holds what was read, even while a person saves it.

Between a comparison and the step after it somebody can save the file. So the file is first moved to a private name,
where no new save can reach it, and compared there; if it holds anything else it goes back. docs/decisions/0019 says
what each system can do.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import sys

from lerim.memory.directory import Directory
from lerim.memory.leftovers import put_back, taken_away

_EXCHANGE = 2
"""RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS."""
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


def replace_unchanged(folder: Directory, name: str, first: Directory, new: str, before: bytes, after: bytes) -> bool:
    """Puts the file `new` of the folder `first`, which holds `after`, in place of `name` if that holds `before`; else
    False, and nothing was changed. Raises OSError."""
    if _content(folder, name) != before:
        return False
    away = taken_away(name, before, after)
    if away is None:
        first.rename(new, name, folder)
        return True
    first.rename(new, away)
    if not _exchange(first, away, folder, name):
        if _content(folder, name) != before:
            first.unlink(away)
            return False
        first.rename(away, name, folder)
        return True
    if _holds(first, away, before):
        _drop(first, away)
        return True
    _exchange(first, away, folder, name)
    if _content(first, away) == after:
        _drop(first, away)
        return False
    # It was saved twice in these moments: the later text keeps the name, the earlier gets one of its own.
    _exchange(first, away, folder, name)
    put_back(first, away, name, folder)
    return False


def remove_unchanged(folder: Directory, name: str, before: bytes) -> bool:
    """Removes a file if it holds `before`; else False, and it is where it was. Raises OSError."""
    if _content(folder, name) != before:
        return False
    away = taken_away(name, before, before)
    if away is None:
        folder.unlink(name)
        return True
    try:
        folder.rename(name, away)
    except FileNotFoundError:
        return False
    if _holds(folder, away, before):
        _drop(folder, away)
        return True
    put_back(folder, away, name, folder)
    return False


def _content(folder: Directory, name: str) -> bytes | None:
    try:
        return folder.read(name)
    except FileNotFoundError:
        return None


def _drop(folder: Directory, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # another process removed it as a leftover
        folder.unlink(name)


def _holds(folder: Directory, name: str, expected: bytes) -> bool:
    """Whether a file holds this and nobody is about to write into it."""
    try:
        handle = folder.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return True  # another process removed it as a leftover, which it does only if it holds what was expected
    with os.fdopen(handle, "rb") as file:
        is_file = stat.S_ISREG(os.fstat(handle).st_mode)  # what took its place may be a pipe
        return is_file and not _being_written(handle) and file.read() == expected


def _being_written(handle: int) -> bool:
    """Whether a process has this file open for writing. Only Linux says so: it gives a lease on a file to nobody else
    while there is one."""
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)  # were the lease to be broken: a signal nobody dies of
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False  # the file system has no leases
    return False


def _exchange(first: Directory, one: str, second: Directory, other: str) -> bool:
    """Exchanges the names of two files in one step; False where the system cannot, or one is gone. Raises OSError."""
    if first.handle is None or second.handle is None:
        return False
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    # of the same form on both systems
    rename = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)
    if rename is None:
        return False
    if rename(first.handle, os.fsencode(one), second.handle, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED or code == errno.ENOENT:
        return False
    raise OSError(code, os.strerror(code))
