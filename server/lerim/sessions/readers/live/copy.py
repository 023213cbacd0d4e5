"""Makes a private copy of a database that cannot be read in place: its `-wal` has no index, or a transaction was cut
off."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from lerim.files import open_buffered
from lerim.sessions.readers.live import logs

_TRIES = 4
_PAUSE = 0.1
_RECENT_WRITE_NS = 20_000_000
"""A file written this recently may be written again without a new mtime, because file system clocks are coarse."""
_BLOCK = 1024 * 1024

_DatabaseCopy = tuple[Path, logs.DatabaseState]


class _SharedCopies(NamedTuple):
    """Copies that are kept for a while, by the database they were made from."""

    folders: ExitStack
    copies: dict[Path, _DatabaseCopy]


_shared: ContextVar[_SharedCopies | None] = ContextVar("shared", default=None)


@contextmanager
def shared_copies() -> Iterator[None]:
    """Makes `copy_database` copy a database once for each of its states, not once for each session that is read from
    it. The copies are deleted at the end of the context."""
    with ExitStack() as folders:
        token = _shared.set(_SharedCopies(folders, {}))
        try:
            yield
        finally:
            _shared.reset(token)


@contextmanager
def copy_database(path: Path) -> Iterator[Path | None]:
    """Yields a copy of one state of the database, deleted at the end; None if it kept changing or there is not enough
    space. Raises OSError if the database itself cannot be read."""
    shared = _shared.get()
    if shared is None:
        with _temporary_folder() as folder:
            made = _make_copy(path, Path(folder) / "copy")
            yield made[0] if made else None
        return
    if not has_shared_copy(path):
        shared.copies.pop(path, None)
        made = _make_copy(path, Path(shared.folders.enter_context(_temporary_folder())) / "copy")
        if made is not None:
            shared.copies[path] = made
    yield shared.copies[path][0] if path in shared.copies else None


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="lerim-", ignore_cleanup_errors=True)


def has_shared_copy(path: Path) -> bool:
    """Returns whether there is a shared copy of the database's current state. Raises OSError."""
    shared = _shared.get()
    return shared is not None and path in shared.copies and shared.copies[path][1] == logs.read_state(path)


def is_recent_write(mtime_ns: int) -> bool:
    """Returns whether a file with this mtime may be changed again without a new mtime."""
    return abs(time.time_ns() - mtime_ns) < _RECENT_WRITE_NS


def _make_copy(path: Path, target: Path) -> _DatabaseCopy | None:
    for attempt in range(_TRIES):
        before = logs.read_state(path)
        wal = logs.find_wal_end(Path(f"{path}-wal")) if before.wal_log.used else 0
        sizes = {"": before.file[0], "-wal": wal, "-journal": before.journal_log.used}
        if shutil.disk_usage(target.parent).free < sum(sizes.values()) * 1.1:
            return None
        try:
            for ending, size in sizes.items():
                Path(f"{target}{ending}").unlink(missing_ok=True)
                if size or not ending:
                    _copy_file(f"{path}{ending}", f"{target}{ending}", size)
        except OSError:
            logs.read_state(path)
            return None
        may_change = is_recent_write(before.file[1]) or is_recent_write(before.journal[1])
        if not may_change and _is_one_state(before, logs.read_state(path)):
            return target, before
        time.sleep(_PAUSE * 2**attempt)
    return None


def _copy_file(source: str, target: str, size: int) -> None:
    with open_buffered(Path(source)) as reader, Path(target).open("wb") as writer:
        while size and (block := reader.read(min(size, _BLOCK))):
            writer.write(block)
            size -= len(block)


def _is_one_state(before: logs.DatabaseState, after: logs.DatabaseState) -> bool:
    """Returns whether the copy is of one state: the file and the `-journal` did not change, and the `-wal` at most grew
    (a row written to its end meanwhile is either copied whole or left out)."""
    is_same_wal = (before.wal[2], before.wal_log.header) == (after.wal[2], after.wal_log.header)
    grew = is_same_wal and after.wal[0] >= before.wal[0]
    return before.file == after.file and before.journal == after.journal and grew
