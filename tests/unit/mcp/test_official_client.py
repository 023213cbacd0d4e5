"""Our MCP server, started as a command and spoken to by the client of the protocol's authors."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from lerim.paths import Home
from lerim.project import locate_project
from lerim.review import ReviewPaths, queue


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_client_of_the_protocols_authors_lists_and_calls_the_tools(
    repo: Path, mode: Literal["auto", "legacy"]
) -> None:
    from mcp.types import TextContent

    from mcp import Client, StdioServerParameters  # importing it takes a second, which other workers do without

    project = locate_project(repo, Home.from_environ(os.environ))
    assert project is not None
    queue.add_memory(ReviewPaths(project, Home.from_environ(os.environ)), "decision", "Loading is lazy", "")
    environ = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    server = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "lerim", "mcp", "--repo", str(repo)], env=environ
    )
    progress: list[Any] = []

    async def on_progress(done: float, _total: float | None, message: str | None) -> None:
        progress.append((done, message))

    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["recall", "why", "sessions", "propose"]
        assert tools[0].annotations is not None and tools[0].annotations.read_only_hint
        result = await client.call_tool("recall", {"question": "loading?"}, progress_callback=on_progress)
        [content] = result.content
        assert isinstance(content, TextContent) and "Loading is lazy" in content.text
        assert not result.is_error and result.structured_content is None
        failed = await client.call_tool("recall", {})
        assert failed.is_error
    assert progress
