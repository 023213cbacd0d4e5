"""Sets up the organisation's database: its tables by numbered migrations, and two roles for each team."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from lerim.errors import OrgError
from lerim.patterns import compile_later
from lerim.team import SCHEMA, describe_address, describe_missing_vectors, open_database

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LOCK = 7_305_321
"""The advisory lock with which two set-ups at once take turns."""
_TEAM = compile_later(r"^[a-z][a-z0-9_]{0,30}\Z")
_FIRST_TEAM = "main"
"""The team of a database for which nobody has named one."""
_QUEUE_MIGRATION = (1, "queue")
"""Procrastinate's own tables; the other migrations are files."""
_NEEDED_EXTENSIONS = {"meaning": "vector"}
"""The migrations that are applied once the database has an extension, with its name."""

_WAIT_FOR_LOCKS = "SELECT set_config('lock_timeout', '10s', false) WHERE current_setting('lock_timeout') = '0'"
"""A set-up that waits for a lock makes all workers wait behind it. The address may have another time in its options."""
_NUMBERED = """
SELECT relname, array_agg(attname) FILTER (WHERE NOT is_number) FROM (
    SELECT relname, attname, attidentity <> '' OR coalesce(pg_get_expr(adbin, adrelid) LIKE 'nextval(%%', false)
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
    LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
    WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
) AS one (relname, attname, is_number) GROUP BY relname HAVING bool_or(is_number)
"""
"""The tables whose rows are numbered by the database, with their other columns."""
_LEAVE_NUMBERS = (
    "REVOKE INSERT, UPDATE ON {schema}.{table} FROM {worker}",
    "GRANT INSERT ({columns}), UPDATE ({columns}) ON {schema}.{table} TO {worker}",
)
"""The rows of all teams are numbered together: who could choose a number could take the one that another team's next
row would get."""


@dataclass(frozen=True, slots=True)
class SetUp:
    """What setting up did: the migrations applied now, and the roles of each team, earlier ones too, which the person
    grants to the users of the database. `note` says why memories are not found by meaning, "" if they are."""

    applied: tuple[str, ...]
    teams: tuple[str, ...]
    note: str


def set_up_database(url: str, teams: Sequence[str]) -> SetUp:
    """Brings the database to this version, and makes the roles of these teams. Teams it had before get their rights
    on new tables; without any team, it gets one named main. A second call changes nothing, unless the server has got
    an extension meanwhile, and two at once take turns. Raises OrgError, also if a later version has set it up."""
    for team in teams:
        check_team(team)
    with open_database(url) as connection:
        connection.execute(_WAIT_FOR_LOCKS.encode())
        with _take_turns(connection):
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
        migrations = list(_migrations())
        _require_no_later(connection, url, migrations[-1][0])
        applied = [f"{number:04} {name}" for number, name, text in migrations if _apply(connection, number, name, text)]
        every = tuple(dict.fromkeys([*teams, *_earlier_teams(connection)])) or (_FIRST_TEAM,)
        for team in every:
            _make_roles(connection, team)
        note = describe_missing_vectors(connection)
    return SetUp(tuple(applied), every, note)


def check_team(team: str) -> None:
    """Raises OrgError unless this can be a team's name: it becomes part of the names of roles."""
    if not _TEAM.match(team):
        todo = "Use up to 31 lower-case letters, digits and underscores, a letter first."
        raise OrgError("A team cannot have this name.", where=team, todo=todo)


def worker_role(team: str) -> str:
    """Returns the role that may read and write what is the team's."""
    return f"lerim_team_{team}_worker"


def reader_role(team: str) -> str:
    """Returns the role that may read what is the team's."""
    return f"lerim_team_{team}_reader"


def _migrations() -> Iterator[tuple[int, str, str]]:
    """Yields the number, the name and the text of each migration, in order."""
    from procrastinate.schema import SchemaManager

    number, name = _QUEUE_MIGRATION
    yield number, name, SchemaManager.get_schema()
    folder = resources.files("lerim.org") / "migrations"
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".sql"):
            number_text, _, name = file.name.removesuffix(".sql").partition("_")
            yield int(number_text), name, file.read_text(encoding="utf-8")


@contextmanager
def _take_turns(connection: psycopg.Connection) -> Iterator[None]:
    """A transaction that begins after every other set-up's has ended."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        yield


def _require_no_later(connection: psycopg.Connection, url: str, newest: int) -> None:
    """Raises OrgError if the database has a migration that this version does not know: its rights may differ, too."""
    row = connection.execute("SELECT to_regclass('migrations') IS NOT NULL").fetchone()
    if row and row[0] and connection.execute("SELECT 1 FROM migrations WHERE number > %s", (newest,)).fetchone():
        raise OrgError(
            "The database was set up by a later version of Lerim.",
            where=describe_address(url),
            todo="Update Lerim here: pip install --upgrade 'lerim[org]'.",
        )


def _apply(connection: psycopg.Connection, number: int, name: str, text: str) -> bool:
    """Applies one migration in a transaction, unless it was applied before. Returns whether it was now."""
    with _take_turns(connection):
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, name text NOT NULL,"
            " applied_at timestamptz NOT NULL DEFAULT now())"
        )
        if connection.execute("SELECT 1 FROM migrations WHERE number = %s", (number,)).fetchone():
            return False
        if name in _NEEDED_EXTENSIONS and not _add_extension(connection, _NEEDED_EXTENSIONS[name]):
            return False
        connection.execute(text.encode())
        connection.execute("INSERT INTO migrations (number, name) VALUES (%s, %s)", (number, name))
    return True


def _add_extension(connection: psycopg.Connection, name: str) -> bool:
    """Enables an extension if the server has it and this user may. Returns whether the database has it now. A
    problem with the extension does not keep the rest from being set up."""
    row = connection.execute(
        "SELECT installed_version IS NOT NULL FROM pg_available_extensions WHERE name = %s", (name,)
    ).fetchone()
    if row is None or row[0]:
        return row is not None
    statement = sql.SQL("CREATE EXTENSION {} SCHEMA {}").format(sql.Identifier(name), sql.Identifier(SCHEMA))
    with suppress(psycopg.DatabaseError), connection.transaction():
        connection.execute(statement)
        return True
    return False


def _earlier_teams(connection: psycopg.Connection) -> list[str]:
    """Returns the teams that this database was set up for. A server has the roles of its other databases, too."""
    rows = connection.execute(
        r"SELECT substring(rolname FROM '^lerim_team_(.+)_worker$') AS team FROM pg_roles"
        r" WHERE rolname ~ '^lerim_team_.+_worker$' AND has_schema_privilege(oid, %s, 'USAGE') ORDER BY team",
        (SCHEMA,),
    )
    return [team for (team,) in rows]


def _make_roles(connection: psycopg.Connection, team: str) -> None:
    """Makes the two roles of a team. Roles belong to the whole server, so another database may have made them
    already."""
    worker, reader = worker_role(team), reader_role(team)
    with _take_turns(connection):
        for role in (reader, worker):
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
                connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
        grants = (
            "GRANT {reader} TO {worker}",
            "GRANT USAGE ON SCHEMA {schema} TO {reader}",
            "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}",
            "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {worker}",
            "GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {worker}",
            "REVOKE INSERT, UPDATE, DELETE ON {schema}.migrations FROM {worker}",
        )
        names: dict[str, sql.Composable] = {
            "reader": sql.Identifier(reader),
            "worker": sql.Identifier(worker),
            "schema": sql.Identifier(SCHEMA),
        }
        for grant in grants:
            connection.execute(sql.SQL(grant).format(**names))
        for table, columns in connection.execute(_NUMBERED, (SCHEMA,)).fetchall():
            names |= {"table": sql.Identifier(table), "columns": sql.SQL(", ").join(map(sql.Identifier, columns))}
            for statement in _LEAVE_NUMBERS:
                connection.execute(sql.SQL(statement).format(**names))
