"""Changes to files that belong to the person or to other programs: planned, shown as a difference, then made.

A plan is a list of edits, computed from the files read and nothing else, so that it can be shown before anything is
written. An edit is made only while the file still has the text it was planned for.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lerim.errors import LerimError, StaleError
from lerim.files.atomic import create_file, make_folder, remove_file, replace_file


@dataclass(frozen=True, slots=True)
class FileUpdate:
    """One change of one text file. `before` is None if there is no file, `after` is None if it is to be removed.

    `anchor` is the folder below which no symbolic link is followed, for files of a repository. Without it, a file
    that is itself a link, such as a dotfile kept elsewhere, is changed at its target.
    """

    path: Path
    before: str | None
    after: str | None
    reason: str
    anchor: Path | None = None

    @property
    def is_change(self) -> bool:
        """Whether making the edit changes anything."""
        return self.before != self.after

    def inverse(self) -> FileUpdate:
        """Returns the edit that undoes this one."""
        return FileUpdate(self.path, self.after, self.before, self.reason, self.anchor)


def render_diff(edit: FileUpdate, name: str = "") -> str:
    """Returns an edit as a unified diff, in which the file is called `name`; "" if nothing changes."""
    shown = name or edit.path.as_posix()
    lines = difflib.unified_diff(
        (edit.before or "").splitlines(),
        (edit.after or "").splitlines(),
        "/dev/null" if edit.before is None else shown,
        "/dev/null" if edit.after is None else shown,
        lineterm="",
    )
    return "".join(f"{line}\n" for line in lines)


def make_edits(edits: Iterable[FileUpdate]) -> list[FileUpdate]:
    """Makes all edits that change something, and returns those. If one fails, takes back the earlier ones and raises
    its error: StaleError if the file has another text by now, MemoryError_ if it cannot be written."""
    made: list[FileUpdate] = []
    for edit in edits:
        if not edit.is_change:
            continue
        try:
            _make_edit(edit)
        except LerimError:
            _take_back(made)
            raise
        made.append(edit)
    return made


def _take_back(made: Sequence[FileUpdate]) -> None:
    for edit in reversed(made):
        with contextlib.suppress(LerimError):  # such as StaleError: somebody saved it since, and their text stays
            _make_edit(edit.inverse())


def _make_edit(edit: FileUpdate) -> None:
    path = edit.path if edit.anchor is not None else edit.path.resolve()
    if edit.after is None:
        remove_file(path, anchor=edit.anchor, before=edit.before)
    elif edit.before is None:
        make_folder(path.parent, anchor=edit.anchor)
        if not create_file(path, edit.after, anchor=edit.anchor):
            todo = "Check its content, then try again."
            raise StaleError(f"{path.name} was created meanwhile; it was not changed.", where=str(path), todo=todo)
    else:
        replace_file(path, edit.after, anchor=edit.anchor, before=edit.before)
