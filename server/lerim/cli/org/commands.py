"""The group `lerim org`, and `lerim org init`."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from lerim.cli.org.backfill import backfill_command
from lerim.cli.org.team_memory import propose_command, search_command, share_command
from lerim.cli.org.work import (
    cancel_command,
    limits_command,
    pull_command,
    retry_command,
    status_command,
    worker_command,
)
from lerim.cli.terminal import JsonOption, output, require_extra, with_error_exit
from lerim.team import DATABASE_VARIABLE


class SetUpOutput(msgspec.Struct, frozen=True):
    """What `org init --json` prints: the migrations applied now, the two roles of each team, and the reason why
    memories are not found by meaning, "" if they are."""

    applied: list[str]
    teams: list[TeamOutput]
    note: str


class TeamOutput(msgspec.Struct, frozen=True):
    """A team and its roles: a member of `worker` can read and write the team's data, a member of `reader` can only
    read it."""

    team: str
    worker: str
    reader: str


@with_error_exit
def init_command(
    database: Annotated[
        str,
        typer.Argument(
            metavar="DATABASE_URL",
            envvar=DATABASE_VARIABLE,
            help="Such as postgresql://lerim@db.example.org/lerim. Keep its password in ~/.pgpass.",
        ),
    ],
    teams: Annotated[
        list[str],
        typer.Option(
            "--team",
            metavar="NAME",
            help="A team that will use it. Can be repeated. Existing teams stay. Without any, one called main is made.",
        ),
    ] = [],  # noqa: B006 - typer reads it and changes nothing
    as_json: JsonOption = False,
) -> None:
    """Set up the organisation's database, or upgrade it to this version: its tables, and two roles for each team, which
    keep the teams apart. You can run it again at any time."""
    require_extra("org")
    from lerim.org import reader_role, set_up_database, worker_role

    done = set_up_database(database, teams)
    roles = [TeamOutput(team, worker_role(team), reader_role(team)) for team in done.teams]
    if as_json:
        output.show_json(SetUpOutput(list(done.applied), roles, done.note))
        return
    output.print_line(f"Applied: {', '.join(done.applied)}." if done.applied else "The database was up to date.")
    for one in roles:
        output.print_line(f"Team {one.team}: GRANT {one.worker} TO its workers' user, {one.reader} TO its readers'.")
    if done.note:
        output.print_note(done.note)


org_app = typer.Typer(
    help="Work through an organisation's past, with many machines and workers and one PostgreSQL database.",
    epilog="It needs `pip install 'lerim[org]'`; docs/ORG.md says what is stored where.",
    no_args_is_help=True,
)
org_app.command("init")(init_command)
org_app.command("backfill")(backfill_command)
org_app.command("worker")(worker_command)
org_app.command("limits")(limits_command)
org_app.command("status")(status_command)
org_app.command("pull")(pull_command)
org_app.command("share")(share_command)
org_app.command("propose")(propose_command)
org_app.command("search")(search_command)
org_app.command("retry")(retry_command)
org_app.command("cancel")(cancel_command)
