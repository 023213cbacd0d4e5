"""Reads which files git tracks in a worktree from its index, without starting git."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from lerim.files import open_buffered
from lerim.project.repository import find_git_dir, read_config

MOST_BYTES = 64_000_000
PATH_DIGEST_BYTES = 8
"""Bytes of a path digest, used instead of the path if many are kept."""
_ENTRY_HEADER_BYTES = 40
"""Bytes of an index entry before the object name."""


def read_tracked_paths(root: Path, common_dir: Path) -> list[str]:
    """Returns the paths in the index of the worktree at `root`; empty if it cannot be read."""
    return [path for path, _ in _read_entries(root, common_dir)]


def find_half_removed_paths(root: Path, common_dir: Path, below: str) -> list[str]:
    """Returns the paths below a folder (`.lerim/memory/`) with an unresolved merge conflict in which one side changed
    the file and the other removed it; empty if the index cannot be read."""
    return sorted(
        path for path, found in read_merge_stages(root, common_dir, below).items() if found in ({1, 2}, {1, 3})
    )


def read_merge_stages(root: Path, common_dir: Path, below: str) -> dict[str, set[int]]:
    """Returns the stages of each path below a folder: 0, or in an unresolved merge 1 (base), 2 (ours), 3 (theirs);
    empty if the index cannot be read."""
    found: dict[str, set[int]] = {}
    for path, stage in _read_entries(root, common_dir):
        if path.startswith(below):
            found.setdefault(path, set()).add(stage)
    return found


def _read_entries(root: Path, common_dir: Path) -> list[tuple[str, int]]:
    try:
        with open_buffered(find_git_dir(root) / "index") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        return []
    if len(data) > MOST_BYTES:
        return []
    extended = read_config(common_dir).get(("extensions", "", "objectformat"), "")
    try:
        return list(_parse_entries(data, 32 if extended.lower() == "sha256" else 20))
    except (IndexError, ValueError, OverflowError):
        return []


def read_index_stamp(root: Path) -> str:
    """Returns a value that changes whenever git's index does; "" if there is no readable index."""
    try:
        state = (find_git_dir(root) / "index").stat()
    except (OSError, ValueError):
        return ""
    return f"{state.st_mtime_ns} {state.st_size} {state.st_ino}"


def digest_path(path: str) -> bytes:
    """Returns the digest that represents a path."""
    return hashlib.blake2b(path.encode("utf-8", "surrogatepass"), digest_size=PATH_DIGEST_BYTES).digest()


def _parse_entries(data: bytes, hash_size: int) -> Iterator[tuple[str, int]]:
    """Yields each path and its stage: 0, or in an unresolved merge 1 (base), 2 (ours), 3 (theirs)."""
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        return
    offset, path = 12, b""
    for _ in range(count):
        start = offset
        offset += _ENTRY_HEADER_BYTES + hash_size
        flags = int.from_bytes(data[offset : offset + 2], "big")
        offset += 4 if version > 2 and flags & 0x4000 else 2
        if version == 4:
            removed_length, offset = _parse_number(data, offset)
            end = data.index(b"\0", offset)
            path = path[: len(path) - removed_length] + data[offset:end]
            offset = end + 1
        else:
            end = data.index(b"\0", offset)
            path = data[offset:end]
            offset = start + (end - start + 8) // 8 * 8
        yield path.decode("utf-8", "surrogateescape"), flags >> 12 & 3


def _parse_number(data: bytes, offset: int) -> tuple[int, int]:
    """Reads a number in git's encoding (seven bits per byte, the eighth set on all but the last) and the position after
    it."""
    byte = data[offset]
    value = byte & 0x7F
    while byte & 0x80:
        offset += 1
        byte = data[offset]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, offset + 1
