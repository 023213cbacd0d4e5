"""Replaces and removes a file only if it still has the content that was read, even while a person saves it.

Between a comparison and the next step, somebody can save the file. So the file is first moved to a private name, where
no new save can reach it, and compared there; if the content differs, it is moved back. docs/decisions/0019 describes
what each system can do.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import sys
from collections.abc import Iterator

from lerim.files.directory import Directory
from lerim.files.leftovers import restore_leftover, taken_away_name

_EXCHANGE = 2
"""RENAME_EXCHANGE on Linux and RENAME_SWAP on macOS."""
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


def replace_unchanged(folder: Directory, name: str, first: Directory, new: str, before: bytes, after: bytes) -> bool:
    """Replaces `name` with the file `new` in the folder `first`, whose content is `after`, if the content of `name` is
    `before`. Otherwise returns False and changes nothing. Raises OSError."""
    with _watched(folder, name) as old:
        if not old.holds(before):
            return False
        away = taken_away_name(name, before, after)
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
        if old.still_holds(before, first, away):
            _drop(first, away)
            return True
        _exchange(first, away, folder, name)
    if _content(first, away) == after:
        _drop(first, away)
        return False
    # It was saved twice meanwhile: the later text keeps the name, the earlier one gets a new name.
    _exchange(first, away, folder, name)
    restore_leftover(first, away, name, folder)
    return False


def remove_unchanged(folder: Directory, name: str, before: bytes) -> bool:
    """Removes a file if its content is `before`; otherwise returns False and leaves it in place. Raises OSError."""
    with _watched(folder, name) as old:
        if not old.holds(before):
            return False
        away = taken_away_name(name, before, before)
        if away is None:
            folder.unlink(name)
            return True
        try:
            folder.rename(name, away)
        except FileNotFoundError:
            return False
        if old.still_holds(before, folder, away):
            _drop(folder, away)
            return True
        restore_leftover(folder, away, name, folder)
        return False


def _content(folder: Directory, name: str) -> bytes | None:
    try:
        return folder.read(name)
    except FileNotFoundError:
        return None


def _drop(folder: Directory, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # another process removed it as a leftover
        folder.unlink(name)


class _Watched:
    """A file kept open. On Linux with a lease: whoever opens it for writing has to wait until we close it, and we see
    that.

    Windows cannot rename open files, so there the file is read and closed at once (`handle` is None).
    """

    def __init__(self, handle: int | None, seen: bytes | None = None) -> None:
        self.handle = handle
        self._seen = seen
        self._leased = _lease(handle) if handle is not None else False

    def holds(self, expected: bytes) -> bool:
        """Returns whether this is the content of the file and nobody is writing to it or waiting to."""
        if self.handle is None:
            return self._seen == expected
        state = os.fstat(self.handle)
        if self._leased is None or not stat.S_ISREG(state.st_mode) or state.st_size != len(expected):
            return False  # being written, a pipe, or a different text
        os.lseek(self.handle, 0, os.SEEK_SET)
        with os.fdopen(self.handle, "rb", closefd=False) as file:
            return file.read() == expected and not (self._leased and _lease_is_broken(self.handle))

    def still_holds(self, expected: bytes, folder: Directory, name: str) -> bool:
        """Like `holds`, after the file was given this name. If nothing has the name, another process removed the file
        as a leftover, which it only does if the content was as expected."""
        if self.handle is None:
            return _content(folder, name) in (expected, None)
        try:
            same = os.path.samestat(os.fstat(self.handle), folder.stat(name))
        except FileNotFoundError:
            same = True
        return same and self.holds(expected)


@contextlib.contextmanager
def _watched(folder: Directory, name: str) -> Iterator[_Watched]:
    if sys.platform == "win32":
        yield _Watched(None, _content(folder, name))
        return
    try:
        handle = folder.open(name, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        yield _Watched(None)
        return
    try:
        yield _Watched(handle)
    finally:
        os.close(handle)


def _lease(handle: int) -> bool | None:
    """Takes a lease on a file; None if a process has it open for writing, False if the system has no leases."""
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)  # ignored by default, unlike SIGIO, which would kill us
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return None
    except OSError:
        return False
    return True


def _lease_is_broken(handle: int) -> bool:
    """Returns whether a process is waiting to open the file for writing."""
    import fcntl

    return fcntl.fcntl(handle, fcntl.F_GETLEASE) != fcntl.F_RDLCK


def _exchange(first: Directory, one: str, second: Directory, other: str) -> bool:
    """Exchanges the names of two files in one step; False if the system cannot or a file is gone. Raises OSError."""
    if first.handle is None or second.handle is None:
        return False
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    # both have the same signature
    rename = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)
    if rename is None:
        return False
    if rename(first.handle, os.fsencode(one), second.handle, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED or code == errno.ENOENT:
        return False
    raise OSError(code, os.strerror(code))
