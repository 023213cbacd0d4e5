"""Session files in folders, by stat alone: one file a session, or an older form and the newer one that continues it."""

from __future__ import annotations

import os
import stat
import time
import zlib
from pathlib import Path

from lerim.errors import Problem, TranscriptError, reason_of
from lerim.files import open_buffered
from lerim.sessions.model import PLATFORM_NAMES, Platform, Transcript

LIMIT = 256 * 1024 * 1024
"""Larger files are not read by who would have to hold them as a whole."""

SETTLING_SECONDS = 60
"""Seconds since its last change during which a file that makes no sense is taken for one that is being written."""


def collect_sessions(
    platform: Platform, files: list[os.DirEntry[str]], problems: list[Problem], *, parent: str = "", cwd: str = ""
) -> list[Transcript]:
    """The transcripts among files, known by the folder that others tell for them too. A `.json` and the `.jsonl` of the
    same name are one session, known by the older one's path."""
    stems: dict[str, Path] = {}
    stats: dict[str, list[os.stat_result]] = {}
    for entry in files:
        stem, _, suffix = entry.name.rpartition(".")
        if suffix not in ("json", "jsonl") or not stem:
            continue
        known_as = stat_regular_file(platform, entry, problems)
        if known_as is None or not known_as.st_size:
            continue
        stats.setdefault(stem, []).append(known_as)
        if suffix == "json" or stem not in stems:
            stems[stem] = Path(entry.path)
    return [
        Transcript(
            platform=platform,
            path=stems[stem],
            session_id=stem,
            size=sum(one.st_size for one in known),
            mtime_ns=max(one.st_mtime_ns for one in known),
            inode=stamp_inode(known[0].st_ino, cwd),
            parent=parent,
            cwd=cwd,
        )
        for stem, known in stats.items()
    ]


def stat_transcript(
    platform: Platform,
    entry: os.DirEntry[str],
    native: str,
    problems: list[Problem],
    *,
    parent: str = "",
    cwd: str = "",
) -> list[Transcript]:
    """The transcript that a file is, under the session's own id, known by the folder that others tell for it too; none
    for what is no file."""
    known_as = stat_regular_file(platform, entry, problems)
    if known_as is None:
        return []
    size, written, inode = known_as.st_size, known_as.st_mtime_ns, stamp_inode(known_as.st_ino, cwd)
    return [Transcript(platform, Path(entry.path), native, size, written, inode, parent, cwd=cwd)]


def stamp_inode(inode: int, cwd: str) -> int:
    """An inode changed by the folder told for its file, so that the session is read again once that is known. It fits
    in the 63 bits of a database's number."""
    return (inode ^ zlib.crc32(cwd.encode("utf-8", "surrogatepass"))) & (1 << 63) - 1


def list_folder(folder: Path, problems: list[Problem]) -> list[os.DirEntry[str]]:
    """What is in a folder, by name; a folder that does not exist holds nothing, one that cannot be listed is a
    problem."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(Problem("unreadable", str(folder), f"This folder cannot be listed: {reason_of(error)}"))
        return []


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder, or a link to one that may be looked at."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def stat_regular_file(platform: Platform, entry: os.DirEntry[str], problems: list[Problem]) -> os.stat_result | None:
    """The stat of a file; None for what was deleted meanwhile, and for what is a problem: anything else, what cannot be
    looked at, a link to nowhere."""
    try:
        known_as = entry.stat()
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not entry.is_symlink():
            return None
        problems.append(Problem("unreadable", entry.path, f"This file cannot be read: {reason_of(error)}"))
        return None
    if stat.S_ISREG(known_as.st_mode):
        return known_as
    problems.append(
        Problem(
            "unreadable", entry.path, f"A session of {PLATFORM_NAMES[platform]} should be here, but this is not a file"
        )
    )
    return None


def read_session_file(path: Path) -> bytes:
    """The bytes of a file. Raises TranscriptError for one that is too large, OSError."""
    if path.stat().st_size > LIMIT:
        raise TranscriptError(
            f"This session is larger than {LIMIT >> 20} MB", where=str(path), todo="It is not added to the catalog."
        )
    with open_buffered(path) as file:
        return file.read()


def is_settling(path: Path) -> bool:
    """Whether a file was changed so lately that somebody may be writing it. Raises OSError."""
    return abs(time.time() - path.stat().st_mtime) < SETTLING_SECONDS
