"""Reads outputs that are too long for the transcript and that Claude Code writes to files beside it."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PureWindowsPath

from lerim.sessions.readers.engine import cut_blocks, keep_ends, without_nul

_END = 16 * 1024


def results_folder(transcript: Path) -> Path:
    """Returns the folder of a session's own spilled outputs; a subagent shares its parent's."""
    folder = transcript.with_suffix("")
    for parent in transcript.parents:
        if parent.name == "subagents":
            folder = parent.parent
    return folder / "tool-results"


def read_spilled_output(folder: Path, named: str) -> tuple[str, int] | None:
    """Returns the ends of the file `named` in a record, or None unless it is a regular file inside `folder` after
    resolving symlinks.

    Only the name is taken from the record, since the session may have been written on another machine.
    """
    name = PureWindowsPath(named).name
    if not name or "\0" in name:
        return None
    try:
        own = folder.resolve(strict=True)
        path = (own / name).resolve(strict=True)
        if own not in path.parents:
            return None
        return _ends_of(path)
    except (OSError, ValueError, RuntimeError):  # gone, unreadable or a symlink loop: the preview is used instead
        return None


def _ends_of(path: Path) -> tuple[str, int] | None:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return None
        head = file.read(_END)
        between = max(0, found.st_size - 2 * _END)
        file.seek(len(head) + between)
        tail = file.read(_END)
    shown, left_out = keep_ends(without_nul(cut_blocks((head + tail).decode("utf-8", "replace"))))
    return shown, left_out + between
