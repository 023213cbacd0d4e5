"""A sidecar on a small repository, spoken to as an editor does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from window import Editor, opened, opened_in_thread


@pytest_asyncio.fixture
async def editor(repo: Path, isolated: Path) -> AsyncIterator[Editor]:
    """An editor with a server started in the test's repository; `start` it in the test."""
    async with opened_in_thread(repo) as one:
        yield one


@pytest_asyncio.fixture
async def process_editor(repo: Path, isolated: Path) -> AsyncIterator[Editor]:
    """The same with a server process, for tests that are about the process."""
    async with opened(repo) as one:
        yield one
