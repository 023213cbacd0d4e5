"""What an engine pays for a call, and what it records of one whose end nobody knows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chat_server import chat, fails, hangs, raw, says
from engines import REQUEST, asking, never, paid
from lerim.errors import SpendingError
from lerim.models import lm15
from lerim.models.engine import Engine
from lerim.models.money.spending import DayBudget, total_spent_today
from lerim.paths import Home

pytestmark = pytest.mark.usefixtures("short_waits")

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def home(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("NO_PROXY", "*")
    return Home(isolated / ".lerim")


def purse(home: Home, per_day: float = 1.0) -> DayBudget:
    return DayBudget(home, per_day, lambda: NOW)


def test_calls_at_once_share_a_budget_that_has_room_for_one_at_its_worst(home: Home) -> None:
    with chat(says("ok", usage={"cost": 0.0008})) as server:
        engine = Engine(paid(server.url), never, budget=purse(home, 0.01))
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(engine.complete, [REQUEST] * 4))
    assert [one.text for one in answers] == ["ok"] * 4
    assert total_spent_today(home, NOW).cost == pytest.approx(0.0032)


def test_a_call_that_is_cancelled_before_it_is_sent_costs_nothing(home: Home) -> None:
    with chat(says("ok")) as server, pytest.raises(lm15.TransportError) as caught:
        Engine(paid(server.url), lambda: True, budget=purse(home)).complete(REQUEST)
    assert (caught.value.code, server.asked) == ("cancelled", [])
    assert total_spent_today(home, NOW).cost == 0


def test_a_model_without_a_known_price_is_not_asked_while_there_is_a_budget(home: Home) -> None:
    with chat(says("ok", usage={"prompt_tokens": 9, "completion_tokens": 9})) as server:
        with pytest.raises(SpendingError):
            Engine(paid(server.url, "house-made"), never, budget=purse(home)).complete(REQUEST)
        assert server.asked == []
        engine = Engine(paid(server.url, "house-made"), never, budget=purse(home, 0))
        engine.complete(REQUEST)
    assert (engine.usage.unpriced, engine.usage.cost) == (1, 0.0)


@pytest.mark.parametrize("way", ["hangs", "cancelled", "broken", "gateway"])
def test_a_call_of_which_nobody_knows_the_end_keeps_its_worst_cost(home: Home, way: str) -> None:
    acts = {"hangs": hangs, "cancelled": hangs, "broken": raw(b'{"ch', length=999), "gateway": fails(504)}
    with chat(acts[way]) as server:
        cancelled = never if way == "hangs" else server.came.is_set if way == "cancelled" else never
        timeout = 0.3 if way == "hangs" else 20
        engine = Engine(paid(server.url, timeout=timeout), cancelled, budget=purse(home))
        with pytest.raises(lm15.LM15Error):
            engine.complete(asking("word " * 1_000))
    tries = 3 if way == "broken" else 1
    worst = (1_001 * 1.5 * 0.05 + 16_000 * 0.4) / 1e6
    assert total_spent_today(home, NOW).cost == pytest.approx(tries * worst, rel=0.02)
    assert engine.usage.calls == 0


LISTED = {"prompt_tokens": 100_000, "completion_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": 40_000}}


LONG = {"prompt_tokens": 999_996, "completion_tokens": 1}


@pytest.mark.parametrize(
    ("acts", "cost"),
    [
        ([says("ok", usage=LISTED)], 0.0036),  # at the list price
        ([says("ok", usage={"prompt_tokens": 9, "completion_tokens": 9, "cost": 0.25})], 0.25),  # the service's word
        ([fails(404), says("ok", usage=LONG)], 0.15),  # the fallback's own price
        (
            [says("half", "error", usage={"prompt_tokens": 9, "cost": 0.002}), says("ok", usage={"cost": 0.01})],
            0.012,
        ),
        ([says("half", "error", usage={"prompt_tokens": 100_000}), says("ok", usage={"cost": 0.01})], 0.015),
        ([fails(429), fails(529), says("ok", usage={"cost": 0.01})], 0.01),  # refusals cost nothing
    ],
    ids=["list", "service", "fallback", "half told", "half at the list price", "refused"],
)
def test_a_call_is_paid_at_what_the_service_says_else_at_the_price_list(home: Home, acts: list, cost: float) -> None:
    with chat(*acts) as server:
        engine = Engine(paid(server.url, fallbacks=("gpt-4o-mini",)), never, budget=purse(home))
        assert engine.complete(REQUEST).text == "ok"
    assert engine.usage.cost == pytest.approx(cost)
    assert total_spent_today(home, NOW).cost == pytest.approx(cost)


def test_an_answer_that_fails_midway_and_is_not_counted_keeps_its_worst_cost(home: Home) -> None:
    with chat(says("half", "error", usage=None), says("ok", usage={"cost": 0.01})) as server:
        Engine(paid(server.url), never, budget=purse(home)).complete(REQUEST)
    assert total_spent_today(home, NOW).cost > 0.01 + 16_000 * 0.4 / 1e6
