"""Folders that are closed to us, even to root, and what was written into folders meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Terminal = Callable[..., "subprocess.CompletedProcess[str]"]
"""Runs a `lerim` command; `tests/hostile/conftest.py` makes it."""


def without_rights() -> list[str]:
    """A command that starts a program to which files closed to their owner are closed; skips where there is none."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("nothing is closed to root, and there is no setpriv to give its rights away")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


def close(*folders: Path, mode: int = 0o555) -> None:
    """Takes the right to write from everything below these folders, or gives it back."""
    for folder in folders:
        for path in (*folder.rglob("*"), folder):
            if not path.is_symlink():
                path.chmod(mode if path.is_dir() else mode & 0o666)


def tree(*folders: Path) -> dict[str, tuple[int, int, int]]:
    """What is there below these folders, so that two looks can be compared: nothing was written between equal ones."""
    found: dict[str, tuple[int, int, int]] = {}
    for folder in folders:
        for path in (*folder.rglob("*"), folder):
            state = path.lstat()
            found[str(path)] = (state.st_mode, state.st_size, state.st_mtime_ns)
    return found
