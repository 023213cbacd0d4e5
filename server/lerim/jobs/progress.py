"""The progress of a sync, for other processes to see: a daemon shows what an editor does, and the other way round.

It is a small file beside a lock that the working process holds. When that process dies, the kernel frees the lock, and
the file no longer counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import filelock
import msgspec

from lerim.files import read_regular_file
from lerim.jobs.report import SyncProgress
from lerim.paths import Home
from lerim.project import make_private_folder, replace_private_file

WRITE_INTERVAL_SECONDS = 0.3
LOOK_AGAIN_SECONDS = 0.3
LOOK_SECONDS = 0.2
"""How long to wait for the lock; a process that looks for a running sync holds it only for a moment."""
_FILE, _LOCK = "progress.json", "progress.lock"


class SyncElsewhere(msgspec.Struct, frozen=True):
    """A sync of another process: `progress` is the latest, None if there is none yet."""

    pid: int
    progress: SyncProgress | None = None


@contextmanager
def share_progress(home: Home, key: str) -> Iterator[Callable[[object], None]]:
    """Yields a function that shares the progress events of this process. It does nothing if another process shares its
    own, or if the files cannot be written: nothing depends on them."""
    folder = home.project(key)
    lock = filelock.FileLock(folder / _LOCK, timeout=LOOK_SECONDS, thread_local=False, mode=0o600)
    try:
        make_private_folder(home, folder)
        lock.acquire()
    except (filelock.Timeout, OSError):
        yield lambda _event: None
        return
    next_write = 0.0

    def write(progress: SyncProgress | None) -> None:
        with suppress(OSError):
            replace_private_file(folder / _FILE, msgspec.json.encode(SyncElsewhere(os.getpid(), progress)), flush=False)

    def share(event: object) -> None:
        nonlocal next_write
        if isinstance(event, SyncProgress) and time.monotonic() >= next_write:
            next_write = time.monotonic() + WRITE_INTERVAL_SECONDS
            write(event)

    try:
        write(None)
        yield share
    finally:
        with suppress(OSError):
            (folder / _FILE).unlink(missing_ok=True)
        lock.release()


def wait_for_other_sync(
    home: Home, key: str, emit: Callable[[SyncProgress], None], cancelled: Callable[[], bool]
) -> None:
    """Waits until no other process syncs a project, or until cancelled; `emit` gets that sync's progress."""
    shown: SyncProgress | None = None
    while not cancelled() and (found := find_sync_elsewhere(home, key)) is not None:
        if found.progress is not None and found.progress != shown:
            shown = found.progress
            emit(shown)
        time.sleep(LOOK_AGAIN_SECONDS)


def find_sync_elsewhere(home: Home, key: str) -> SyncElsewhere | None:
    """Returns the sync of a project that is running, in any process; None if there is none, or if it shares no
    progress."""
    folder = home.project(key)
    try:
        found = msgspec.json.decode(read_regular_file(folder / _FILE), type=SyncElsewhere)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
    lock = filelock.FileLock(folder / _LOCK, timeout=0, thread_local=False, mode=0o600)
    try:
        lock.acquire()
    except filelock.Timeout:
        return found
    except OSError:
        return None
    lock.release()
    return None
