"""Makes a private copy of a database that cannot be read in place: its `-wal` has no index, or a transaction was cut
off."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from lerim.files import open_buffered, open_unbuffered
from lerim.sessions.readers.live import logs

_TRIES = 4
_PAUSE = 0.1
_RECENT_WRITE_NS = 20_000_000
"""A file written this recently may be written again without a new mtime, because file system clocks are coarse."""
_ENDINGS = ("", "-wal", "-journal")
_BLOCK = 1024 * 1024
_SALT_BYTES = 32
"""Bytes at the start of a `-wal` that change when it is restarted."""

_FilesState = tuple[tuple[int, int, int, bytes], ...]
_DatabaseCopy = tuple[Path, _FilesState]


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
    return shared is not None and path in shared.copies and shared.copies[path][1] == _read_state(path)


def is_recent_write(mtime_ns: int) -> bool:
    """Returns whether a file with this mtime may be changed again without a new mtime."""
    return abs(time.time_ns() - mtime_ns) < _RECENT_WRITE_NS


def find_last_write(path: Path) -> int:
    """Returns when the database or a file next to it was last written, in nanoseconds. Raises OSError."""
    return max(written for _, written, _, _ in _read_state(path))


def _make_copy(path: Path, target: Path) -> _DatabaseCopy | None:
    for attempt in range(_TRIES):
        before = _read_state(path)
        sizes = _used_sizes(path, before[0][0])
        if shutil.disk_usage(target.parent).free < sum(sizes.values()) * 1.1:
            return None
        try:
            for ending in _ENDINGS:
                Path(f"{target}{ending}").unlink(missing_ok=True)
                if sizes[ending] or not ending:
                    _copy_file(f"{path}{ending}", f"{target}{ending}", sizes[ending])
        except OSError:
            _read_state(path)
            return None
        if _is_one_state(before, _read_state(path)) and not _is_fresh(before):
            return target, before
        time.sleep(_PAUSE * 2**attempt)
    return None


def _used_sizes(path: Path, size: int) -> dict[str, int]:
    """Returns how many bytes SQLite would use of the database and of the files next to it. Raises OSError."""
    log, journal = Path(f"{path}-wal"), Path(f"{path}-journal")
    wal = logs.find_wal_end(log) if logs.inspect_wal(log).used else 0
    return {"": size, "-wal": wal, "-journal": logs.inspect_journal(journal, size).used}


def _copy_file(source: str, target: str, size: int) -> None:
    with open_buffered(Path(source)) as reader, Path(target).open("wb") as writer:
        while size and (block := reader.read(min(size, _BLOCK))):
            writer.write(block)
            size -= len(block)


def _read_state(path: Path) -> _FilesState:
    states = []
    for ending in _ENDINGS:
        try:
            with open_unbuffered(Path(f"{path}{ending}")) as file:
                file_stat = os.fstat(file.fileno())
                states.append(
                    (
                        file_stat.st_size,
                        file_stat.st_mtime_ns,
                        file_stat.st_ino,
                        file.read(_SALT_BYTES) if ending else b"",
                    )
                )
        except FileNotFoundError:
            if not ending:
                raise
            states.append((0, 0, 0, b""))
    return tuple(states)


def _is_one_state(before: _FilesState, after: _FilesState) -> bool:
    """Returns whether the copy is of one state: the file and the `-journal` did not change, and the `-wal` at most grew
    (a row written to its end meanwhile is either copied whole or left out)."""
    grew = after[1][0] >= before[1][0] and after[1][2:] == before[1][2:]
    return before[0] == after[0] and before[2] == after[2] and grew


def _is_fresh(state: _FilesState) -> bool:
    """Returns whether the file or the `-journal` was written so recently that it may change again without a new
    mtime."""
    return any(is_recent_write(state[at][1]) for at in (0, 2))
