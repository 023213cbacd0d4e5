"""One budget and one rate for all workers of a team, as rows of the database.

Before a call, a token is taken from the bucket of its model and the most that the call may cost is reserved, in one
statement. If no token or no money is left, no worker waits: the job is scheduled again. A service that asks to wait
slows down the whole fleet.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import msgspec

from lerim.errors import OrgError
from lerim.models import Model, Reservation, Usage, too_dear_error, unpriced_error, worst_cost
from lerim.team import TeamDatabase, keep_trying

_RESERVE = "SELECT call, refused, free_at, dollars_per_day FROM reserve_call(%s, %s, %s, %s)"
_ANSWERED_OTHERS = """
WITH recent AS (
    SELECT id, key, output_tokens > 0 AS is_answered FROM calls
    WHERE team = %(team)s AND model = %(model)s AND day >= current_date - 1),
last_own AS (SELECT id, is_answered FROM recent WHERE key = %(key)s ORDER BY id DESC LIMIT 2)
SELECT count(*) = 2 AND NOT bool_or(is_answered) AND EXISTS (
    SELECT 1 FROM recent WHERE key <> %(key)s AND is_answered AND id > (SELECT min(id) FROM last_own))
FROM last_own
"""
MOST_PAUSE_SECONDS = 86_400.0
_BUSY = {
    "spent": "Today's budget of ${per_day:.2f} is spent or reserved; the work continues tomorrow.",
    "paused": "The service asked all workers to wait.",
    "no token": "The limit of model calls a minute is reached.",
}


class FleetBusyError(OrgError):
    """No call may be made before `at`, a time of the database. `is_try`: the session may be the reason."""

    def __init__(self, at: datetime, message: str, *, is_try: bool = False) -> None:
        self.at, self.is_try = at, is_try
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
        """Takes a token and reserves the most that a call may cost. Raises FleetBusyError if there is none left now,
        TooDearError if no day's budget allows the call, SpendingError if its price is not known, OrgError."""
        most = worst_cost(model.name, input_tokens, most_output_tokens) if model.billed else 0.0
        values = (self.database.team, model.label, self.key, None if most is None else Decimal(most))
        with self.database.open() as connection:
            row = connection.execute(_RESERVE, values).fetchone()
        assert row is not None
        call, refused, free_at, per_day = row
        if not refused:
            return Reservation(call)
        if refused == "unpriced":
            raise unpriced_error(model.label)
        if refused == "too dear":
            raise too_dear_error(model, per_day, most or 0.0)
        raise FleetBusyError(free_at, _BUSY[refused].format(per_day=per_day))

    def settle(self, reservation: Reservation, usage: Usage | None, cancelled: Callable[[], bool]) -> None:
        """Replaces a reservation with what the call cost. If the database stays away, the reservation stays."""
        if usage is None:
            return
        values = (Decimal(usage.cost), usage.input_tokens, usage.output_tokens, reservation.row)
        statement = "UPDATE calls SET settled = true, dollars = %s, input_tokens = %s, output_tokens = %s WHERE id = %s"
        with suppress(OrgError):
            keep_trying(lambda: self.database.execute(statement, values))

    def may_be_reason(self, model: str) -> bool:
        """Returns whether this extraction may be why the service failed: between its last two calls, both without an
        answer, the service answered others. In an outage it answers nobody. Raises OrgError."""
        values = {"team": self.database.team, "model": model, "key": self.key}
        with self.database.open() as connection:
            row = connection.execute(_ANSWERED_OTHERS.encode(), values).fetchone()
        return row is not None and row[0]

    def pause(self, model: str, seconds: float) -> datetime:
        """Keeps every worker of the team from calling the model for this many seconds, at most a day: a service may
        ask for anything. Returns until when. Raises OrgError."""
        with self.database.open() as connection:
            row = connection.execute(
                "INSERT INTO rates (team, model, calls_left, paused_until)"
                " VALUES (%s, %s, 0, now() + make_interval(secs => %s)) ON CONFLICT (team, model) DO UPDATE SET"
                " calls_left = 0, counted_at = now(),"
                " paused_until = greatest(rates.paused_until, excluded.paused_until)"
                " RETURNING paused_until",
                (self.database.team, model, min(seconds, MOST_PAUSE_SECONDS)),
            ).fetchone()
        assert row is not None
        paused_until: datetime = row[0]
        return paused_until


def set_limits(database: TeamDatabase, dollars_per_day: float | None, calls_per_minute: int | None) -> None:
    """Sets those limits that are given. Raises OrgError."""
    with database.open() as connection:
        connection.execute(
            "INSERT INTO budgets VALUES (%(team)s, coalesce(%(dollars)s, 0), coalesce(%(calls)s, 0))"
            " ON CONFLICT (team) DO UPDATE SET dollars_per_day = coalesce(%(dollars)s, budgets.dollars_per_day),"
            " calls_per_minute = coalesce(%(calls)s, budgets.calls_per_minute)",
            {"team": database.team, "dollars": dollars_per_day, "calls": calls_per_minute},
        )


def load_limits(database: TeamDatabase) -> Limits:
    """Returns the team's limits. Raises OrgError."""
    with database.open() as connection:
        row = connection.execute(
            "SELECT dollars_per_day::float8, calls_per_minute FROM budgets WHERE team = %s", (database.team,)
        ).fetchone()
    return Limits(*row) if row else Limits(0.0, 0)
