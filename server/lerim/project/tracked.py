"""Reads which files git tracks in a worktree from its index, without starting git."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lerim.files import open_buffered
from lerim.project.repository import find_git_dir, read_config

MOST_BYTES = 64_000_000
PATH_DIGEST_BYTES = 8
"""How many bytes a path digest has; it is used instead of the path if many are kept."""
_ENTRY_HEADER_BYTES = 40
"""How many bytes an index entry has before the object name."""


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
    extended = read_config(common_dir).get(("extensions", "", "objectformat"), "")
    hash_size = 32 if extended.lower() == "sha256" else 20
    git_dir = find_git_dir(root)
    try:
        data = _read_index(git_dir / "index")
        entries, end = _parse_entries(data, hash_size)
        link = _find_link(data, end, hash_size)
        if not any(link[:hash_size]):
            return entries
        shared, _ = _parse_entries(_read_index(git_dir / f"sharedindex.{link[:hash_size].hex()}"), hash_size)
        return _merge_entries(shared, entries, link[hash_size:])
    except (OSError, IndexError, ValueError, OverflowError):
        return []


def _read_index(path: Path) -> bytes:
    """Returns the content of an index. Raises OSError, ValueError if it is too large."""
    with open_buffered(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path} is too large")
    return data


def _find_link(data: bytes, at: int, hash_size: int) -> bytes:
    """Returns the extension that makes an index only a part of another one (git's setting `core.splitIndex`): the
    hash of that index, the bitmap of its entries that are gone, and the bitmap of those that are replaced. Empty if
    the index is complete."""
    while at + 8 <= len(data) - hash_size:
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        if data[at : at + 4] == b"link":
            return data[at + 8 : at + 8 + size]
        at += 8 + size
    return b""


def _merge_entries(shared: list[tuple[str, int]], own: list[tuple[str, int]], bitmaps: bytes) -> list[tuple[str, int]]:
    """Returns the entries of a shared index with those of the part that changes it. Raises IndexError."""
    if not bitmaps:
        return [*shared, *own]
    gone, at = _parse_bitmap(bitmaps, 0, len(shared))
    replaced, _ = _parse_bitmap(bitmaps, at, len(shared))
    stages = (stage for path, stage in own if not path)
    # replaced entries have no path in the part; they are in the order of the shared index
    merged = [(path, next(stages, stage) if at in replaced else stage) for at, (path, stage) in enumerate(shared)]
    return [*(entry for at, entry in enumerate(merged) if at not in gone), *(entry for entry in own if entry[0])]


def _parse_bitmap(data: bytes, at: int, count: int) -> tuple[set[int], int]:
    """Returns which of the first `count` bits of a bitmap in git's encoding (EWAH) are set, and the position after it.
    Raises IndexError if it is cut off."""
    start = at + 8
    end = start + 8 * int.from_bytes(data[at + 4 : start], "big")
    if end + 4 > len(data):
        raise IndexError
    words = [int.from_bytes(data[at : at + 8], "big") for at in range(start, end, 8)]
    found: set[int] = set()
    bit = number = 0
    while number < len(words) and bit < count:
        same, literals = words[number] >> 1 & 0xFFFFFFFF, words[number] >> 33  # 64 bits that are equal, and others
        if words[number] & 1:
            found.update(range(bit, min(bit + 64 * same, count)))
        bit += 64 * same
        for word in words[number + 1 : number + 1 + literals]:
            found.update(bit + shift for shift in range(64) if word >> shift & 1)
            bit += 64
        number += 1 + literals
    return found, end + 4


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


def _parse_entries(data: bytes, hash_size: int) -> tuple[list[tuple[str, int]], int]:
    """Returns each path with its stage: 0, or in an unresolved merge 1 (base), 2 (ours), 3 (theirs); and the
    position after the entries. Raises ValueError, IndexError."""
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("this is not an index of git")
    entries: list[tuple[str, int]] = []
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
        entries.append((path.decode("utf-8", "surrogateescape"), flags >> 12 & 3))
    return entries, offset


def _parse_number(data: bytes, offset: int) -> tuple[int, int]:
    """Returns a number in git's encoding (seven bits per byte, the eighth set on all but the last) and the position
    after it."""
    byte = data[offset]
    value = byte & 0x7F
    while byte & 0x80:
        offset += 1
        byte = data[offset]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, offset + 1
