"""A desk (repository, home, agents' sessions) for days on which everything goes wrong, and windows and terminals."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from desk import Desk
from lerim.paths import Home
from window import Editor, opened, server_environ

Terminal = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def desk(repo: Path, isolated: Path) -> Desk:
    return Desk(repo, Home(isolated / ".lerim"), isolated / ".claude" / "projects")


@pytest.fixture
def terminal(repo: Path) -> Terminal:
    """`terminal("sync", "--json")` runs `lerim` in the repository, or in the folder `cwd`."""

    def run(*arguments: str, cwd: Path = repo, limit: float = 60) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "lerim", *arguments]
        return subprocess.run(
            command, cwd=cwd, env=server_environ(), capture_output=True, text=True, timeout=limit, check=False
        )

    return run


@pytest_asyncio.fixture
async def window(repo: Path, isolated: Path) -> AsyncIterator[Callable[..., object]]:
    """`await window()` opens a window with a sidecar of its own in the repository, or in the folder `root`."""
    async with AsyncExitStack() as stack:

        async def open_one(root: Path = repo, *, trusted: bool = True, start: bool = True) -> Editor:
            editor = await stack.enter_async_context(opened(root))
            if start:
                await editor.start({"trusted": trusted, "settings": {"idleSeconds": 0}}, root=root)
            return editor

        yield open_one


def tree(*folders: Path) -> dict[str, tuple[int, int, int]]:
    """What is there below these folders, so that two looks can be compared: nothing was written between equal ones."""
    found: dict[str, tuple[int, int, int]] = {}
    for folder in folders:
        for top, names, files in os.walk(folder):
            for name in (*names, *files):
                state = os.lstat(os.path.join(top, name))
                found[os.path.join(top, name)] = (state.st_mode, state.st_size, state.st_mtime_ns)
    return found
