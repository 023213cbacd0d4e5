"""The files of Claude Code: its transcripts, the project each one begins in, and the outputs that are too long for
them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath

from lerim.files import open_buffered
from lerim.sessions.model import StoreContents, Transcript
from lerim.sessions.readers.engine import (
    add_transcript,
    cut_blocks,
    keep_ends,
    list_folder,
    list_subfolders,
    without_nul,
)

_DEPTH_LIMIT = 3
_NAME_LIMIT = 200
_END_BYTES = 16 * 1024
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


def results_folder(transcript: Transcript) -> Path:
    """Returns the folder of a session's own spilled outputs; a subagent shares its parent's."""
    folders = (one.parent for one in transcript.path.parents if transcript.parent and one.name == "subagents")
    return next(folders, transcript.path.with_suffix("")) / "tool-results"


def read_spilled_output(folder: Path, path_text: str) -> tuple[str, int] | None:
    """Returns the beginning and end of the file at `path_text` as one text, and the number of characters left out
    between them. Returns None unless it is a regular file inside `folder` after resolving symlinks.

    Only the name is taken from the record, since the session may have been written on another machine.
    """
    name = PureWindowsPath(path_text).name
    if not name or "\0" in name:
        return None
    try:
        resolved_folder = folder.resolve(strict=True)
        path = (resolved_folder / name).resolve(strict=True)
        return _read_ends(path) if resolved_folder in path.parents else None
    except (OSError, ValueError, RuntimeError):  # gone, unreadable or a symlink loop: the preview is used instead
        return None


def _read_ends(path: Path) -> tuple[str, int]:
    with open_buffered(path) as file:
        head = file.read(_END_BYTES)
        middle_size = max(0, path.stat().st_size - 2 * _END_BYTES)
        file.seek(len(head) + middle_size)
        tail = file.read(_END_BYTES)
    shown, omitted = keep_ends(without_nul(cut_blocks((head + tail).decode("utf-8", "replace"))))
    return shown, omitted + middle_size
