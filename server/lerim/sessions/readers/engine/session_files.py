"""Finds session files in folders, from stat alone. A session is one file, or a file in an older format and the newer
one that continues it."""

from __future__ import annotations

import os
import re
import stat
import time
import zlib
from pathlib import Path

from lerim.errors import Problem, TranscriptError, error_reason
from lerim.files import open_buffered
from lerim.sessions.model import PLATFORM_NAMES, Platform, StoreContents, Transcript

FILE_SIZE_LIMIT = 256 * 1024 * 1024
"""Maximum size of a file that has to be read as a whole; larger files are not read."""

SETTLING_SECONDS = 60
"""If a file that cannot be parsed was changed less than this many seconds ago, it is assumed to be still being
written."""

_COMPRESSED_NAME = re.compile(r"(.+\.jsonl?)(\.(?:gz|bz2|xz|zst|lz4|br|zip|7z))")


def collect_sessions(
    contents: StoreContents, platform: Platform, files: list[os.DirEntry[str]], *, parent: str = "", cwd: str = ""
) -> None:
    """Adds the transcripts among `files`, which must be sorted by name. `cwd`, their working folder if another file
    names it, is part of their stamp. A `.json` and a `.jsonl` of the same name are one session, identified by the
    path of the `.json`."""
    found: dict[str, tuple[Path, list[os.stat_result]]] = {}
    for entry in files:
        stem, _, suffix = entry.name.rpartition(".")
        if suffix in ("json", "jsonl") and stem:
            file_stat = stat_regular_file(platform, entry, contents.problems)
            if file_stat is not None and file_stat.st_size:
                found.setdefault(stem, (Path(entry.path), []))[1].append(file_stat)
    for stem, (path, stats) in found.items():
        size, written = sum(one.st_size for one in stats), max(map(_written_ns, stats))
        inode = stamp_inode(stats[0].st_ino, cwd)
        contents.transcripts.append(Transcript(platform, path, stem, size, written, inode, parent, cwd=cwd))


def add_transcript(
    contents: StoreContents,
    platform: Platform,
    entry: os.DirEntry[str],
    native_id: str,
    *,
    parent: str = "",
    cwd: str = "",
) -> None:
    """Adds the transcript of a file, with the session's native id, if it is a regular file. `cwd`, its working folder
    if another file names it, is part of its stamp."""
    if file_stat := stat_regular_file(platform, entry, contents.problems):
        size, written, inode = file_stat.st_size, _written_ns(file_stat), stamp_inode(file_stat.st_ino, cwd)
        contents.transcripts.append(
            Transcript(platform, Path(entry.path), native_id, size, written, inode, parent, cwd=cwd)
        )


def _written_ns(file_stat: os.stat_result) -> int:
    """Returns when a file was written, in nanoseconds. A time after 2262, which only a fault of the disk or of a clock
    sets, is lowered to the largest that fits in a database integer."""
    return min(file_stat.st_mtime_ns, (1 << 63) - 1)


def stamp_inode(inode: int, cwd: str) -> int:
    """Combines an inode with the working folder, so that the session is read again once the folder is known. The
    result fits in the 63 bits of a database integer."""
    return (inode ^ zlib.crc32(cwd.encode("utf-8", "surrogatepass"))) & (1 << 63) - 1


def list_folder(folder: Path, problems: list[Problem], *, unpacked: str = "") -> list[os.DirEntry[str]]:
    """Lists a folder, sorted by name. A folder that does not exist is empty. A folder that cannot be listed is added
    to the problems, and so is each compressed session, except those with the ending `unpacked`, which the reader can
    unpack."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(Problem("unreadable", str(folder), f"This folder cannot be listed: {error_reason(error)}"))
        return []
    names = {entry.name for entry in found}
    for entry in found:
        packed = _COMPRESSED_NAME.fullmatch(entry.name)
        if packed and packed[2] != unpacked and packed[1] not in names:
            what = "This session is compressed, so it is not read. Unpack it, and the next sync reads it."
            problems.append(Problem("compressed", entry.path, what))
    return found


def list_subfolders(folder: Path, problems: list[Problem]) -> list[Path]:
    """Lists the folders in a folder, and the links to accessible ones, like `list_folder`."""
    return [Path(entry.path) for entry in list_folder(folder, problems) if is_folder(entry)]


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Checks whether an entry is a folder, or a link to an accessible one."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def stat_regular_file(platform: Platform, entry: os.DirEntry[str], problems: list[Problem]) -> os.stat_result | None:
    """Returns the stat of a regular file. Returns None if the file was deleted meanwhile. Also returns None, and
    adds a problem, if it is not a regular file, cannot be accessed or is a broken link."""
    what = f"A session of {PLATFORM_NAMES[platform]} should be here, but this is not a file"
    try:
        file_stat = entry.stat()
        if stat.S_ISREG(file_stat.st_mode):
            return file_stat
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not entry.is_symlink():
            return None
        what = f"This file cannot be read: {error_reason(error)}"
    problems.append(Problem("unreadable", entry.path, what))
    return None


def read_start(path: Path, size: int) -> bytes:
    """Returns the first `size` bytes of a file; empty if it cannot be read."""
    try:
        with open_buffered(path) as file:
            return file.read(size)
    except OSError:
        return b""


def read_session_file(path: Path) -> bytes:
    """Reads a file. Raises TranscriptError if it is too large, and OSError."""
    if path.stat().st_size > FILE_SIZE_LIMIT:
        raise TranscriptError(
            f"This session is larger than {FILE_SIZE_LIMIT >> 20} MB",
            where=str(path),
            todo="It is not added to the catalog.",
        )
    with open_buffered(path) as file:
        return file.read()


def is_settling(path: Path) -> bool:
    """Checks whether a file was changed so recently that it may still be being written. Raises OSError."""
    return abs(time.time() - path.stat().st_mtime) < SETTLING_SECONDS
