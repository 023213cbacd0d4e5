"""Our files that are not in their final place: files being written, and files left by a killed process.

A temporary file is locked by its writer as long as it exists, and the system releases the lock when the writer dies, so
a process that gets the lock may remove the file. `git` ignores both kinds of names (`.lerim-*`).

A file about to be replaced or removed is first renamed to a name that contains its original name and the hashes of
the contents we expect it to have. If its content differs, somebody edited it at that very moment, and it is
restored, not removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from lerim.errors import BoundaryError
from lerim.files.directory import Directory, open_directory

_TEMPORARY = re.compile(r"\.lerim-[0-9a-f]{16}\.tmp")
_MOVED_ASIDE = re.compile(r"\.lerim-[0-9a-f]{8}-([0-9a-f]{16})-([0-9a-f]{16})-(.+)")
_STALE_SECONDS = 600
"""The age in seconds from which a temporary file is considered a dead writer's, on systems without file locks."""
_MOVED_ASIDE_SECONDS = 60
"""For how many seconds an edited file that was moved aside is left to the process that moved it."""
_LONGEST_NAME = 255
_clean_folders: dict[str, int] = {}
"""Folders without leftovers, with the time of their last change; they are listed again only after another change."""


@contextlib.contextmanager
def temporary_file(folder: Directory, data: bytes, mode: int, flush: bool) -> Iterator[str]:
    """Creates a temporary file with this content and yields its name. The file is removed in any case. Raises
    OSError."""
    remove_leftovers(folder)
    name, handle = _create_temporary(folder, mode)
    try:
        with os.fdopen(handle, "wb", closefd=sys.platform == "win32") as file:
            file.write(data)
            file.flush()
            if flush:
                os.fsync(file.fileno())
        yield name
    finally:
        with contextlib.suppress(OSError):
            folder.unlink(name)
        if sys.platform != "win32":  # an open file cannot be renamed on Windows
            os.close(handle)


def make_moved_aside_name(name: str, before: bytes, after: bytes) -> str | None:
    """Returns the name a file has while it is replaced or removed, or None if it would be too long."""
    new = f".lerim-{secrets.token_hex(4)}-{_hash_bytes(before)}-{_hash_bytes(after)}-{name}"
    return new if len(os.fsencode(new)) <= _LONGEST_NAME else None


def restore_leftover(folder: Directory, name: str, original: str, home: Directory) -> None:
    """Renames a file that was moved aside to its original name in its folder `home`. If that name is taken by now,
    the file gets a name that a person will notice."""
    try:
        folder.link(name, original, home)
    except FileExistsError:
        path = Path(original)
        folder.rename(name, f"{path.stem}-edited-{secrets.token_hex(2)}{path.suffix}", home)
    except OSError:  # a file system without hard links
        if original in home.list_names():
            original += f"-edited-{secrets.token_hex(2)}"
        folder.rename(name, original, home)
    else:
        folder.unlink(name)


def remove_leftovers(folder: Directory) -> bool:
    """Removes the files that killed processes left in a folder; returns whether none of our files remain. Raises
    OSError."""
    found = [name for name in folder.list_names() if name.startswith(".lerim-")]
    remaining = [name for name in found if not _remove_leftover(folder, name)]
    return not remaining


def sweep_leftovers(folders: Iterable[tuple[Path, Path]]) -> None:
    """Removes leftovers in each existing (folder, anchor) that changed since this process last checked it."""
    for path, anchor in folders:
        with contextlib.suppress(OSError, BoundaryError), open_directory(path, anchor) as folder:
            if _clean_folders.get(str(path)) == folder.read_change_time():
                continue
            _clean_folders.pop(str(path), None)
            if remove_leftovers(folder):
                _clean_folders[str(path)] = folder.read_change_time()


def _remove_leftover(folder: Directory, name: str) -> bool:
    with contextlib.suppress(OSError, BoundaryError):
        if _TEMPORARY.fullmatch(name):
            return _remove_temporary(folder, name)
        if match := _MOVED_ASIDE.fullmatch(name):
            return _remove_moved_aside(folder, name, match[1], match[2], match[3])
        return True  # not ours
    return False


def _remove_temporary(folder: Directory, name: str) -> bool:
    handle = folder.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        locked = _try_lock(handle)
        dead = locked if locked is not None else time.time() - os.fstat(handle).st_mtime > _STALE_SECONDS
        if dead and sys.platform != "win32":
            folder.unlink(name)
    finally:
        os.close(handle)
    if dead and sys.platform == "win32":  # an open file cannot be removed on Windows
        folder.unlink(name)
    return dead


def _remove_moved_aside(folder: Directory, name: str, before: str, after: str, original: str) -> bool:
    with os.fdopen(folder.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if _try_lock(file.fileno()) is False:
            return False  # the new text, which its writer is about to move into place
        data = file.read()
    if not data or _hash_bytes(data) in (before, after):
        folder.unlink(name)
        return True
    if time.time() - folder.stat(name).st_ctime < _MOVED_ASIDE_SECONDS:
        return False
    restore_leftover(folder, name, original, folder)
    return True


def _create_temporary(folder: Directory, mode: int) -> tuple[str, int]:
    while True:
        name = f".lerim-{secrets.token_hex(8)}.tmp"
        handle = folder.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
        try:
            locked = _try_lock(handle)
            if locked is None or (locked and os.fstat(handle).st_nlink):
                return name, handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # another process took it for a leftover just before it was locked


def _try_lock(handle: int) -> bool | None:
    """Returns whether we hold the lock of the file now; None if files cannot be locked."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _hash_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
