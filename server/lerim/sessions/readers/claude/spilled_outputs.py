"""Finds the outputs of tools that Claude Code keeps in files of their own, because they are too long for a
transcript."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

from lerim.files import open_buffered
from lerim.sessions.model import Transcript
from lerim.sessions.readers.engine import cut_blocks, keep_ends, without_nul

_END_BYTES = 16 * 1024


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
