"""Creates `.lerim/` in a repository on the first write, with a `.gitignore` for files that stay on this machine."""

from __future__ import annotations

import contextlib
from pathlib import Path

from lerim import files
from lerim.errors import MemoryError_, NotFoundError, StaleError

_LOCAL_HEADING = "# Lerim: memories are shared, this is not"
_LOCAL_LINES = ("workspace/", "index/", "review/", "memory/summaries/")
_TEMPORARY_HEADING = "# Lerim: files that are being written"
_TEMPORARY_LINE = ".lerim-*"
_OWN_LINES = ("# Lerim: each clone makes this file, so that none is in the way of a pull", "/.gitignore")
_MOST_IGNORE_BYTES = 64 * 1024
_MOST_TRIES = 5


def make_lerim_folder(lerim: Path) -> None:
    """Creates `.lerim/` and its `.gitignore`; lines a person added or removed there stay that way.

    A `.gitignore` that Lerim makes ignores itself. Every clone in which somebody syncs has one, and git refuses to pull
    a file that already exists untracked.

    Raises MemoryError_ if it cannot be written, for example because the worktree was removed; BoundaryError if it is
    a symbolic link.
    """
    if not lerim.parent.is_dir():
        todo = "Nothing was changed. Open another worktree of the repository and try again there."
        raise MemoryError_("This folder no longer exists.", where=str(lerim.parent), todo=todo)
    files.make_folder(lerim, anchor=lerim.parent)
    ignore_file = files.resolve_inside(lerim.parent, lerim / ".gitignore")
    for _ in range(_MOST_TRIES):
        try:
            text = files.read_text(ignore_file, _MOST_IGNORE_BYTES, lerim.parent)
        except NotFoundError:
            lines = [*_list_missing_lines(set()), *_OWN_LINES, ""]
            if files.create_file(ignore_file, "\n".join(lines), anchor=lerim.parent):
                return
            continue
        except MemoryError_:
            return  # a file of the person's that we cannot read must not be changed
        lines = _list_missing_lines({line.strip() for line in text.splitlines()})
        if not lines:
            return
        newline = "\r\n" if "\r\n" in text else "\n"
        separator = "" if not text or text.endswith("\n") else newline
        with contextlib.suppress(StaleError):  # somebody saved it meanwhile: start over with the new text
            new_text = text + separator + "".join(line + newline for line in lines)
            files.replace_file(ignore_file, new_text, anchor=lerim.parent, before=text)
            return


def _list_missing_lines(present: set[str]) -> list[str]:
    """Returns the lines to add to a `.gitignore` that contains the lines `present`. If one of our headings is
    already there, nothing is added below it, because a person removed what is missing."""
    lines: list[str] = []
    if _LOCAL_HEADING not in present:
        lines += [_LOCAL_HEADING, *(line for line in _LOCAL_LINES if line not in present)]
    if _TEMPORARY_HEADING not in present and _TEMPORARY_LINE not in present:
        lines += [_TEMPORARY_HEADING, _TEMPORARY_LINE]
    return lines
