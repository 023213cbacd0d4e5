"""Records the spending on models, call by call, so that a day's budget holds for any number of concurrent processes.

Before a billed call, its highest possible cost is reserved in one exclusive transaction, which also compares the
day's sum with the budget. After the call, the reservation is replaced by the actual usage. If a call is cut short
because its process was killed, the reservation stays, because the service may have answered. Amounts are in 10^-12
US dollars.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

import msgspec

from lerim import sqlite
from lerim.errors import BudgetError, LerimError, Problem, SpendingError, TooDearError
from lerim.models.model import Model
from lerim.models.money.prices import compute_cost, worst_cost
from lerim.models.money.usage import RoleUsage, Usage, total_usage
from lerim.paths import Home
from lerim.project import make_private_folder

VERSION = 1
KEPT_DAYS = 400
BUSY_SECONDS = 10.0
STEP_SECONDS = 0.2
CHECK_SECONDS = 0.1
"""Seconds between checks for cancellation."""
DOLLAR = 10**12

_TABLES = """
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, day TEXT NOT NULL, role TEXT NOT NULL, model TEXT NOT NULL, settled INTEGER NOT NULL,
    cost INTEGER NOT NULL, calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
    cached INTEGER NOT NULL, unpriced INTEGER NOT NULL
);
CREATE INDEX calls_day ON calls (day);
"""
_TODO = "Check the file's permissions and the free disk space, or set budget.per_day_usd to 0 for no limit."
_SCHEMA = sqlite.Schema(
    name="The record of spending",
    version=VERSION,
    upgrade=lambda db, version: sqlite.run_script(db, _TABLES),
    probe="SELECT cost FROM calls LIMIT 1",
    wait=BUSY_SECONDS,
    error=SpendingError,
    failure="The cost of models cannot be recorded",
    todo=_TODO,
    todo_damaged="Try again: a new record is started.",
    replacement_notice="Today's earlier calls are not counted.",
    code="spending",
)


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation for one call. `row` is 0 if nothing is reserved, because the call is not billed or could not be
    recorded."""

    row: int = 0


NO_RESERVATION = Reservation()


def _never() -> bool:
    return False


@dataclass(slots=True)
class DayBudget:
    """A day's budget in US dollars, 0 for no limit. The day is the date of `clock`, which should return local time.

    Any number of threads may use one DayBudget, and any number of processes one home folder. `problems` lists
    recording failures that did not prevent a call.
    """

    home: Home
    per_day: float
    clock: Callable[[], datetime]
    problems: list[Problem] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False, repr=False)
    _open_reservations: set[int] = field(default_factory=set, init=False)
    _attempts: int = field(default=0, init=False)
    _settled_count: int = field(default=0, init=False)

    def reserve(
        self, model: Model, input_tokens: int, most_output_tokens: int, cancelled: Callable[[], bool] = _never
    ) -> Reservation:
        """Reserves the highest possible cost of one call from today's budget; every reservation must be ended with
        `settle`.

        `input_tokens` must be at least the number that the service will count. The number of bytes sent is a safe
        choice, because each token has at least one byte. If the budget has no room only because of reservations for
        other calls of this DayBudget, waits until one of them ends. Raises BudgetError if the budget does not allow
        the call, also after `cancelled` ended the wait; TooDearError if the budget of no day would; SpendingError if
        this cannot be decided, because the price is not known or the spending cannot be recorded.
        """
        if not model.billed:
            return NO_RESERVATION
        most_cost = worst_cost(model.name, input_tokens, most_output_tokens)
        if most_cost is None and self.per_day > 0:
            raise unpriced_error(model.label)
        if most_cost is not None and 0 < self.per_day < most_cost:
            raise too_dear_error(model, self.per_day, most_cost)
        while True:
            with self._changed:
                self._attempts += 1
                settled_before = self._settled_count
            reservation = NO_RESERVATION
            try:
                reservation = self._write(lambda db: self._insert_reservation(db, model, most_cost or 0.0), cancelled)
                return reservation
            except SpendingError as error:
                if self.per_day > 0:
                    raise
                self._add_problem(error)
                return NO_RESERVATION
            except BudgetError as error:
                budget_error = error
            finally:
                self._end_attempt(reservation)
            if not self._wait_for_room(settled_before, cancelled):
                raise budget_error

    def settle(self, reservation: Reservation, usage: Usage | None, cancelled: Callable[[], bool] = _never) -> None:
        """Replaces a reservation with the call's usage: NO_USAGE for a refused call; None if the usage is unknown,
        which keeps the reservation. Never raises: if writing fails, the reservation stays and a problem is added."""
        if reservation.row and usage is not None:
            self._replace(reservation, usage, cancelled)
        with self._changed:
            self._open_reservations.discard(reservation.row)
            self._settled_count += 1
            self._changed.notify_all()

    def _write(self, work: Callable[[sqlite3.Connection], Result], cancelled: Callable[[], bool]) -> Result:
        """Runs `work` on the database. Waits while another process locks it, until BUSY_SECONDS have passed or the
        person cancels. Raises SpendingError, and the errors of `work`."""
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                with _open(self.home, self.problems) as db:
                    return work(db)
            except SpendingError as error:
                code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF
                if code != sqlite3.SQLITE_BUSY or cancelled() or time.monotonic() > end:
                    raise

    def _replace(self, reservation: Reservation, usage: Usage, cancelled: Callable[[], bool]) -> None:
        columns = "cost = ?, calls = ?, input = ?, output = ?, cached = ?, unpriced = ?"
        tokens = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        values = (_to_picodollars(usage.cost), usage.calls, *tokens, usage.unpriced, reservation.row)

        def replace(db: sqlite3.Connection) -> None:
            with sqlite.transaction(db, exclusive=True):
                db.execute(f"UPDATE calls SET settled = 1, {columns} WHERE id = ?", values)

        try:
            self._write(replace, cancelled)
        except SpendingError as error:
            self._add_problem(error)

    def _end_attempt(self, reservation: Reservation) -> None:
        with self._changed:
            self._attempts -= 1
            if reservation.row:
                self._open_reservations.add(reservation.row)
            self._changed.notify_all()

    def _wait_for_room(self, settled_before: int, cancelled: Callable[[], bool]) -> bool:
        """Waits while calls of this DayBudget are in progress. Returns whether one was settled since the count
        `settled_before` was taken."""
        with self._changed:
            while self._settled_count == settled_before:
                if not self._open_reservations and not self._attempts:
                    return False
                if cancelled():
                    return False
                self._changed.wait(CHECK_SECONDS)
        return True

    def _insert_reservation(self, db: sqlite3.Connection, model: Model, most_cost: float) -> Reservation:
        day = self.clock().date()
        with sqlite.transaction(db, exclusive=True):
            if self.per_day > 0:
                [(spent,)] = db.execute("SELECT coalesce(sum(cost), 0) FROM calls WHERE day = ?", (day.isoformat(),))
                if spent + _to_picodollars(most_cost) > _to_picodollars(self.per_day):
                    raise used_up_error(self.per_day, spent / DOLLAR)
            db.execute("DELETE FROM calls WHERE day < ?", ((day - timedelta(days=KEPT_DAYS)).isoformat(),))
            cursor = db.execute(
                "INSERT INTO calls (day, role, model, settled, cost, calls, input, output, cached, unpriced)"
                " VALUES (?, ?, ?, 0, ?, 0, 0, 0, 0, 0)",
                (day.isoformat(), model.role, model.label, _to_picodollars(most_cost)),
            )
        return Reservation(cursor.lastrowid or 0)

    def _add_problem(self, error: LerimError) -> None:
        problem = error.problem()
        if problem not in self.problems:
            self.problems.append(problem)


def total_spent_today(home: Home, now: datetime) -> Usage:
    """Returns the sum of `list_spent_today`."""
    return total_usage(list_spent_today(home, now))


def list_spent_today(home: Home, now: datetime) -> list[RoleUsage]:
    """Returns the usage of billed calls on the date of `now`, by role and model; calls in progress count with their
    highest possible cost. Empty if nothing was ever spent. Raises SpendingError if the record cannot be read."""
    with sqlite.convert_errors(home.spending, _SCHEMA):
        # Not read-only: the next process to open the database rolls back a transaction that a killed process left
        # unfinished.
        db = sqlite.open_existing(home.spending, _SCHEMA)
        if db is None:
            return []
        with closing(db):
            rows = db.execute(
                "SELECT role, model, sum(calls), sum(input), sum(output), sum(cached), sum(cost), sum(unpriced)"
                " FROM calls WHERE day = ? GROUP BY role, model ORDER BY min(id)",
                (now.date().isoformat(),),
            ).fetchall()
    return [
        RoleUsage(role, model, Usage(calls, input_tokens, output_tokens, cached, cost / DOLLAR, unpriced))
        for role, model, calls, input_tokens, output_tokens, cached, cost, unpriced in rows
    ]


def price_usage(model: Model, usage: Usage) -> Usage:
    """Adds the cost to the usage of answered calls: the one the service reported, else the list price, else unknown."""
    if usage.cost or not model.billed:
        return usage
    cost = compute_cost(model.name, usage)
    if cost is None:
        return msgspec.structs.replace(usage, unpriced=usage.calls)
    return msgspec.structs.replace(usage, cost=cost)


def unpriced_error(label: str) -> SpendingError:
    """Returns the error for a model without a known price while a budget is set."""
    todo = "Choose a model whose price is known, or set budget.per_day_usd to 0 for no limit."
    return SpendingError(f"The price of {label} is unknown, so it is not used while a budget is set.", todo=todo)


def used_up_error(per_day: float, spent: float) -> BudgetError:
    """Returns the error for a call that does not fit in the day's budget, of which `spent` is used."""
    message = f"Today's budget of ${per_day:.2f} does not allow another call: ${spent:.2f} are spent or reserved."
    return BudgetError(message, todo="Lerim continues tomorrow; budget.per_day_usd sets the limit.")


def too_dear_error(model: Model, per_day: float, most_cost: float) -> TooDearError:
    """Returns the error for a call that may cost `most_cost`, more than any day's budget."""
    cost, budget = _format_exactly(most_cost), _format_exactly(per_day)
    message = f"One call may cost {cost}, which is larger than the day's budget of {budget}."
    todo = f"Raise budget.per_day_usd, or make roles.{model.role}.max_window_tokens smaller."
    return TooDearError(message, todo=todo)


def _format_exactly(dollars: float) -> str:
    return f"${dollars:.2f}" if dollars >= 0.1 else f"${dollars:.4f}"


@contextmanager
def _open(home: Home, problems: list[Problem]) -> Iterator[sqlite3.Connection]:
    """Opens the database; creates it if it is missing and replaces it if it is damaged. Raises SpendingError."""
    with sqlite.convert_errors(home.spending, _SCHEMA):
        make_private_folder(home, home.spending.parent)
        with closing(sqlite.open_database(home.spending, _SCHEMA, problems, STEP_SECONDS)) as db:
            yield db


def _to_picodollars(dollars: float) -> int:
    return round(min(max(dollars, 0.0), 10_000.0) * DOLLAR)
