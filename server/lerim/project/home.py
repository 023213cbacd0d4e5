"""Checks where the home folder may be: not inside the repository being worked on.

Files of that repository would then be trusted as the person's own. The exception is a home folder that is itself the
root of a repository (dotfiles in git). Files of Lerim's own folder that git tracks there came with the repository and
are refused; the `.gitignore` in that folder makes git ignore it.
"""

from __future__ import annotations

import os
from pathlib import Path

from lerim.errors import HomeError
from lerim.paths import Home
from lerim.project.repository import RepositoryLayout, find_innermost_layout

_TODO = "Set HOME (or LERIM_HOME) to a folder of your own outside this repository, or work in another one."


def check_home_outside_layout(home: Home, layout: RepositoryLayout | None) -> None:
    """Raises HomeError if the home folder is inside a worktree of this repository, unless it is itself the worktree's
    root."""
    if layout is None:
        return
    for worktree in {layout.root, layout.main_worktree or layout.root}:
        if is_home_worktree(home, worktree):
            _check_untracked(home, worktree, layout.common_dir)
            continue
        for folder in (home.root, home.user_home or home.root):
            if is_inside(folder, worktree):
                message = (
                    "Your home folder is inside the repository, so Lerim cannot tell your files from the repository's."
                )
                raise HomeError(message, where=str(folder), todo=_TODO)


def check_home_outside_repository(home: Home, folder: Path) -> None:
    """Raises HomeError if the home folder is inside the repository around `folder`, or if the home folder is a
    repository that tracks files of Lerim's own folder."""
    check_home_outside_layout(home, find_innermost_layout(folder))
    if (
        home.user_home is not None
        and (layout := find_innermost_layout(home.user_home)) is not None
        and is_home_worktree(home, layout.root)
    ):
        check_home_outside_layout(home, layout)


def is_home_worktree(home: Home, worktree: Path) -> bool:
    """Returns whether the home folder itself is this worktree."""
    return home.user_home is not None and is_same_place(home.user_home, worktree)


def is_inside(path: Path, folder: Path) -> bool:
    """Returns whether `path` is `folder` or inside it, regardless of links, letter case and mounts."""
    real = Path(os.path.realpath(path))
    return any(is_same_place(one, folder) for one in (real, *real.parents))


def is_same_place(one: Path, other: Path) -> bool:
    """Returns whether two paths lead to the same file or folder, even if it does not exist yet."""
    try:
        return one.samefile(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _check_untracked(home: Home, worktree: Path, common_dir: Path) -> None:
    if not is_inside(home.root, worktree):
        return
    from lerim.project.tracked import read_tracked_paths

    paths = (
        os.path.relpath(os.path.realpath(home.root), os.path.realpath(worktree)),
        os.path.relpath(home.root, home.user_home or worktree),
    )
    folders = tuple(f"{path}/".replace(os.sep, "/").removeprefix("./").casefold() for path in paths)
    for path in read_tracked_paths(worktree, common_dir):
        if f"{path.casefold()}/".startswith(folders):
            message = "Your home folder is a git repository that tracks files of Lerim's own folder."
            todo = "Files from a repository are not trusted as yours. Run `git rm -r --cached` on that folder."
            raise HomeError(message, where=str(Path(worktree, path)), todo=todo)
