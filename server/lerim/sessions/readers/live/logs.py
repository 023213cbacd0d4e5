"""Determines, from a few of its bytes, how much of the `-wal` or `-journal` next to a database would be used by SQLite.

A program that was killed leaves such files behind, and a failing disk fills them with anything. A file that SQLite
itself would ignore must not be copied either: it may be larger than the database.
"""

from __future__ import annotations

import errno
import stat
import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lerim.files import open_buffered

WAL_HEADER = 32
_FRAME = struct.Struct(">II8s8s")
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_WAL_VERSION = 3007000
_JOURNAL_HEADER = 28
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_NOT_COUNTED = 0xFFFFFFFF
_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))
_SECTOR_SIZES = frozenset(1 << power for power in range(5, 17))

JOURNAL_SLACK = 64 * 1024 * 1024
"""A journal contains every page of the database at most once: anything beyond twice the size of the database plus this
many bytes is cut off."""


class DatabaseLog(NamedTuple):
    """A `-wal` or `-journal`: the number of its bytes that SQLite would use, and whether SQLite ignores the file
    because it is damaged or never was a log. The `header` of a `-wal` changes when the `-wal` is restarted."""

    used: int
    damaged: bool
    header: bytes = b""


NO_LOG = DatabaseLog(0, damaged=False)

FileStamp = tuple[int, int, int]
"""Size, mtime and inode of a file, 0 if there is none."""


class DatabaseState(NamedTuple):
    """Values that change whenever a database does: the stamps of its file, `-wal` and `-journal`, how much SQLite
    would use of those two logs, and the change counters in the file unless a `-wal` is used."""

    file: FileStamp
    wal: FileStamp
    journal: FileStamp
    wal_log: DatabaseLog
    journal_log: DatabaseLog
    counters: bytes

    @property
    def last_write(self) -> int:
        """When the database or a file next to it was last written, in nanoseconds."""
        return max(self.file[1], self.wal[1], self.journal[1])

    @property
    def broken_suffixes(self) -> list[str]:
        """The suffixes of the files next to the database that are damaged."""
        return [suffix for suffix, log in (("-wal", self.wal_log), ("-journal", self.journal_log)) if log.damaged]


def read_state(path: Path) -> DatabaseState:
    """Reads the state of a database. Raises OSError if it is not a file or cannot be read."""
    file_stat = path.stat()
    if not stat.S_ISREG(file_stat.st_mode):
        raise OSError(errno.EINVAL, "it is not a file")
    wal_path, journal_path = Path(f"{path}-wal"), Path(f"{path}-journal")
    wal = stamp_file(wal_path)
    wal_log = inspect_wal(wal_path) if wal[0] else NO_LOG
    journal_log = inspect_journal(journal_path, file_stat.st_size)
    # Closing a file drops every lock this process has on it, and SQLite reads a database with a `-wal` under locks:
    # such a file is not opened here.
    counters = b"" if wal_log.used else _read_counters(path)
    stamp = (file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ino)
    return DatabaseState(stamp, wal, stamp_file(journal_path), wal_log, journal_log, counters)


def _read_counters(path: Path) -> bytes:
    with open_buffered(path) as file:
        return file.read(40)[24:]


def stamp_file(path: Path) -> FileStamp:
    """Returns the stamp of a file. Raises OSError."""
    try:
        file_stat = path.stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ino)


def inspect_wal(path: Path) -> DatabaseLog:
    """Inspects a `-wal` by its header and its first frame. If it contains frames, `used` is its whole size; see
    `find_wal_end`.

    Raises OSError if it exists but cannot be read.
    """
    try:
        with open_buffered(path) as file:
            head = file.read(WAL_HEADER + _FRAME.size)
    except FileNotFoundError:
        return NO_LOG
    if len(head) <= WAL_HEADER:
        return NO_LOG  # created, but nothing was written to it yet
    if not _is_wal_header(head[:WAL_HEADER]):
        return DatabaseLog(0, damaged=True)
    if not _is_frame(head, head[WAL_HEADER:]):
        return NO_LOG  # restarted: the old frames are already in the database
    return DatabaseLog(path.stat().st_size, damaged=False, header=head[:WAL_HEADER])


def find_wal_end(path: Path) -> int:
    """Returns where the last frame that belongs to a `-wal` ends: anything after it is from earlier rounds, or garbage.
    Raises OSError."""
    with open_buffered(path) as file:
        head = file.read(WAL_HEADER)
        if not _is_wal_header(head):
            return 0
        size = _page_size(head) + _FRAME.size
        end = WAL_HEADER
        while _is_frame(head, file.read(_FRAME.size)):
            end += size
            file.seek(end)
        return end


def _is_wal_header(head: bytes) -> bool:
    if len(head) < WAL_HEADER:
        return False
    magic, version, size = struct.unpack_from(">III", head)
    if magic not in _WAL_MAGIC or version != _WAL_VERSION or size not in _PAGE_SIZES:
        return False
    one = two = 0
    for first, second in struct.iter_unpack(">II" if magic & 1 else "<II", head[:24]):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return struct.pack(">II", one, two) == head[24:WAL_HEADER]


def _page_size(head: bytes) -> int:
    return int.from_bytes(head[8:12])


def _is_frame(head: bytes, frame: bytes) -> bool:
    """Returns whether a frame has the salt of its file's header; SQLite itself checks the checksums of its page."""
    if len(frame) < _FRAME.size:
        return False
    page, _, salt, _ = _FRAME.unpack(frame[: _FRAME.size])
    return bool(page) and bytes(salt) == head[16:24]


def inspect_journal(path: Path, database_size: int) -> DatabaseLog:
    """Inspects a `-journal`: SQLite would roll it back if its header and its first page make sense.

    Raises OSError if it exists but cannot be read.
    """
    try:
        with open_buffered(path) as file:
            head = file.read(_JOURNAL_HEADER)
            if head[:1] in (b"", b"\0"):
                return NO_LOG  # finished, or not completely on disk yet, so the database is unchanged
            if not head.startswith(_JOURNAL_MAGIC) or not _is_journal(head, file):
                return DatabaseLog(0, damaged=True)
            size = file.seek(0, 2)
    except FileNotFoundError:
        return NO_LOG
    return DatabaseLog(min(size, 2 * database_size + JOURNAL_SLACK), damaged=False)


def _is_journal(head: bytes, file: BinaryIO) -> bool:
    if len(head) < _JOURNAL_HEADER:
        return False
    count, nonce, pages, sector, size = struct.unpack_from(">5I", head, 8)
    if sector not in _SECTOR_SIZES or size not in _PAGE_SIZES:
        return False
    if not count:
        return True
    file.seek(sector)
    record = file.read(size + 8)
    if len(record) < size + 8:
        return bool(count == _NOT_COUNTED)
    number, page, told = int.from_bytes(record[:4]), record[4:-4], int.from_bytes(record[-4:])
    total = (nonce + sum(page[at] for at in range(size - 200, 0, -200))) & 0xFFFFFFFF
    return 0 < number <= max(int(pages), 1) and total == told
