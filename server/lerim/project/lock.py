"""One lock per project, held by the kernel: it is released when its holder dies, and nobody else can take it before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

import filelock
import msgspec

from lerim.errors import BusyError, ProjectError, error_reason
from lerim.files import read_regular_file
from lerim.paths import Home
from lerim.project.registry import make_private_folder, replace_private_file

_shared_locks: ContextVar[frozenset[Path]] = ContextVar("shared_locks", default=frozenset())
"""The folders of the locks that this thread holds with `shared`."""


class LockHolder(msgspec.Struct, frozen=True):
    """The process that holds a lock and what it is doing; written next to the lock for other processes to read."""

    pid: int
    doing: str


@contextmanager
def hold_project_lock(home: Home, key: str, doing: str = "syncing", *, shared: bool = False) -> Iterator[None]:
    """Holds the project's lock for the block; `doing` is what other processes see ("syncing", "accepting a memory").

    Does not wait for it. With `shared`, blocks within this one, in the same thread, may hold the lock too, so that
    no other process gets the lock between the parts of a longer operation. Raises BusyError naming the holder,
    ProjectError if the lock's folder cannot be used.
    """
    folder = home.project(key)
    holder_file = folder / "holder.json"
    if folder in _shared_locks.get():
        outer = _read_holder(holder_file)
        _write_holder(holder_file, doing)
        try:
            yield
        finally:
            if outer is not None:
                _write_holder(holder_file, outer.doing)
        return
    lock = filelock.FileLock(folder / "project.lock", timeout=0, thread_local=False, mode=0o600)
    try:
        make_private_folder(home, folder)
        lock.acquire()
    except filelock.Timeout as error:
        raise _make_busy_error(holder_file) from error
    except OSError as error:
        todo = "Make the folder writable, or set LERIM_HOME to another one."
        raise ProjectError(
            f"The project cannot be locked: {error_reason(error)}.", where=str(folder), todo=todo
        ) from error
    token = _shared_locks.set(_shared_locks.get() | {folder}) if shared else None
    try:
        _write_holder(holder_file, doing)
        yield
    finally:
        if token is not None:
            _shared_locks.reset(token)
        with suppress(OSError):  # on Windows another process may be reading it; a stale holder file is harmless
            holder_file.unlink(missing_ok=True)
        lock.release()


def _write_holder(holder_file: Path, doing: str) -> None:
    try:  # not flushed: useless after a crash
        replace_private_file(holder_file, msgspec.json.encode(LockHolder(os.getpid(), doing)), flush=False)
    except OSError:  # the disk is full: the lock is held anyway, but other processes cannot see by whom
        with suppress(OSError):
            holder_file.unlink(missing_ok=True)


def _make_busy_error(holder_file: Path) -> BusyError:
    holder = _read_holder(holder_file)
    who = f"process {holder.pid} is {holder.doing}" if holder else "another process is working on it"
    return BusyError(f"The project is busy: {who}.", where=str(holder_file.parent), todo="Try again when it is done.")


def _read_holder(holder_file: Path) -> LockHolder | None:
    try:
        return msgspec.json.decode(read_regular_file(holder_file), type=LockHolder)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
