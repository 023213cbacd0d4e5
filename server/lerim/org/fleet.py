"""One budget and one rate for all workers of a team, as rows of the database.

Before a call a token is taken from the bucket of its model and the most it may cost is reserved, in one transaction.
Where there is no token or no money, nobody waits: the job is scheduled again. A service that asks for patience slows
the whole fleet.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import msgspec
import psycopg

from lerim.errors import OrgError
from lerim.models import Model, Reservation, Usage, too_dear_error, unpriced_error, worst_cost
from lerim.org.database import TeamDatabase, keep_trying

BURST_SECONDS = 10.0
"""The bucket holds the tokens of so many seconds, and at least one."""

_LEVEL = """
SELECT least(%(capacity)s, calls_left + greatest(0, extract(epoch FROM clock_timestamp() - counted_at)) * %(second)s),
    paused_until, paused_until > clock_timestamp(), clock_timestamp()
FROM rates WHERE team = %(team)s AND model = %(model)s FOR UPDATE
"""


class FleetBusyError(OrgError):
    """No call may be made before `at`, a time of the database."""

    def __init__(self, at: datetime, message: str, *, is_fault: bool = False) -> None:
        self.at, self.is_fault = at, is_fault
        super().__init__(message)


class Limits(msgspec.Struct, frozen=True):
    """What all workers of a team may do together; 0 for no limit."""

    dollars_per_day: float
    calls_per_minute: int


@dataclass(frozen=True, slots=True)
class FleetBudget:
    """What the calls of one extraction are paid from: the team's budget, at the team's rate."""

    database: TeamDatabase
    key: str

    def reserve(
        self, model: Model, input_tokens: int, most_output_tokens: int, cancelled: Callable[[], bool]
    ) -> Reservation:
        """Take a token and reserve the most that a call may cost. Raises FleetBusyError if there is none left now,
        TooDearError if no day's budget allows the call, SpendingError if its price is not known, OrgError."""
        most = worst_cost(model.name, input_tokens, most_output_tokens) if model.billed else 0.0
        with self.database.open() as connection, connection.transaction():
            limits = _lock_limits(connection, self.database.team)
            if limits.dollars_per_day and most is None:
                raise unpriced_error(model.label)
            if 0 < limits.dollars_per_day < (most or 0.0):
                raise too_dear_error(model, limits.dollars_per_day, most or 0.0)
            _check_budget(connection, self.database.team, limits, most or 0.0)
            _take_token(connection, self.database.team, model.label, limits)
            row = connection.execute(
                "INSERT INTO calls (team, model, key, dollars) VALUES (%s, %s, %s, %s) RETURNING id",
                (self.database.team, model.label, self.key, Decimal(most or 0.0)),
            ).fetchone()
        return Reservation(row[0] if row else 0)

    def settle(self, reservation: Reservation, usage: Usage | None, cancelled: Callable[[], bool]) -> None:
        """Replace a reservation with what the call cost. If the database stays away, the reservation stays."""
        if usage is None:
            return
        values = (Decimal(usage.cost), usage.input_tokens, usage.output_tokens, reservation.row)
        try:
            keep_trying(
                lambda: self.database.execute(
                    "UPDATE calls SET settled = true, dollars = %s, input_tokens = %s, output_tokens = %s"
                    " WHERE id = %s",
                    values,
                )
            )
        except OrgError:
            return

    def pause(self, model: str, seconds: float) -> datetime:
        """Let no worker of the team call the model for so long. Return until when. Raises OrgError."""
        with self.database.open() as connection:
            row = connection.execute(
                "INSERT INTO rates (team, model, calls_left, paused_until)"
                " VALUES (%s, %s, 0, now() + make_interval(secs => %s)) ON CONFLICT (team, model) DO UPDATE SET"
                " calls_left = 0, counted_at = now(),"
                " paused_until = greatest(rates.paused_until, excluded.paused_until)"
                " RETURNING paused_until",
                (self.database.team, model, seconds),
            ).fetchone()
        assert row is not None
        paused_until: datetime = row[0]
        return paused_until


def set_limits(database: TeamDatabase, dollars_per_day: float | None, calls_per_minute: int | None) -> Limits:
    """Set those limits that are given, and return all. Raises OrgError."""
    with database.open() as connection, connection.transaction():
        if dollars_per_day is not None or calls_per_minute is not None:
            _lock_limits(connection, database.team)
            connection.execute(
                "UPDATE budgets SET dollars_per_day = coalesce(%s, dollars_per_day),"
                " calls_per_minute = coalesce(%s, calls_per_minute) WHERE team = %s",
                (dollars_per_day, calls_per_minute, database.team),
            )
        return _load_limits(connection, database.team, "")


def _lock_limits(connection: psycopg.Connection, team: str) -> Limits:
    """Return the team's limits, with its row locked: reservations of a team take turns."""
    connection.execute("INSERT INTO budgets (team) VALUES (%s) ON CONFLICT DO NOTHING", (team,))
    return _load_limits(connection, team, " FOR UPDATE")


def _load_limits(connection: psycopg.Connection, team: str, lock: str) -> Limits:
    row = connection.execute(
        f"SELECT dollars_per_day::float8, calls_per_minute FROM budgets WHERE team = %s{lock}".encode(), (team,)
    ).fetchone()
    return Limits(*row) if row else Limits(0.0, 0)


def _check_budget(connection: psycopg.Connection, team: str, limits: Limits, most: float) -> None:
    if not limits.dollars_per_day:
        return
    row = connection.execute(
        "SELECT coalesce(sum(dollars), 0)::float8, (current_date + 1)::timestamptz FROM calls"
        " WHERE team = %s AND day = current_date",
        (team,),
    ).fetchone()
    assert row is not None
    if row[0] + most > limits.dollars_per_day:
        message = f"Today's budget of ${limits.dollars_per_day:.2f} is spent or reserved; the work goes on tomorrow."
        raise FleetBusyError(row[1], message)


def _take_token(connection: psycopg.Connection, team: str, model: str, limits: Limits) -> None:
    second = limits.calls_per_minute / 60
    capacity = max(1.0, second * BURST_SECONDS)
    insert = "INSERT INTO rates (team, model, calls_left) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
    connection.execute(insert, (team, model, capacity))
    values = {"team": team, "model": model, "capacity": capacity, "second": second}
    row = connection.execute(_LEVEL, values).fetchone()
    assert row is not None
    level, paused_until, is_paused, now = row
    if is_paused:
        raise FleetBusyError(paused_until, "The service asked all workers to wait.")
    if limits.calls_per_minute and level < 1:
        row = connection.execute(  # spread, so that not everybody comes at once for the next token
            "SELECT %s::timestamptz + make_interval(secs => %s)", (now, (1 - level) / second * (1 + random.random()))
        ).fetchone()
        assert row is not None
        raise FleetBusyError(row[0], "All calls of this minute are made.")
    connection.execute(
        "UPDATE rates SET calls_left = %s, counted_at = %s WHERE team = %s AND model = %s",
        (level - 1 if limits.calls_per_minute else capacity, now, team, model),
    )
