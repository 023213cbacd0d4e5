"""What calls cost is kept call by call; a day's budget holds, whoever spends it and whatever happens meanwhile."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from hang import HANG
from lerim.errors import BudgetError, SpendingError
from lerim.models.money.spending import NO_RESERVATION, DayBudget, total_spent_today
from lerim.models.money.usage import NO_USAGE, Usage
from lerim.paths import Home
from model_desk import paid

NOON = datetime(2026, 11, 21, 12).astimezone()


def purse(home: Home, per_day: float = 1.0, now: datetime = NOON) -> DayBudget:
    return DayBudget(home, per_day, lambda: now)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / ".lerim")


def rows(home: Home, what: str = "model, role, settled, cost, calls") -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(home.spending)) as db:
        return db.execute(f"SELECT {what} FROM calls ORDER BY id").fetchall()


def test_a_call_that_would_pass_the_budget_is_refused_and_leaves_nothing(home: Home) -> None:
    mine = purse(home)
    first, _ = mine.reserve(paid(), 1_000_000, 1_000_000), mine.reserve(paid(), 1_000_000, 1_000_000)
    with pytest.raises(BudgetError, match=r"budget of \$1\.00 .* \$0\.90 are spent or reserved") as refused:
        purse(home).reserve(paid(), 1_000_000, 1_000_000)
    assert "budget.per_day_usd" in refused.value.todo
    mine.settle(first, NO_USAGE)  # the service refused it
    mine.reserve(paid(), 1_000_000, 1_000_000)
    assert [row[3] for row in rows(home)] == [0, 450_000_000_000, 450_000_000_000]


def test_a_call_waits_for_room_that_calls_of_its_own_run_hold(home: Home) -> None:
    mine = purse(home)
    first, second = mine.reserve(paid(), 1_000_000, 1_000_000), mine.reserve(paid(), 1_000_000, 1_000_000)
    waits, held = threading.Event(), []

    def looked() -> bool:
        waits.set()
        return False

    thread = threading.Thread(target=lambda: held.append(mine.reserve(paid(), 1_000_000, 1_000_000, looked)))
    thread.start()
    assert waits.wait(60)
    mine.settle(first, Usage(1, cost=0.02))
    thread.join(60)
    assert [row[3] for row in rows(home)] == [20_000_000_000, 450_000_000_000, 450_000_000_000]
    mine.settle(second, Usage(1, cost=0.3))
    [third] = held
    mine.settle(third, Usage(1, cost=0.3))
    with pytest.raises(BudgetError, match=r"\$0\.62 are spent or reserved"):
        mine.reserve(paid(), 1_000_000, 1_000_000)


def test_calls_that_wait_for_each_other_end_once_there_is_no_room(home: Home) -> None:
    mine = purse(home)
    first = mine.reserve(paid(), 1_000_000, 1_000_000)
    looks, refused = threading.Semaphore(0), []

    def looked() -> bool:
        looks.release()
        return False

    def spend() -> None:
        try:
            mine.reserve(paid(), 2_000_000, 2_000_000, looked)
        except BudgetError as error:
            refused.append(error)

    threads = [threading.Thread(target=spend) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert all(looks.acquire(timeout=HANG) for _ in range(6))
    mine.settle(first, None)  # nobody knows what became of it
    for thread in threads:
        thread.join(60)
    assert len(refused) == 3
    assert total_spent_today(home, NOON).cost == 0.45


def test_a_call_that_waits_for_room_ends_when_the_person_cancels(home: Home) -> None:
    mine = purse(home)
    mine.reserve(paid(), 1_000_000, 1_000_000)
    looks = iter((False, False, True))
    with pytest.raises(BudgetError):
        mine.reserve(paid(), 2_000_000, 2_000_000, lambda: next(looks))
    assert len(rows(home)) == 1


def test_many_threads_never_pass_the_budget(home: Home) -> None:
    mine = purse(home)
    refused: list[BudgetError] = []
    held = []

    def spend() -> None:
        for _ in range(10):
            try:
                held.append(mine.reserve(paid(), 100_000, 100_000))
                mine.settle(held[-1], None)
            except BudgetError as error:
                refused.append(error)

    threads = [threading.Thread(target=spend) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(held), len(refused)) == (22, 38)  # 0.045 each
    assert total_spent_today(home, NOON).cost <= 1


def test_where_nothing_can_be_recorded_no_call_is_made_under_a_budget(home: Home) -> None:
    home.root.parent.mkdir(exist_ok=True)
    home.root.write_text("a file where the folder should be")
    with pytest.raises(SpendingError, match="cannot be recorded") as refused:
        purse(home).reserve(paid(), 1, 1)
    assert refused.value.where == str(home.spending)
    assert "disk" in refused.value.todo
    free = purse(home, 0)
    assert free.reserve(paid(), 1, 1) == free.reserve(paid(), 1, 1) == NO_RESERVATION
    assert [problem.code for problem in free.problems] == ["spending"]


def test_a_record_that_another_process_holds_is_waited_for_until_the_person_cancels(home: Home) -> None:
    mine = purse(home)
    held = mine.reserve(paid(), 1_000_000, 1_000_000)
    looks = iter((False, True, True))
    with closing(sqlite3.connect(home.spending, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SpendingError, match="locked"):
            mine.reserve(paid(), 1, 1, lambda: next(looks))
        mine.settle(held, Usage(1, cost=0.01), lambda: next(looks))
        db.execute("ROLLBACK")
    assert list(looks) == []
    assert [problem.code for problem in mine.problems] == ["spending"]
    assert total_spent_today(home, NOON).cost == 0.45


def test_each_day_has_its_own_budget_which_may_be_spent_to_the_last_cent(home: Home) -> None:
    late = NOON.replace(hour=23, minute=59)
    purse(home, 0.45, late).reserve(paid(), 1_000_000, 1_000_000)
    with pytest.raises(BudgetError):
        purse(home, 0.45, late).reserve(paid(), 1, 0)
    morning = late + timedelta(minutes=2)
    purse(home, 0.45, morning).reserve(paid(), 1_000_000, 1_000_000)
    assert total_spent_today(home, late).cost == total_spent_today(home, morning).cost == 0.45


def test_a_record_that_another_process_lets_go_of_is_written(home: Home) -> None:
    mine = purse(home)
    held = mine.reserve(paid(), 1_000_000, 1_000_000)
    with closing(sqlite3.connect(home.spending, isolation_level=None, check_same_thread=False)) as db:
        db.execute("BEGIN EXCLUSIVE")
        mine.settle(held, Usage(1, cost=0.01), lambda: db.in_transaction and not db.execute("ROLLBACK"))
    assert (mine.problems, total_spent_today(home, NOON).cost) == ([], 0.01)
