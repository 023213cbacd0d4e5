"""Where Claude Code's transcripts lie, and which project one begins in."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lerim.sessions.claude_records import decode
from lerim.sessions.jsonl import beginning
from lerim.sessions.model import Found
from lerim.sessions.session_files import entries, is_folder, transcript
from lerim.sessions.values import plain

_DEEP = 3
_NAMED = 200
_NOT_NAMED = re.compile(r"[^A-Za-z0-9]")


def folder_name(cwd: str) -> str:
    """How the folder is called that holds the sessions begun in `cwd`; of a long one how its name begins."""
    return _NOT_NAMED.sub("-", cwd)[:_NAMED]


def begins_in(path: Path) -> str:
    """The first working directory named in a transcript's first 256 kB; '' if none, or if it cannot be read."""
    cwd = next((record.cwd for record in beginning(path, decode) if record.cwd), "")
    return plain(cwd)[:4096]


def find(root: Path, _folders: Sequence[str] = ()) -> Found:
    """The transcripts under a Claude Code folder (the one holding `projects/`), known by stat alone, and what could not
    be looked at. A folder that does not exist holds none."""
    found = Found()
    for project in entries(root / "projects", found.problems):
        if not is_folder(project):
            continue
        for entry in entries(Path(project.path), found.problems):
            if entry.name.endswith(".jsonl"):
                _add(entry, "", found)
            elif entry.is_dir(follow_symlinks=False):
                _subagents(Path(entry.path) / "subagents", entry.name, _DEEP, found)
    return found


def _subagents(folder: Path, parent: str, deep: int, found: Found) -> None:
    for entry in entries(folder, found.problems):
        if entry.name.endswith(".jsonl") and entry.name.startswith("agent-"):
            _add(entry, parent, found)
        elif deep and entry.is_dir(follow_symlinks=False):
            _subagents(Path(entry.path), parent, deep - 1, found)


def _add(entry: os.DirEntry[str], parent: str, found: Found) -> None:
    native = entry.name.removesuffix(".jsonl")
    found.transcripts.extend(transcript("claude", entry, native, found.problems, parent=parent))
