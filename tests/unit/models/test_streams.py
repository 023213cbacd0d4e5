"""Answers that come in pieces, against a real server on loopback."""

from __future__ import annotations

import threading
from datetime import datetime
from pathlib import Path

import pytest

from chat_server import Act, Chat, chat, fails, says, streams
from engines import REQUEST, model, never, paid
from lerim.models import lm15
from lerim.models.engine import Engine
from lerim.models.money.spending import DayBudget, total_spent_today
from lerim.models.services.faults import BrokenOffError
from lerim.models.services.wire import EventStream
from lerim.paths import Home

pytestmark = pytest.mark.usefixtures("short_waits")

FORMS = pytest.mark.parametrize("form", ["openai", "anthropic"])
NOON = datetime(2026, 11, 21, 12).astimezone()


def heard(server: Chat, form: str, finish: str = "stop") -> tuple[list[str], Engine]:
    """The pieces of an answer; the engine that asked for it."""
    pieces: list[str] = []
    engine = Engine(model(server.url, provider=form), never)
    response = engine.complete(REQUEST, pieces.append)
    assert (response.text, response.finish_reason) == ("".join(pieces), finish)
    return pieces, engine


@FORMS
@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_the_pieces_of_an_answer_are_heard_as_they_come(form: str, chunked: bool, finish: str) -> None:
    with chat(streams("Use `uv`. ", "[1]\nNot ", "“pip” 🙂.", chunked=chunked, finish=finish)) as server:
        pieces, engine = heard(server, form, finish)
    assert pieces == ["Use `uv`. ", "[1]\nNot ", "“pip” 🙂."]
    assert (engine.usage.calls, engine.usage.input_tokens, engine.usage.output_tokens) == (1, 1_000, 50)
    assert engine.steps == []


@FORMS
def test_a_piece_is_heard_before_the_next_is_there_and_a_cancel_then_ends_it(form: str) -> None:
    first = threading.Event()
    with chat(streams("one ", end="hangs")) as server, pytest.raises(lm15.TransportError, match="cancelled"):
        Engine(model(server.url, provider=form), first.is_set).complete(REQUEST, lambda _: first.set())


@FORMS
@pytest.mark.parametrize("end", ["breaks", "fails"])
def test_an_answer_that_fails_midway_is_not_asked_for_again_and_keeps_its_worst_cost(
    isolated: Path, form: str, end: str
) -> None:
    pieces: list[str] = []
    home = Home(isolated / ".lerim")
    with chat(streams("It is ", end=end), says("never asked")) as server:
        asked = paid(server.url, provider=form, fallbacks=("other",))
        engine = Engine(asked, never, home=home, budget=DayBudget(home, 1.0, lambda: NOON))
        with pytest.raises((lm15.TransportError, BrokenOffError)):
            engine.complete(REQUEST, pieces.append)
    assert (pieces, len(server.asked)) == (["It is "], 1)
    assert total_spent_today(home, NOON).cost > 0


@FORMS
@pytest.mark.parametrize("act", [fails(500), streams(end="breaks"), streams(end="fails")])
def test_what_fails_before_a_word_is_asked_again(form: str, act: Act) -> None:
    with chat(act, streams("yes")) as server:
        pieces, engine = heard(server, form)
    assert (pieces, [step.kind for step in engine.steps]) == (["yes"], ["retried"])


@FORMS
def test_a_service_that_answers_whole_is_heard_whole(form: str) -> None:
    with chat(says("all of it")) as server:
        assert heard(server, form)[0] == ["all of it"]


def test_events_may_be_cut_anywhere() -> None:
    whole = 'data: {"a": "ü"}\r\n\r\n: comment\nevent: x\ndata: one\ndata: two\n\ndata: [DONE]\n\n'.encode()
    for size in (1, 2, 3, 7, len(whole)):
        events = EventStream()
        found = [data for at in range(0, len(whole), size) for data in events.feed(whole[at : at + size])]
        assert found == ['{"a": "ü"}'.encode(), b"one\ntwo", b"[DONE]"]


def test_an_event_without_end_is_given_up() -> None:
    with pytest.raises(ValueError, match="without end"):
        list(EventStream().feed(b"data: " + b"x" * 1_000_001))
