"""Finds Claude Code's transcripts, and the project each one begins in."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from lerim.sessions.model import StoreContents
from lerim.sessions.readers.claude.records import decode_claude_line
from lerim.sessions.readers.engine import is_folder, list_folder, read_beginning, stat_transcript, without_nul

_DEPTH_LIMIT = 3
_NAME_LIMIT = 200
_REPLACED_CHARACTERS = re.compile(r"[^A-Za-z0-9]")


def claude_folder_name(cwd: str) -> str:
    """Returns the name of the folder that contains the sessions begun in `cwd`; for a long path, only its first 200
    characters."""
    return _REPLACED_CHARACTERS.sub("-", cwd)[:_NAME_LIMIT]


def find_first_cwd(path: Path) -> str:
    """Returns the first working folder named in a transcript's first 256 kB; '' if there is none or the file cannot be
    read."""
    cwd = next((record.cwd for record in read_beginning(path, decode_claude_line) if record.cwd), "")
    return without_nul(cwd)[:4096]


def scan_root(root: Path, _folders: Sequence[str] = ()) -> StoreContents:
    """Lists the transcripts under a Claude Code folder (the one that contains `projects/`) from stat alone, and the
    problems found. A folder that does not exist contains none."""
    contents = StoreContents()
    for project in list_folder(root / "projects", contents.problems):
        if not is_folder(project):
            continue
        for entry in list_folder(Path(project.path), contents.problems):
            if entry.name.endswith(".jsonl"):
                _add_transcript(entry, "", contents)
            elif entry.is_dir(follow_symlinks=False):
                _add_subagents(Path(entry.path) / "subagents", entry.name, _DEPTH_LIMIT, contents)
    return contents


def _add_subagents(folder: Path, parent: str, depth: int, contents: StoreContents) -> None:
    for entry in list_folder(folder, contents.problems):
        if entry.name.endswith(".jsonl") and entry.name.startswith("agent-"):
            _add_transcript(entry, parent, contents)
        elif depth and entry.is_dir(follow_symlinks=False):
            _add_subagents(Path(entry.path), parent, depth - 1, contents)


def _add_transcript(entry: os.DirEntry[str], parent: str, contents: StoreContents) -> None:
    native_id = entry.name.removesuffix(".jsonl")
    contents.transcripts.extend(stat_transcript("claude", entry, native_id, contents.problems, parent=parent))
