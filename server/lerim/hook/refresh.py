"""Brings the hooks' indexes up to date: for people who chose hooks, and for nobody else."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock, Timeout

from lerim.errors import LerimError, Problem
from lerim.hook.index import find_hook_index, refresh_hook_index
from lerim.hook.uses import count_uses
from lerim.paths import Home
from lerim.process import build_lerim_launch, lower_priority
from lerim.project import Project, locate_project


def refresh_if_used(project: Project, home: Home, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """Makes the index of a worktree anew if there is one. Returns what went wrong; nothing fails because of it."""
    if project.is_personal or not find_hook_index(project.root, home).exists():
        return []
    try:
        return [*refresh_hook_index(project, home, environ), *count_uses(project, home)]
    except LerimError as error:
        return [error.problem()]


def start_refresh_if_used(root: Path, home: Home, environ: Mapping[str, str] = os.environ) -> bool:
    """Starts a process that makes the index of a worktree anew if there is one, and does not wait for it. Returns
    whether one was started."""
    path = find_hook_index(root, home)
    if not path.exists():
        return False
    launch = build_lerim_launch(("hook-refresh", str(root)), sys.executable, {**environ, "LERIM_HOME": str(home.root)})
    quiet = subprocess.DEVNULL
    with contextlib.suppress(OSError):  # the next event of an agent tries again
        _wanted_marker(path).touch(0o600)
        subprocess.Popen(
            launch.argv,
            env=launch.environ,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            creationflags=launch.creationflags,
            start_new_session=launch.new_session,
        )
        return True
    return False


def main(root: str) -> int:
    """Makes the index of the worktree at `root` anew; the exit code is 1 if that failed. One process at a time does
    that for a worktree: another one only notes that it must be done again, and ends."""
    lower_priority()
    home = Home.from_environ(os.environ)
    project = locate_project(Path(root), home)
    hooks = home.root / "run" / "hooks"
    if project is None or not hooks.is_dir():
        return 1
    path = find_hook_index(project.root, home)
    marker = _wanted_marker(path)
    marker.touch(0o600)
    while marker.exists():  # asked again meanwhile
        try:
            with FileLock(path.with_suffix(".refreshing"), timeout=0, mode=0o600):
                marker.unlink(missing_ok=True)
                refresh_hook_index(project, home)
                count_uses(project, home)
        except Timeout:
            return 0
        except LerimError:
            return 1
    return 0


def _wanted_marker(path: Path) -> Path:
    return path.with_suffix(".wanted")
