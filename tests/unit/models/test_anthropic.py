"""Anthropic's messages against a real server on loopback."""

from __future__ import annotations

import json

import pytest
from dspy import lm15

from chat_server import KEY, chat, fails, message, raw, says
from engines import REQUEST, model, never
from lerim.models.engine import Engine
from lerim.models.model import Model


def claude(url: str, timeout: float = 30.0, key: str = KEY) -> Model:
    return model(url, timeout, key, "anthropic")


def test_it_asks_as_messages_want_and_returns_what_is_said() -> None:
    with chat(says("hello")) as server:
        engine = Engine(claude(server.url), never)
        response = engine.complete(REQUEST)
    [asked] = server.asked
    assert asked.path == "/v1/messages"
    assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in asked.headers
    assert asked.body == {
        "model": "some-model",
        "max_tokens": 16_000,
        "system": "be brief",
        "messages": [{"role": "user", "content": "what? 🙂"}],
    }
    assert (response.text, response.finish_reason) == ("hello", "stop")
    assert (engine.usage.calls, engine.usage.input_tokens, engine.usage.output_tokens) == (1, 1_000, 50)


def test_tokens_of_the_cache_are_part_of_those_sent() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 1_000,
        "output_tokens": 5,
    }
    with chat(says("hello", usage=usage)) as server:
        engine = Engine(claude(server.url), never)
        engine.complete(REQUEST)
    assert (engine.usage.input_tokens, engine.usage.cached_tokens) == (1_110, 100)


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
    ],
)
def test_why_an_answer_ends_is_known(stop: str, finish: str) -> None:
    with chat(says("half an", stop)) as server:
        response = Engine(claude(server.url), never).complete(REQUEST)
    assert (response.text, response.finish_reason) == ("half an", finish)


def test_thoughts_are_no_part_of_the_answer() -> None:
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "a"}]
    with chat(raw(json.dumps(message("") | {"content": [*blocks, {"type": "text", "text": "b"}]}).encode())) as server:
        assert Engine(claude(server.url), never).complete(REQUEST).text == "ab"


@pytest.mark.parametrize(
    ("status", "said", "error"),
    [
        (400, "odd", lm15.InvalidRequestError),
        (400, "Your credit balance is too low to access the Anthropic API.", lm15.BillingError),
        (401, f"invalid x-api-key {KEY}", lm15.AuthError),
        (402, "no", lm15.BillingError),
        (403, "no", lm15.AuthError),
        (404, "model: some-model", lm15.UnsupportedModelError),
        (413, "Request exceeds the maximum size", lm15.ContextLengthError),
        (504, "no", lm15.TimeoutError),
    ],
)
def test_what_it_refuses_is_told_apart_and_not_asked_again(status: int, said: str, error: type[Exception]) -> None:
    with chat(fails(status, said)) as server, pytest.raises(error) as caught:
        Engine(claude(server.url), never).complete(REQUEST)
    assert len(server.asked) == 1
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [429, 500, 529])
def test_what_passes_is_waited_for(status: int) -> None:
    with chat(fails(status, headers={"retry-after": "0"}), says("ok")) as server:
        engine = Engine(claude(server.url), never)
        assert engine.complete(REQUEST).text == "ok"
    assert [step.kind for step in engine.steps] == ["retried"]


def test_an_error_told_with_a_status_of_success_is_an_error() -> None:
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with chat(raw(json.dumps(body).encode(), headers={"retry-after": "0"}), says("ok")) as server:
        engine = Engine(claude(server.url), never)
        assert engine.complete(REQUEST).text == "ok"
    assert [step.why for step in engine.steps] == ["the service failed (500); retried after 0 s"]


def test_what_is_no_message_is_told() -> None:
    for body in (b"<html>busy</html>", b"{}", b"[1]", b'{"content": 5}'):
        with chat(raw(body)) as server:
            engine = Engine(claude(server.url), lambda: len(server.asked) > 0)
            with pytest.raises(lm15.TransportError):
                engine.complete(REQUEST)
