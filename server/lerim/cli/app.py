"""The `lerim` command: registers the commands. Each group of commands has its own module.

docs/PROTOCOL.md documents the JSON objects that they print.
"""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from lerim import __version__
from lerim.cli.terminal import CommandGroup, RootCommandGroup, output

_COMMANDS = {
    "sync": "jobs:sync_command",
    "ask": "ask:ask_command",
    "maintain": "jobs:maintain_command",
    "journal": "journal:journal_command",
    "backfill": "jobs:backfill_command",
    "status": "status:status_command",
    "check": "check:check_command",
    "stats": "stats:stats_command",
    "export": "export:export_command",
    "import": "importing:import_command",
    "benefit": "benefit:benefit_command",
    "mcp": "mcp:mcp_command",
    "serve": "server:serve_command",
    "dashboard": "server:dashboard_command",
    "up": "server:up_command",
    "down": "server:down_command",
    "logs": "server:logs_command",
    "review": "review:review_app",
    "memory": "memory:memory_app",
    "sessions": "sessions:sessions_app",
    "project": "project:project_app",
    "connect": "connect:connect_app",
    "agents": "agents:agents_app",
    "queue": "sessions:queue_app",
    "config": "config:config_app",
    "model": "model:model_app",
    "org": "org:org_app",
}
"""Each command or group, in the order of `lerim --help`: its module in this package, and its name in that module."""


def make_app(only: str = "") -> typer.Typer:
    """Returns the command line, with all commands or only one: importing the others takes most of the time of a short
    command."""
    app = typer.Typer(
        name="lerim",
        cls=RootCommandGroup,
        help="Lerim finds the decisions and learnings in your coding-agent sessions. You review them; accepted ones "
        "are kept as markdown in the repository.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        epilog="Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 partly done, 4 another process is busy with the project.",
    )
    app.callback()(_configure_streams)
    for name in [only] if only else _COMMANDS:
        module, _, attribute = _COMMANDS[name].partition(":")
        command = getattr(importlib.import_module(f"lerim.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, cls=CommandGroup)
        else:
            app.command(name)(command)
    return app


def _print_version(is_requested: bool) -> None:
    if is_requested:
        output.print_line(f"lerim {__version__}")
        raise typer.Exit


def _configure_streams(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console or pipe with another encoding must not make a command fail
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def main(argv: Sequence[str]) -> int:
    """Runs the command line with these arguments; returns the exit code."""
    try:
        code = _run_app(argv)
        output.flush_output()
    except output.OutputError as error:
        output.show_error(error, as_json=False)
        return error.exit_code
    return code


def _run_app(argv: Sequence[str]) -> int:
    with output.ignore_closed_pipe():
        try:
            make_app(argv[0] if argv and argv[0] in _COMMANDS else "")(args=list(argv), prog_name="lerim")
        except SystemExit as system_exit:
            return system_exit.code if isinstance(system_exit.code, int) else 1 if system_exit.code else 0
    return 0
