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
from lerim.files.leftovers import make_moved_aside_name, restore_leftover

_EXCHANGE_FLAG = 2
"""RENAME_EXCHANGE on Linux and RENAME_SWAP on macOS."""
_UNSUPPORTED_ERRORS = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


def replace_if_unchanged(
    folder: Directory, name: str, staging: Directory, new: str, before: bytes, after: bytes
) -> bool:
    """Replaces `name` with the file `new` in the folder `staging`, whose content is `after`, if the content of `name`
    is `before`. Otherwise returns False and changes nothing. Raises OSError."""
    with _watch_file(folder, name) as watched:
        if not watched.has_content(before):
            return False
        moved_aside = make_moved_aside_name(name, before, after)
        if moved_aside is None:
            staging.rename(new, name, folder)
            return True
        staging.rename(new, moved_aside)
        if not _exchange_names(folder, name, staging, moved_aside):
            if _read_content(folder, name) != before:
                staging.unlink(moved_aside)
                return False
            staging.rename(moved_aside, name, folder)
            return True
        if watched.still_has_content(before, staging, moved_aside):
            _remove_if_present(staging, moved_aside)
            return True
        _exchange_names(folder, name, staging, moved_aside)
    if _read_content(staging, moved_aside) == after:
        _remove_if_present(staging, moved_aside)
        return False
    # It was saved twice meanwhile: the later text keeps the name, the earlier one gets a new name.
    _exchange_names(folder, name, staging, moved_aside)
    restore_leftover(staging, moved_aside, name, folder)
    return False


def remove_if_unchanged(folder: Directory, name: str, before: bytes) -> bool:
    """Removes a file if its content is `before`; otherwise returns False and leaves it in place. Raises OSError."""
    with _watch_file(folder, name) as watched:
        if not watched.has_content(before):
            return False
        moved_aside = make_moved_aside_name(name, before, before)
        if moved_aside is None:
            folder.unlink(name)
            return True
        try:
            folder.rename(name, moved_aside)
        except FileNotFoundError:
            return False
        if watched.still_has_content(before, folder, moved_aside):
            _remove_if_present(folder, moved_aside)
            return True
        restore_leftover(folder, moved_aside, name, folder)
        return False


def _read_content(folder: Directory, name: str) -> bytes | None:
    try:
        return folder.read_file(name)
    except FileNotFoundError:
        return None


def _remove_if_present(folder: Directory, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # another process removed it as a leftover
        folder.unlink(name)


class _WatchedFile:
    """A file kept open. On Linux it is kept open with a lease: whoever opens it for writing has to wait until we close
    it, and we notice that they are waiting.

    Windows cannot rename open files, so there the file is read and closed at once (`handle` is None).
    """

    def __init__(self, handle: int | None, seen: bytes | None = None) -> None:
        self.handle = handle
        self._content_seen = seen
        self._has_lease = _take_lease(handle) if handle is not None else False

    def has_content(self, expected: bytes) -> bool:
        """Returns whether this is the content of the file and nobody is writing to it or waiting to."""
        if self.handle is None:
            return self._content_seen == expected
        state = os.fstat(self.handle)
        if self._has_lease is None or not stat.S_ISREG(state.st_mode) or state.st_size != len(expected):
            return False  # being written, a pipe, or a different text
        os.lseek(self.handle, 0, os.SEEK_SET)
        with os.fdopen(self.handle, "rb", closefd=False) as file:
            return file.read() == expected and not (self._has_lease and _is_lease_broken(self.handle))

    def still_has_content(self, expected: bytes, folder: Directory, name: str) -> bool:
        """Returns the same as `has_content`, once the file has been given this name. If nothing has the name,
        another process removed the file as a leftover, which it only does if the content was as expected."""
        if self.handle is None:
            return _read_content(folder, name) in (expected, None)
        try:
            same = os.path.samestat(os.fstat(self.handle), folder.stat(name))
        except FileNotFoundError:
            same = True
        return same and self.has_content(expected)


@contextlib.contextmanager
def _watch_file(folder: Directory, name: str) -> Iterator[_WatchedFile]:
    if sys.platform == "win32":
        yield _WatchedFile(None, _read_content(folder, name))
        return
    try:
        handle = folder.open(name, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        yield _WatchedFile(None)
        return
    try:
        yield _WatchedFile(handle)
    finally:
        os.close(handle)


def _take_lease(handle: int) -> bool | None:
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


def _is_lease_broken(handle: int) -> bool:
    """Returns whether a process is waiting to open the file for writing."""
    import fcntl

    return fcntl.fcntl(handle, fcntl.F_GETLEASE) != fcntl.F_RDLCK


def _exchange_names(first: Directory, one: str, second: Directory, other: str) -> bool:
    """Exchanges the names of two files in one step; False if the system cannot or a file is gone. Raises OSError.

    On Linux, programs that watch the folders are told that `one` was removed and then created, and that `other` was
    created and then removed. VS Code considers a file deleted if its removal comes last, and does not read it again.
    So `one` must be the file that others have open.
    """
    if first.handle is None or second.handle is None:
        return False
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    # both have the same signature
    rename = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)
    if rename is None:
        return False
    if rename(first.handle, os.fsencode(one), second.handle, os.fsencode(other), _EXCHANGE_FLAG) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED_ERRORS or code == errno.ENOENT:
        return False
    raise OSError(code, os.strerror(code))
