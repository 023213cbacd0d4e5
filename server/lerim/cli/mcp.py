"""`lerim mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def mcp_command(
    repo: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A folder in the repository.", show_default="the working directory"),
    ] = None,
) -> None:
    """Serve this repository's memories to a coding agent over MCP, on standard input and output.

    The agent starts it: register the command `lerim mcp` with the agent as an MCP server.
    """
    from lerim.mcp import main

    raise typer.Exit(main(str(repo) if repo is not None else ""))
