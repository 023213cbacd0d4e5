"""Finds the transcripts of Claude Code, and the project that each one begins in, and opens them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lerim.sessions.model import StoreContents
from lerim.sessions.readers.claude.turns import ClaudeReading
from lerim.sessions.readers.engine import add_transcript, list_folder, list_subfolders

_DEPTH_LIMIT = 3
_NAME_LIMIT = 200
_REPLACED_CHARACTERS = re.compile(r"[^A-Za-z0-9]")


def claude_folder_name(cwd: str) -> str:
    """Returns the name of the folder that contains the sessions begun in `cwd`; for a long path, only its first 200
    characters."""
    return _REPLACED_CHARACTERS.sub("-", cwd)[:_NAME_LIMIT]


def scan_root(root: Path, _folders: Sequence[str] = ()) -> StoreContents:
    """Lists, from stat alone, the transcripts under a Claude Code folder (the one that contains `projects/`), and
    the problems found. A folder that does not exist contains none."""
    contents = StoreContents()
    for project in list_subfolders(root / "projects", contents.problems):
        for entry in list_folder(project, contents.problems):
            if entry.name.endswith(".jsonl"):
                add_transcript(contents, "claude", entry, entry.name.removesuffix(".jsonl"))
            elif entry.is_dir(follow_symlinks=False):
                _add_subagents(Path(entry.path) / "subagents", entry.name, _DEPTH_LIMIT, contents)
    return contents


def _add_subagents(folder: Path, parent: str, depth: int, contents: StoreContents) -> None:
    for entry in list_folder(folder, contents.problems):
        if entry.name.endswith(".jsonl") and entry.name.startswith("agent-"):
            add_transcript(contents, "claude", entry, entry.name.removesuffix(".jsonl"), parent=parent)
        elif depth and entry.is_dir(follow_symlinks=False):
            _add_subagents(Path(entry.path), parent, depth - 1, contents)


open_session = ClaudeReading
