"""The database and the team that the commands of `lerim org` work with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lerim.cli.terminal import require_extra
from lerim.errors import UsageError
from lerim.team import DATABASE_VARIABLE, TEAM_VARIABLE

if TYPE_CHECKING:
    from lerim.team import TeamDatabase

DatabaseOption = Annotated[
    str,
    typer.Option(
        "--database",
        metavar="URL",
        envvar=DATABASE_VARIABLE,
        show_envvar=True,
        help="The address of the database. Keep its password in ~/.pgpass.",
    ),
]
TeamOption = Annotated[
    str,
    typer.Option(
        "--team",
        metavar="NAME",
        envvar=TEAM_VARIABLE,
        show_envvar=True,
        show_default="the only one",
        help="The team to work for.",
    ),
]


def choose_database(database: str, team: str) -> TeamDatabase:
    """Returns the database with the chosen team. Raises OrgError, and UsageError if no database is named."""
    require_extra("org")
    from lerim.team import choose_team

    if not database:
        todo = "Use --database, or set LERIM_DATABASE_URL. `lerim org init` sets a database up."
        raise UsageError("No database was given.", where="--database", todo=todo)
    return choose_team(database, team)
