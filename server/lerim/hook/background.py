"""Finds a worktree's index, and starts the process that makes it again while nobody waits. This module imports
little, because the sidecar imports it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from lerim.hook.program import lookup
from lerim.paths import Home
from lerim.process import build_lerim_launch

_running: list[subprocess.Popen[bytes]] = []
"""The processes started here that may still run. They are kept so that their exit status is collected after they
have ended."""


def find_hook_index(root: Path, home: Home) -> Path:
    """Returns the path at which the index of the worktree at `root` is, or would be."""
    return home.root / "run" / "hooks" / f"{lookup.index_name(str(root))}.sqlite3"


def wanted_marker(index: Path) -> Path:
    """Returns the path of the file whose existence says that an index must be made again."""
    return index.with_suffix(".wanted")


def start_refresh_if_used(root: Path, home: Home, environ: Mapping[str, str] = os.environ) -> bool:
    """Starts a process that makes the index of a worktree again, if it has one. Returns whether a process was
    started."""
    return find_hook_index(root, home).exists() and start_refresh(root, home, environ)


def start_refresh(root: Path, home: Home, environ: Mapping[str, str] = os.environ) -> bool:
    """Starts a process that makes the index of a worktree, and does not wait for it. Returns whether the process was
    started."""
    path = find_hook_index(root, home)
    launch = build_lerim_launch(("hook-refresh", str(root)), sys.executable, {**environ, "LERIM_HOME": str(home.root)})
    quiet = subprocess.DEVNULL
    _running[:] = [process for process in _running if process.poll() is None]
    with contextlib.suppress(OSError):  # the next event of an agent tries again
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        wanted_marker(path).touch(0o600)
        process = subprocess.Popen(
            launch.argv,
            env=launch.environ,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            creationflags=launch.creationflags,
            start_new_session=launch.new_session,
        )
        _running.append(process)
        return True
    return False
