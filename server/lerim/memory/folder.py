"""`.lerim/` of a repository: made when something is first written into it, with a `.gitignore` for what stays local."""

from __future__ import annotations

from pathlib import Path

from lerim.errors import MemoryError_
from lerim.memory import files

_MARK = "# Lerim: memories are shared, this is not"
_LOCAL = ("workspace/", "index/", "review/", "memory/summaries/")
_MAX_IGNORE = 64 * 1024


def make(lerim: Path) -> None:
    """Make `.lerim/` and its `.gitignore`; lines a person wrote or removed there stay as they are.

    Raises MemoryError_ where it cannot be written, also because the worktree around it was removed, BoundaryError
    where it is a symbolic link.
    """
    if not lerim.parent.is_dir():
        todo = "Open another worktree of the repository and try again there; nothing was changed."
        raise MemoryError_("This folder is not there any more.", where=str(lerim.parent), todo=todo)
    files.inside(lerim.parent, lerim)
    files.make_folder(lerim)
    ignore = files.inside(lerim.parent, lerim / ".gitignore")
    try:
        text = files.read_text(ignore, _MAX_IGNORE)
    except MemoryError_:
        if not files.is_absent(ignore):
            return  # something of the person's own that we cannot read: not ours to change
        files.create(ignore, "\n".join((_MARK, *_LOCAL, "")))
        return
    present = {line.strip() for line in text.splitlines()}
    if _MARK in present:
        return
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [_MARK, *(line for line in _LOCAL if line not in present)]
    gap = "" if not text or text.endswith("\n") else newline
    files.replace(ignore, text + gap + "".join(line + newline for line in lines))
