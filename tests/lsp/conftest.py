"""A real sidecar process on a small repository, spoken to as an editor does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from isolation import isolate
from window import Editor, Visitor, opened


@pytest_asyncio.fixture
async def editor(repo: Path, isolated: Path) -> AsyncIterator[Editor]:
    """An editor with a server started in the test's repository; `start` it in the test."""
    async with opened(repo) as one:
        yield one


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the server that serves a module."""
    return tmp_path_factory.mktemp("home")


@pytest_asyncio.fixture(scope="module")
async def sidecar(home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """One started server for all tests of a module, with no folder open."""
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, home)
        async with opened(tmp_path_factory.mktemp("window")) as one:
            await one.start()
            yield one


@pytest_asyncio.fixture
async def visitor(sidecar: Editor, repo: Path) -> AsyncIterator[Editor]:
    """An editor in the test's repository, whose server serves all tests of the module: for those that only read. Its
    home is `home`."""
    one = Visitor(sidecar, repo)
    yield one
    one.leave()
