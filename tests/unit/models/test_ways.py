"""What an engine does around a call: the editor's bridge, and paying."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dspy import lm15

from chat_server import chat, completion, fails, hangs, raw, says
from engines import EDITOR, REQUEST, asking, model, never, paid
from lerim.errors import BudgetError, SpendingError
from lerim.models.editor import EditorAnswer, EditorBridge, EditorCancellation, EditorQuestion, EditorRefusal
from lerim.models.engine import Engine
from lerim.models.money.spending import DayBudget, total_spent_today
from lerim.paths import Home

pytestmark = pytest.mark.usefixtures("short_waits")

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Editor:
    """The other end of a bridge: answers each question by a script, the last answer for ever."""

    def __init__(self, *answers: Callable[[EditorQuestion], EditorAnswer | EditorRefusal] | None) -> None:
        self.answers = list(answers)
        self.asked: list[EditorQuestion] = []
        self.taken_back: list[int] = []
        self.bridge = EditorBridge(self.hear)

    def hear(self, line: EditorQuestion | EditorCancellation) -> None:
        if isinstance(line, EditorCancellation):
            self.taken_back.append(line.id)
            return
        self.asked.append(line)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is not None:
            threading.Thread(target=self.bridge.deliver, args=(answer(line),), daemon=True).start()


def refuses(why: str, message: str = "") -> Callable[[EditorQuestion], EditorRefusal]:
    return lambda ask: EditorRefusal(ask.id, why, message)  # type: ignore[arg-type]


def says_in_editor(text: str) -> Callable[[EditorQuestion], EditorAnswer]:
    return lambda ask: EditorAnswer(ask.id, text)


def test_the_editors_model_is_asked_over_the_bridge() -> None:
    editor = Editor(says_in_editor("hello"))
    engine = Engine(EDITOR, never, bridge=editor.bridge)
    assert engine.complete(REQUEST).text == "hello"
    [asked] = editor.asked
    assert (asked.model, asked.system, asked.prompt, asked.max_tokens) == (
        "copilot/gpt",
        "be brief",
        "what? 🙂",
        16_000,
    )
    assert (engine.usage.calls, engine.usage.cost, engine.usage.unpriced) == (1, 0.0, 0)
    assert engine.usage.input_tokens > 0


@pytest.mark.parametrize(
    ("why", "error", "code"),
    [
        ("no-permission", lm15.InvalidRequestError, "gone"),
        ("quota", lm15.BillingError, None),
        ("not-found", lm15.UnsupportedModelError, "gone"),
        ("gone", lm15.UnsupportedModelError, "gone"),
        ("cancelled", lm15.TransportError, "cancelled"),
    ],
)
def test_why_the_editor_refuses_is_told_apart(why: str, error: type[lm15.LM15Error], code: str | None) -> None:
    editor = Editor(refuses(why, "no\nmore"))
    with pytest.raises(error) as caught:
        Engine(EDITOR, never, bridge=editor.bridge).complete(REQUEST)
    assert code in (None, caught.value.code)
    assert len(editor.asked) == 1


def test_a_model_the_editor_took_away_is_left_for_the_next() -> None:
    editor = Editor(refuses("gone"), says_in_editor("ok"))
    engine = Engine(replace(EDITOR, fallbacks=("copilot/other",)), never, bridge=editor.bridge)
    assert engine.complete(REQUEST).text == "ok"
    assert [asked.model for asked in editor.asked] == ["copilot/gpt", "copilot/other"]


def test_a_failure_in_the_editor_is_tried_again() -> None:
    editor = Editor(refuses("failed"), says_in_editor("ok"))
    engine = Engine(EDITOR, never, bridge=editor.bridge)
    assert engine.complete(REQUEST).text == "ok"
    assert [step.kind for step in engine.steps] == ["retried"]


def test_an_editor_that_blocks_a_request_for_now_is_asked_again_unless_it_names_a_long_time() -> None:
    editor = Editor(refuses("blocked", "try again in 5ms"), says_in_editor("ok"))
    engine = Engine(EDITOR, never, bridge=editor.bridge)
    assert engine.complete(REQUEST).text == "ok"
    assert [step.kind for step in engine.steps] == ["retried"]
    busy = Editor(refuses("blocked", "rate limited, try again in 2h"))
    with pytest.raises(lm15.RateLimitError):
        Engine(EDITOR, never, bridge=busy.bridge).complete(REQUEST)
    assert len(busy.asked) == 1


def test_an_editor_that_hangs_is_left_at_the_deadline_and_at_a_cancel() -> None:
    editor = Editor(None)
    with pytest.raises(lm15.TimeoutError):
        Engine(replace(EDITOR, timeout=0.2), never, bridge=editor.bridge).complete(REQUEST)
    with pytest.raises(lm15.TransportError) as caught:
        Engine(EDITOR, lambda: len(editor.asked) > 1, bridge=editor.bridge).complete(REQUEST)
    assert caught.value.code == "cancelled"
    assert editor.taken_back == [1, 2]


def test_without_an_editor_its_model_is_gone() -> None:
    with pytest.raises(lm15.LM15Error) as caught:
        Engine(EDITOR, never).complete(REQUEST)
    assert caught.value.code == "gone"


@pytest.fixture
def home(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("NO_PROXY", "*")
    return Home(isolated / ".lerim")


def purse(home: Home, per_day: float = 1.0) -> DayBudget:
    return DayBudget(home, per_day, lambda: NOW)


def counted(prompt: int, out: int, **more: object) -> dict:
    return completion("ok") | {"usage": {"prompt_tokens": prompt, "completion_tokens": out} | more}


def test_what_a_call_took_is_paid_at_the_list_price_where_the_service_tells_none(home: Home) -> None:
    usage = {"prompt_tokens": 100_000, "completion_tokens": 1_000, "prompt_tokens_details": {"cached_tokens": 40_000}}
    with chat(says("ok", usage=usage)) as server:
        engine = Engine(paid(server.url), never, budget=purse(home))
        engine.complete(REQUEST)
    assert engine.usage.cached_tokens == 40_000
    assert engine.usage.cost == pytest.approx(0.0036)
    assert total_spent_today(home, NOW).cost == pytest.approx(0.0036)


def test_what_the_service_tells_of_the_cost_goes_before_the_list(home: Home) -> None:
    with chat(says("ok", usage={"prompt_tokens": 9, "completion_tokens": 9, "cost": 0.25})) as server:
        engine = Engine(paid(server.url, provider="openrouter"), never, budget=purse(home))
        engine.complete(REQUEST)
    assert (engine.usage.cost, total_spent_today(home, NOW).cost) == (0.25, 0.25)


def test_a_call_over_the_budget_is_not_made(home: Home) -> None:
    with chat(says("ok")) as server:
        engine = Engine(paid(server.url), never, budget=purse(home, 0.001))
        with pytest.raises(BudgetError):
            engine.complete(REQUEST)
    assert server.asked == []


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


def test_a_model_of_this_machine_is_not_paid(home: Home) -> None:
    with chat(raw(b"{}", status=404)) as server, pytest.raises(lm15.UnsupportedModelError):
        Engine(model(server.url), never, budget=purse(home, 0.0001)).complete(REQUEST)
    assert not home.spending.exists()


def test_refusals_cost_nothing_however_many(home: Home) -> None:
    again = {"Retry-After": "0"}
    with chat(fails(429, headers=again), fails(529, headers=again), says("ok", usage={"cost": 0.01})) as server:
        Engine(paid(server.url), never, budget=purse(home)).complete(REQUEST)
    assert total_spent_today(home, NOW).cost == 0.01


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"prompt_tokens": 900, "completion_tokens": 40, "cost": 0.002}, 0.012),
        ({"prompt_tokens": 100_000, "completion_tokens": 0}, 0.015),
    ],
)
def test_an_answer_that_fails_midway_costs_what_the_service_counts(home: Home, usage: dict, cost: float) -> None:
    with chat(says("half", "error", usage=usage), says("ok", usage={"cost": 0.01})) as server:
        engine = Engine(paid(server.url), never, budget=purse(home))
        assert engine.complete(REQUEST).text == "ok"
    assert total_spent_today(home, NOW).cost == pytest.approx(cost)
    assert (engine.usage.calls, engine.usage.cost) == (2, pytest.approx(cost))


def test_an_answer_that_fails_midway_and_is_not_counted_keeps_its_worst_cost(home: Home) -> None:
    with chat(says("half", "error", usage=None), says("ok", usage={"cost": 0.01})) as server:
        Engine(paid(server.url), never, budget=purse(home)).complete(REQUEST)
    assert total_spent_today(home, NOW).cost > 0.01 + 16_000 * 0.4 / 1e6


def test_a_service_that_cannot_be_reached_costs_nothing(home: Home) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    looks = iter(range(1_000))
    engine = Engine(paid(f"http://127.0.0.1:{port}/v1"), lambda: next(looks) > 30, budget=purse(home))
    with pytest.raises(lm15.TransportError):
        engine.complete(REQUEST)
    assert total_spent_today(home, NOW).cost == 0.0


@pytest.mark.parametrize("way", ["hangs", "cancelled", "broken"])
def test_a_call_of_which_nobody_knows_the_end_keeps_its_worst_cost(home: Home, way: str) -> None:
    acts = {"hangs": hangs, "cancelled": hangs, "broken": raw(b'{"ch', length=999)}
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


def test_a_fallback_is_paid_at_its_own_price(home: Home) -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    with chat(fails(404), says("ok", usage=usage)) as server:
        engine = Engine(paid(server.url, fallbacks=("gpt-4o-mini",)), never, budget=purse(home))
        engine.complete(REQUEST)
    assert engine.usage.cost == pytest.approx(0.15)
