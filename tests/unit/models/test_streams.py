"""Answers that come in pieces, against a real server on loopback."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from dspy import lm15

from chat_server import Act, Asked, Chat, Handler, chat, fails, says, streams
from engines import COMMAND, REQUEST, model, never, paid
from lerim.models.engine import Engine
from lerim.models.money.spending import DayBudget, total_spent_today
from lerim.models.services.faults import BrokenOffError
from lerim.models.services.stream import EventStream
from lerim.paths import Home

pytestmark = pytest.mark.usefixtures("short_waits")

FORMS = pytest.mark.parametrize("form", ["openai", "anthropic"])
AT_ONCE = {"retry-after": "0"}
NOON = datetime(2026, 11, 21, 12).astimezone()


def heard(
    server: Chat, form: str, cancelled: Callable[[], bool] = never, timeout: float = 30.0
) -> tuple[list[str], Engine]:
    """The pieces of an answer; the engine that asked for it."""
    pieces: list[str] = []
    engine = Engine(model(server.url, timeout, provider=form), cancelled)
    response = engine.complete(REQUEST, pieces.append)
    assert response.text == "".join(pieces)
    return pieces, engine


@FORMS
@pytest.mark.parametrize("chunked", [True, False])
def test_the_pieces_of_an_answer_are_heard_as_they_come(form: str, chunked: bool) -> None:
    with chat(streams("Use `uv`. ", "[1]\nNot ", "“pip” 🙂.", chunked=chunked)) as server:
        pieces, engine = heard(server, form)
    assert pieces == ["Use `uv`. ", "[1]\nNot ", "“pip” 🙂."]
    assert (engine.usage.calls, engine.usage.input_tokens, engine.usage.output_tokens) == (1, 1_000, 50)
    assert engine.steps == []


@FORMS
def test_a_piece_is_heard_before_the_next_is_there(form: str) -> None:
    first, told = threading.Event(), threading.Event()

    def act(handler: Handler, asked: Asked) -> None:
        streams("one ", end="hangs")(handler, asked)

    def hear(_piece: str) -> None:
        first.set()

    with chat(act) as server:
        engine = Engine(model(server.url, provider=form), told.is_set)

        def ask() -> None:
            with pytest.raises(lm15.TransportError, match="cancelled"):
                engine.complete(REQUEST, hear)

        asking = threading.Thread(target=ask)
        asking.start()
        assert first.wait(30)
        told.set()
        asking.join(5)
        assert not asking.is_alive()


@FORMS
@pytest.mark.parametrize("end", ["breaks", "fails"])
def test_an_answer_that_fails_midway_is_not_asked_for_again(form: str, end: str) -> None:
    pieces: list[str] = []
    with chat(streams("It is ", end=end), says("never asked")) as server:
        engine = Engine(model(server.url, provider=form, fallbacks=("other",)), never)
        with pytest.raises((lm15.TransportError, BrokenOffError)):
            engine.complete(REQUEST, pieces.append)
    assert (pieces, len(server.asked)) == (["It is "], 1)


@FORMS
@pytest.mark.parametrize("act", [fails(500, headers=AT_ONCE), streams(end="breaks"), streams(end="fails")])
def test_what_fails_before_a_word_is_asked_again(form: str, act: Act) -> None:
    with chat(act, streams("yes")) as server:
        pieces, engine = heard(server, form)
    assert (pieces, [step.kind for step in engine.steps]) == (["yes"], ["retried"])


@FORMS
def test_a_service_that_answers_whole_is_heard_whole(form: str) -> None:
    with chat(says("all of it")) as server:
        assert heard(server, form)[0] == ["all of it"]


@FORMS
def test_an_answer_cut_at_the_limit_is_known(form: str) -> None:
    with chat(streams("half an", finish="length")) as server:
        engine = Engine(model(server.url, provider=form), never)
        assert engine.complete(REQUEST, lambda _: None).finish_reason == "length"


@FORMS
def test_without_a_hearer_nothing_is_streamed(form: str) -> None:
    with chat(says("x")) as server:
        Engine(model(server.url, provider=form), never).complete(REQUEST)
    assert "stream" not in server.asked[0].body


def test_a_stream_that_is_not_counted_by_its_service_is_counted_by_us() -> None:
    def act(handler: Handler, _asked: Asked) -> None:
        handler.stream(['{"choices":[{"delta":{"content":"one two three"}}]}', "[DONE]"], chunked=True, whole=True)

    with chat(act) as server:
        engine = heard(server, "openai")[1]
    assert engine.usage.output_tokens == 3
    assert engine.usage.input_tokens > 3


def test_a_stream_that_breaks_off_keeps_its_worst_cost(isolated: Path) -> None:
    home = Home(isolated / ".lerim")
    with chat(streams("It is ", end="breaks")) as server:
        purse = DayBudget(home, 1.0, lambda: NOON)
        engine = Engine(paid(server.url), never, home=home, budget=purse)
        with pytest.raises((lm15.TransportError, BrokenOffError)):
            engine.complete(REQUEST, lambda _: None)
    assert total_spent_today(home, NOON).cost > 0


def test_a_commands_answer_is_heard_whole() -> None:
    pieces: list[str] = []
    echo = (sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read())")
    Engine(replace(COMMAND, command=echo), never).complete(REQUEST, pieces.append)
    assert pieces == ["be brief\n\nwhat? 🙂"]


def test_events_may_be_cut_anywhere() -> None:
    whole = 'data: {"a": "ü"}\r\n\r\n: comment\nevent: x\ndata: one\ndata: two\n\ndata: [DONE]\n\n'.encode()
    for size in (1, 2, 3, 7, len(whole)):
        events = EventStream()
        found = [data for at in range(0, len(whole), size) for data in events.feed(whole[at : at + size])]
        assert found == ['{"a": "ü"}'.encode(), b"one\ntwo", b"[DONE]"]


def test_an_event_without_end_is_given_up() -> None:
    with pytest.raises(ValueError, match="without end"):
        list(EventStream().feed(b"data: " + b"x" * 1_000_001))
