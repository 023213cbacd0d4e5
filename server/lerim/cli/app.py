"""The `lerim` command: registers the commands, of which each group has its own module.

docs/PROTOCOL.md documents the JSON objects that they print.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from lerim import __version__
from lerim.cli.agents import agents_app
from lerim.cli.ask import ask_command
from lerim.cli.backfill import backfill_command
from lerim.cli.benefit import benefit_command
from lerim.cli.config import config_app
from lerim.cli.connect import connect_app
from lerim.cli.daemon import down_command, logs_command, up_command
from lerim.cli.export import export_command
from lerim.cli.importing import import_command
from lerim.cli.journal import journal_command
from lerim.cli.maintain import maintain_command
from lerim.cli.mcp import mcp_command
from lerim.cli.memory import memory_app
from lerim.cli.model import model_app
from lerim.cli.project import project_app
from lerim.cli.queue import queue_app
from lerim.cli.review import review_app
from lerim.cli.serve import dashboard_command, serve_command
from lerim.cli.session_turns import export_session_command, facts_command
from lerim.cli.sessions import sessions_app
from lerim.cli.stats import stats_command
from lerim.cli.status import status_command
from lerim.cli.sync import sync_command
from lerim.cli.terminal import CommandGroup, RootCommandGroup, output

app = typer.Typer(
    name="lerim",
    cls=RootCommandGroup,
    help="Lerim finds the decisions and lessons in your coding-agent sessions. You review them; accepted ones are kept "
    "as markdown in the repository.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 partly done, 4 another process is busy with the project.",
)
sessions_app.command("facts")(facts_command)
sessions_app.command("export")(export_session_command)
app.command("sync")(sync_command)
app.command("ask")(ask_command)
app.command("maintain")(maintain_command)
app.command("journal")(journal_command)
app.command("backfill")(backfill_command)
app.command("status")(status_command)
app.command("stats")(stats_command)
app.command("export")(export_command)
app.command("import")(import_command)
app.command("benefit")(benefit_command)
app.command("mcp")(mcp_command)
app.command("serve")(serve_command)
app.command("dashboard")(dashboard_command)
app.command("up")(up_command)
app.command("down")(down_command)
app.command("logs")(logs_command)
app.add_typer(review_app, name="review", cls=CommandGroup)
app.add_typer(memory_app, name="memory", cls=CommandGroup)
app.add_typer(sessions_app, name="sessions", cls=CommandGroup)
app.add_typer(project_app, name="project", cls=CommandGroup)
app.add_typer(connect_app, name="connect", cls=CommandGroup)
app.add_typer(agents_app, name="agents", cls=CommandGroup)
app.add_typer(queue_app, name="queue", cls=CommandGroup)
app.add_typer(config_app, name="config", cls=CommandGroup)
app.add_typer(model_app, name="model", cls=CommandGroup)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        output.print_line(f"lerim {__version__}")
        raise typer.Exit


@app.callback()
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
            app(args=list(argv), prog_name="lerim")
        except SystemExit as system_exit:
            return system_exit.code if isinstance(system_exit.code, int) else 1 if system_exit.code else 0
    return 0
