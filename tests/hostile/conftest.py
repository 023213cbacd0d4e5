"""A desk (repository, home, agents' sessions) for days on which everything goes wrong, and windows and terminals."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

import terminal as command_line
from desk import Desk
from rights import Terminal, close
from stories import FIRST
from story_stores import AGENTS
from window import Editor, opened, opened_in_thread


@pytest.fixture
def machine(desk: Desk, isolated: Path) -> Desk:
    """A person who used every agent in this repository."""
    for agent, write in AGENTS.items():
        write(isolated, desk.repo, f"good-{agent}", FIRST)
    return desk


@pytest.fixture
def terminal(repo: Path) -> Terminal:
    """`terminal("sync", "--json")` runs `lerim` in this process, in the repository or in the folder `cwd`."""

    def run(*arguments: str, cwd: Path = repo) -> subprocess.CompletedProcess[str]:
        with contextlib.chdir(cwd):
            done = command_line.run(*arguments)
        return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    return run


@pytest_asyncio.fixture
async def window(repo: Path, isolated: Path) -> AsyncIterator[Callable[..., object]]:
    """`await window()` opens a window with a sidecar of its own in the repository, or in the folder `root`. The sidecar
    is a process where the test is about one (`process`, or a command `through` which it starts), else a thread."""
    async with AsyncExitStack() as stack:

        async def open_one(
            root: Path = repo, *, trusted: bool = True, process: bool = False, through: Sequence[str] = ()
        ) -> Editor:
            sidecar = opened(root, through) if process or through else opened_in_thread(root)
            editor = await stack.enter_async_context(sidecar)
            settings = {"idleSeconds": 0, "codeLens": "file"}
            await editor.start({"trusted": trusted, "settings": settings}, root=root)
            return editor

        yield open_one


@pytest.fixture
def closed() -> Iterator[Callable[..., None]]:
    """`closed(folder, …)` makes folders read-only, until the test is over."""
    shut: list[Path] = []

    def shut_them(*folders: Path) -> None:
        shut.extend(folders)
        close(*folders)

    yield shut_them
    close(*shut, mode=0o755)
