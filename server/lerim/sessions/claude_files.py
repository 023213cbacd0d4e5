"""Where Claude Code's transcripts lie, and which project one begins in."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from lerim.errors import Problem
from lerim.sessions.claude_records import BadLine, decode
from lerim.sessions.claude_tools import plain
from lerim.sessions.model import Found, Transcript
from lerim.sessions.regular import buffered

_PEEK = 256 * 1024
_DEEP = 3


def begins_in(path: Path) -> str:
    """The first working directory named in a transcript's first 256 kB; '' if none, or if it cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return ""
        with buffered(path) as file:
            start = file.read(_PEEK)
    except OSError:
        return ""
    for line in start.split(b"\n"):
        try:
            records = decode(line)
        except BadLine as fault:
            records = fault.args[1]
        for record in records:
            if record.cwd:
                return plain(record.cwd)[:4096]
    return ""


def find(root: Path, _folders: Sequence[str] = ()) -> Found:
    """The transcripts under a Claude Code folder (the one holding `projects/`), known by stat alone, and what could not
    be looked at. A folder that does not exist holds none."""
    problems: list[Problem] = []
    found: list[Transcript] = []
    for project in _entries(root / "projects", problems):
        if not _is_folder(project):
            continue
        for entry in _entries(Path(project.path), problems):
            if entry.name.endswith(".jsonl"):
                _add(entry, "", found, problems)
            elif entry.is_dir(follow_symlinks=False):
                _subagents(Path(entry.path) / "subagents", entry.name, _DEEP, found, problems)
    return Found(found, problems=problems)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to where nobody may look: no sessions of ours
        return False


def _subagents(folder: Path, parent: str, deep: int, found: list[Transcript], problems: list[Problem]) -> None:
    for entry in _entries(folder, problems):
        if entry.name.endswith(".jsonl") and entry.name.startswith("agent-"):
            _add(entry, parent, found, problems)
        elif deep and entry.is_dir(follow_symlinks=False):
            _subagents(Path(entry.path), parent, deep - 1, found, problems)


def _entries(folder: Path, problems: list[Problem]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(Problem("unreadable", str(folder), f"This folder cannot be listed: {error.strerror or error}"))
        return []


def _add(entry: os.DirEntry[str], parent: str, found: list[Transcript], problems: list[Problem]) -> None:
    try:
        known_as = entry.stat()
    except OSError as error:
        problems.append(Problem("unreadable", entry.path, f"This file cannot be looked at: {error.strerror or error}"))
        return
    if stat.S_ISREG(known_as.st_mode):
        stem = entry.name.removesuffix(".jsonl")
        found.append(
            Transcript(
                platform="claude",
                path=Path(entry.path),
                session_id=stem,
                size=known_as.st_size,
                mtime_ns=known_as.st_mtime_ns,
                inode=known_as.st_ino,
                parent=parent,
            )
        )
