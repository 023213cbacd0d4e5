"""Determines how much of a `-wal` or `-journal` next to a database SQLite would use, from a few of its bytes.

A program that was killed leaves such files behind, and a failing disk fills them with anything. A file that SQLite
itself would ignore must not be copied either: it may be larger than the database.
"""

from __future__ import annotations

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
    """A `-wal` or `-journal`: how many of its bytes SQLite would use, and whether SQLite ignores it because it is
    damaged or never was such a file."""

    used: int
    damaged: bool


NO_LOG = DatabaseLog(0, damaged=False)


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
    return DatabaseLog(path.stat().st_size, damaged=False)


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
