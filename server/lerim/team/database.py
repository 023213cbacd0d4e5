"""Connections to the organisation's database, the names of projects in it, and what its errors mean for a person."""

from __future__ import annotations

import atexit
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from lerim.errors import OrgError
from lerim.patterns import compile_later
from lerim.project import Project

SCHEMA = "lerim"
"""The PostgreSQL schema that holds everything of ours, and Procrastinate's tables."""
CONNECT_SECONDS = 10
CUT_OFF = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""When a connection counts as broken although nobody closed it: after about half a minute of silence."""
KEEP_SECONDS = 60.0
"""How long to keep trying to store what was paid for or done while the database is away."""

OLDER_SCHEMA = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.InvalidSchemaName,
)
"""What the database says if it was not set up for this version."""

Returned = TypeVar("Returned")
_SCHEME = re.compile(r"^(?:[a-z+]+://)?(?:[^@/]{1,100}@)?")
_ESCAPED_NUL = compile_later(r"(?<!\\)((?:\\\\){0,1000})\\u0000")


@dataclass(frozen=True, slots=True)
class TeamDatabase:
    """The address of the organisation's database, and the team that is worked for."""

    url: str
    team: str

    @property
    def address(self) -> str:
        """The connection string, for a connection that is not made by this module."""
        return make_address(self.url, self.team)

    @contextmanager
    def open(self) -> Iterator[psycopg.Connection]:
        """Lends a connection for the length of the block, each statement in a transaction of its own. It is used again,
        because connecting takes longer than what most blocks do. Raises OrgError, also for what the database refuses
        within the block."""
        with convert_errors(self.url):
            connection = _take_connection(self.address)
            try:
                yield connection
            finally:
                _give_back(self.address, connection)

    def execute(self, statement: str, values: tuple[object, ...]) -> None:
        """Executes one statement in a connection of its own. Raises OrgError."""
        with self.open() as connection:
            connection.execute(statement.encode(), values)

    @property
    def shared_queue(self) -> str:
        """The queue whose jobs any worker of the team can do."""
        return f"{self.team}/*"

    def host_queue(self, host: str) -> str:
        """Returns the queue whose jobs need the transcripts of this machine, or the copies in the folder of this
        name."""
        return f"{self.team}/{host}"


_idle: list[tuple[str, psycopg.Connection]] = []
"""Open connections of this process that nobody uses, each with its address; appending and removing are atomic."""
MAX_IDLE = 8


def _take_connection(address: str) -> psycopg.Connection:
    """Returns a connection that works: one that was used before, unless the database has ended it meanwhile."""
    for one in [one for one in _idle if one[0] == address]:
        with suppress(ValueError):  # another thread was faster
            _idle.remove(one)
            with suppress(psycopg.Error):
                one[1].execute("")
                return one[1]
            one[1].close()
    return psycopg.connect(address, autocommit=True)


def _give_back(address: str, connection: psycopg.Connection) -> None:
    if connection.closed or connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        connection.close()
        return
    _idle.append((address, connection))
    if len(_idle) > MAX_IDLE:
        with suppress(IndexError):
            _idle.pop(0)[1].close()


@atexit.register
def _close_idle() -> None:
    while _idle:
        _idle.pop()[1].close()


def choose_team(url: str, named: str) -> TeamDatabase:
    """Returns the database with the named team, or with the only one that its user works for. Raises OrgError."""
    with open_database(url) as connection:
        row = connection.execute("SELECT writable_teams(), readable_teams()").fetchone()
    writable, readable = row or ([], [])
    teams = sorted({*writable, *readable})
    if not named and len(teams) == 1:
        return TeamDatabase(url, str(teams[0]))
    if named in teams:
        return TeamDatabase(url, named)
    where = describe_address(url)
    if named or not teams:
        message = f"The database user is not in the team {named}." if named else "The database user is in no team."
        raise OrgError(message, where=where, todo="Ask for one of the roles that `lerim org init` names.")
    raise OrgError(
        f"The database user is in several teams: {', '.join(teams)}.", where=where, todo="Name one with --team."
    )


def make_address(url: str, team: str = "") -> str:
    """Returns the address as a connection string for connections that use our schema; workers that connect with it
    belong to the team. Raises OrgError if it is not valid."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise OrgError(
            "This is not the address of a PostgreSQL database.",
            todo="Name one such as postgresql://lerim@db.example.org/lerim.",
        ) from error
    parts = {"connect_timeout": CONNECT_SECONDS, "application_name": "lerim", **CUT_OFF, **parts}
    options = f"{parts.pop('options', None) or ''} -c search_path={SCHEMA},pg_catalog -c timezone=UTC"
    if team:
        options += f" -c lerim.team={team}"
    return make_conninfo("", options=options.strip(), **parts)


def describe_address(url: str) -> str:
    """Returns the host and the name of the database, without user and password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return "the database"
    return f"{parts.get('host') or 'local socket'}/{parts.get('dbname') or parts.get('user') or ''}"


def keep_trying(act: Callable[[], Returned]) -> Returned:
    """Calls `act`, which stores what must not be lost, and returns its result. While the database is away, it is
    called again, so it must be harmless to call it twice. Raises OrgError after `KEEP_SECONDS`."""
    end = time.monotonic() + KEEP_SECONDS
    while True:
        try:
            return act()
        except OrgError as error:
            if time.monotonic() > end or not isinstance(error.__cause__, psycopg.OperationalError):
                raise
            time.sleep(0.5)


def make_storable(text: str) -> str:
    """Returns a text without the characters that PostgreSQL does not store."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def make_storable_json(text: str) -> str:
    """Returns JSON without the escaped characters that PostgreSQL does not store in a `jsonb`."""
    return _ESCAPED_NUL.sub(lambda found: found[1], text)


@contextmanager
def open_database(url: str) -> Iterator[psycopg.Connection]:
    """Connects for the length of the block, each statement in a transaction of its own. Raises OrgError, also for what
    the database refuses within the block."""
    with convert_errors(url), psycopg.connect(make_address(url), autocommit=True) as connection:
        yield connection


@contextmanager
def convert_errors(url: str) -> Iterator[None]:
    """Turns errors of the database into OrgError. A message of the server may quote a value, so only its kind is
    reported."""
    where = describe_address(url)
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise OrgError(
            "The database user is not allowed to do this.",
            where=where,
            todo="Ask whoever runs the database for the role of your team: `lerim org init` names it.",
        ) from error
    except OLDER_SCHEMA as error:
        raise OrgError(
            "The database is not set up for this version of Lerim.", where=where, todo="Run `lerim org init`."
        ) from error
    except psycopg.errors.LockNotAvailable as error:
        raise OrgError(
            "Another connection has locked what is to be changed.",
            where=where,
            todo="Try again later, or end that connection: `SELECT * FROM pg_locks` names it.",
        ) from error
    except psycopg.OperationalError as error:
        raise OrgError(
            "The database cannot be reached, or it ended the connection.",
            where=where,
            todo="Check its address, its password and whether it runs; what was finished is kept.",
        ) from error
    except UnicodeEncodeError as error:
        raise OrgError("The database takes no text that is not valid Unicode.", where=where) from error
    except psycopg.Error as error:
        raise OrgError(f"The database refused a statement: {type(error).__name__}.", where=where) from error


def name_project(project: Project) -> str:
    """Returns the name that a project has on all machines: its remote as host/path. Without a remote it is known to
    this machine only."""
    if not project.remote:
        return f"local:{project.key}"
    return _SCHEME.sub("", project.remote).removesuffix("/").removesuffix(".git").replace(":", "/", 1).lower()
