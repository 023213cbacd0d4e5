"""`.lerim/` of a repository: made when something is first written into it, with a `.gitignore` for what stays local."""

from __future__ import annotations

import contextlib
from pathlib import Path

from lerim import files
from lerim.errors import MemoryError_, NotFoundError, StaleError

_MARK = "# Lerim: memories are shared, this is not"
_LOCAL = ("workspace/", "index/", "review/", "memory/summaries/")
_UNFINISHED_MARK = "# Lerim: files that are being written"
_UNFINISHED = ".lerim-*"
_MAX_IGNORE = 64 * 1024
_TRIES = 5


def make_lerim_folder(lerim: Path) -> None:
    """Make `.lerim/` and its `.gitignore`; lines a person wrote or removed there stay as they are.

    Raises MemoryError_ where it cannot be written, also because the worktree around it was removed, BoundaryError
    where it is a symbolic link.
    """
    if not lerim.parent.is_dir():
        todo = "Nothing was changed. Open another worktree of the repository and try again there."
        raise MemoryError_("This folder no longer exists.", where=str(lerim.parent), todo=todo)
    files.make_folder(lerim, anchor=lerim.parent)
    ignore = files.resolve_inside(lerim.parent, lerim / ".gitignore")
    for _ in range(_TRIES):
        try:
            text = files.read_text(ignore, _MAX_IGNORE, lerim.parent)
        except NotFoundError:
            lines = [*_missing(set()), ""]
            if files.create_file(ignore, "\n".join(lines), anchor=lerim.parent):
                return
            continue
        except MemoryError_:
            return  # something of the person's own that we cannot read: not ours to change
        lines = _missing({line.strip() for line in text.splitlines()})
        if not lines:
            return
        newline = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not text or text.endswith("\n") else newline
        with contextlib.suppress(StaleError):  # somebody saved it meanwhile: their text is looked at
            whole = text + gap + "".join(line + newline for line in lines)
            files.replace_file(ignore, whole, anchor=lerim.parent, before=text)
            return


def _missing(present: set[str]) -> list[str]:
    """The lines to add to a `.gitignore` with these lines. Below a heading of ours nothing is added again: what is
    missing there was removed by a person."""
    lines: list[str] = []
    if _MARK not in present:
        lines += [_MARK, *(line for line in _LOCAL if line not in present)]
    if _UNFINISHED_MARK not in present and _UNFINISHED not in present:
        lines += [_UNFINISHED_MARK, _UNFINISHED]
    return lines
