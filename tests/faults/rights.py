"""Folders that are closed to us, even to root, and what was written into folders meanwhile."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
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


@contextlib.contextmanager
def bound() -> Iterator[None]:
    """Inside, permissions bind this thread as they bind any owner of a file, root too; skips where that cannot be."""
    if sys.platform == "win32":
        pytest.skip("this system has other permissions")
    if os.geteuid():
        yield
        return
    if sys.platform != "linux":
        pytest.skip("nothing is closed to root here")
    before = _capabilities()
    _set_capabilities([before[0] & ~_READS_ALL, *before[1:]])
    try:
        yield
    finally:
        _set_capabilities(before)


_READS_ALL = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)  # of capget(2): the 64-bit form, this thread


def _capabilities() -> list[int]:
    """Effective, permitted, inheritable: the low half, then the high half."""
    found = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None).capget(_HEADER, found):
        pytest.skip("the rights of this thread cannot be seen")
    return list(found)


def _set_capabilities(wanted: list[int]) -> None:
    if ctypes.CDLL(None).capset(_HEADER, (ctypes.c_uint32 * 6)(*wanted)):
        pytest.skip("the rights of this thread cannot be changed")


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
