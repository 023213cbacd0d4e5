"""Brings the hooks' indexes up to date: for people who chose hooks, and for nobody else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock, Timeout

from lerim.errors import LerimError, Problem
from lerim.hook.background import find_hook_index, wanted_marker
from lerim.hook.index import refresh_hook_index
from lerim.hook.uses import count_uses
from lerim.paths import Home
from lerim.process import lower_priority
from lerim.project import Project, locate_project


def refresh_if_used(project: Project, home: Home, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """Makes the index of a worktree anew if there is one. Returns what went wrong; nothing fails because of it."""
    if project.is_personal or not find_hook_index(project.root, home).exists():
        return []
    try:
        refresh_hook_index(project, home, environ)  # what it could not read is reported by those who show memories
        return count_uses(project, home)
    except LerimError as error:
        return [error.problem()]


def main(root: str) -> int:
    """Makes the index of the worktree at `root` anew; the exit code is 1 if that failed. One process at a time does
    that for a worktree: another one only notes that it must be done again, and ends."""
    lower_priority()
    try:
        home = Home.from_environ(os.environ)
        project = locate_project(Path(root), home)
        if project is None or not (home.root / "run" / "hooks").is_dir():
            return 1
        path = find_hook_index(project.root, home)
        marker = wanted_marker(path)
        marker.touch(0o600)
        while marker.exists():  # asked again meanwhile
            with FileLock(path.with_suffix(".refreshing"), timeout=0, mode=0o600):
                marker.unlink(missing_ok=True)
                refresh_hook_index(project, home)
                count_uses(project, home)
    except Timeout:
        return 0
    except (LerimError, OSError):
        return 1
    return 0
