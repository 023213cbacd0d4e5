"""Reads outputs that are too long for the transcript and that Claude Code writes to files beside it."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PureWindowsPath

from lerim.sessions.readers.engine import cut_blocks, keep_ends, without_nul

_END_BYTES = 16 * 1024


def results_folder(transcript: Path) -> Path:
    """Returns the folder of a session's own spilled outputs; a subagent shares its parent's."""
    folder = transcript.with_suffix("")
    for parent in transcript.parents:
        if parent.name == "subagents":
            folder = parent.parent
    return folder / "tool-results"


def read_spilled_output(folder: Path, path_text: str) -> tuple[str, int] | None:
    """Returns the ends of the file `named` in a record, or None unless it is a regular file inside `folder` after
    resolving symlinks.

    Only the name is taken from the record, since the session may have been written on another machine.
    """
    name = PureWindowsPath(path_text).name
    if not name or "\0" in name:
        return None
    try:
        resolved_folder = folder.resolve(strict=True)
        path = (resolved_folder / name).resolve(strict=True)
        if resolved_folder not in path.parents:
            return None
        return _read_ends(path)
    except (OSError, ValueError, RuntimeError):  # gone, unreadable or a symlink loop: the preview is used instead
        return None


def _read_ends(path: Path) -> tuple[str, int] | None:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        file_stat = os.fstat(handle)
        if not stat.S_ISREG(file_stat.st_mode):
            return None
        head = file.read(_END_BYTES)
        middle_size = max(0, file_stat.st_size - 2 * _END_BYTES)
        file.seek(len(head) + middle_size)
        tail = file.read(_END_BYTES)
    shown, omitted = keep_ends(without_nul(cut_blocks((head + tail).decode("utf-8", "replace"))))
    return shown, omitted + middle_size
