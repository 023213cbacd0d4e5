"""What is asked again, for how long it is waited, who is used instead, and what is told of it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from dspy import lm15

from chat_server import KEY, TOO_LONG, Asked, Handler, chat, fails, hangs, raw, says, too_long
from engines import REQUEST, asking, model, never
from hang import HANG
from lerim.models.engine import Engine
from lerim.models.limits import load_limit, remember_limit
from lerim.models.services.faults import parse_retry_after, refusal_error
from lerim.models.services.wire import ServiceReply
from lerim.paths import Home

AT_ONCE = {"Retry-After": "0"}
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def date(seconds: int) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "words", "seconds"),
    [
        ({"retry-after": "7"}, "", 7),
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, "", 0.25),
        ({"retry-after": date(30), "date": date(0)}, "", 30),
        ({"retry-after": date(0), "date": date(30)}, "", 0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-3"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "9" * 400}, "", None),
        ({}, "Please try again in 1.2s.", 1.2),
        ({}, "Please try again in 6ms.", 0.006),
        ({}, "Please try again in 1m12s", 72),
        ({}, "Please retry in 34.07s", 34.07),
        ({}, "try again in 2h", 7_200),
        ({}, "Try again in a while", None),
    ],
)
def test_how_long_a_service_wants_to_be_left_alone(headers: dict[str, str], words: str, seconds: float | None) -> None:
    assert parse_retry_after(headers, words) == seconds


def test_each_wait_is_told_in_our_own_words() -> None:
    secret = "the transcript said so"
    with chat(fails(429, secret, headers=AT_ONCE), fails(503, secret, headers=AT_ONCE), says("ok")) as server:
        engine = Engine(model(server.url), never)
        engine.complete(REQUEST)
    assert [(step.kind, step.role, step.model, step.why) for step in engine.steps] == [
        ("retried", "extract", "openai:some-model", "too many requests; retried after 0 s"),
        ("retried", "extract", "openai:some-model", "the service failed (503); retried after 0 s"),
    ]


def test_the_next_model_is_asked_once_the_first_has_no_more_tries_and_stays_for_the_run() -> None:
    def act(handler: Handler, asked: Asked) -> None:
        if asked.body["model"] == "some-model":
            fails(429, headers=AT_ONCE)(handler, asked)
        else:
            says("ok")(handler, asked)

    with chat(act) as server:
        engine = Engine(model(server.url, fallbacks=("other", "third")), never)
        assert engine.complete(REQUEST).text == "ok"
        assert engine.complete(REQUEST).text == "ok"
    assert [asked.body["model"] for asked in server.asked] == ["some-model"] * 3 + ["other"] * 2
    assert [step.kind for step in engine.steps] == ["retried", "retried", "fallback"]
    assert engine.steps[-1].why == "too many requests; other is used instead"
    assert [(one.model, one.usage.calls) for one in engine.role_usage] == [("openai:other", 2)]


@pytest.mark.parametrize(
    ("status", "said"), [(404, "no"), (400, "foo is not a valid model ID"), (400, "The model `x` does not exist")]
)
def test_a_model_that_is_not_there_is_left_at_once_for_the_next(status: int, said: str) -> None:
    with chat(fails(status, said), says("ok")) as server:
        engine = Engine(model(server.url, fallbacks=("other",)), never)
        assert engine.complete(REQUEST).text == "ok"
    assert [asked.body["model"] for asked in server.asked] == ["some-model", "other"]


@pytest.mark.parametrize(("status", "said"), [(401, "no"), (402, "no"), (413, "no"), (400, "odd")])
def test_no_other_model_is_asked_where_it_would_do_no_better(status: int, said: str) -> None:
    with chat(fails(status, said)) as server, pytest.raises(lm15.LM15Error):
        Engine(model(server.url, fallbacks=("other",)), never).complete(REQUEST)
    assert len(server.asked) == 1


def test_once_all_failed_the_next_call_begins_with_the_first() -> None:
    with chat(fails(404), fails(404), says("ok")) as server:
        engine = Engine(model(server.url, fallbacks=("other",)), never)
        with pytest.raises(lm15.UnsupportedModelError, match="other"):
            engine.complete(REQUEST)
        engine.complete(REQUEST)
    assert server.asked[-1].body["model"] == "some-model"


def test_a_cancel_asks_no_other_model() -> None:
    with chat(hangs) as server, pytest.raises(lm15.TransportError) as caught:
        Engine(model(server.url, fallbacks=("other",)), server.came.is_set).complete(REQUEST)
    assert caught.value.code == "cancelled"
    assert len(server.asked) == 1


@pytest.mark.parametrize("vendor", TOO_LONG)
def test_a_window_that_is_too_large_is_known_in_each_services_words(vendor: str) -> None:
    with chat(too_long(vendor)) as server, pytest.raises(lm15.ContextLengthError):
        Engine(model(server.url), never).complete(asking("word " * 60_000))
    assert len(server.asked) == 1


def test_a_limit_is_learned_told_remembered_and_makes_windows_smaller(isolated: Path) -> None:
    home = Home(isolated / ".lerim")
    with chat(too_long("vLLM")) as server:
        engine = Engine(model(server.url), never, home=home)
        assert engine.window_tokens == 300_000
        with pytest.raises(lm15.ContextLengthError):
            engine.complete(asking("word " * 5_000))
        assert engine.window_tokens == 500
        with pytest.raises(lm15.ContextLengthError):
            engine.complete(asking("word " * 5_000))
    [step] = engine.steps
    assert (step.kind, step.tokens, step.why) == ("limited", 4_096, "it takes 4096 tokens in all")
    assert load_limit(home, "openai:some-model") == 4_096
    assert server.asked[-1].body["max_tokens"] == 1_024


def test_what_an_account_may_send_in_a_minute_bounds_this_run_alone(isolated: Path) -> None:
    home = Home(isolated / ".lerim")
    with chat(too_long("openai, more than a minute's share")) as server:
        engine = Engine(model(server.url), never, home=home)
        with pytest.raises(lm15.ContextLengthError):
            engine.complete(asking("word " * 40_000))
    assert engine.window_tokens < 30_000
    assert load_limit(home, "openai:some-model") is None


def test_threads_that_learn_the_same_limit_tell_it_once(isolated: Path) -> None:
    together = threading.Barrier(3, timeout=HANG)

    def act(handler: Handler, asked: Asked) -> None:
        together.wait()
        too_long("anthropic")(handler, asked)

    with chat(act) as server:
        engine = Engine(model(server.url), never, home=Home(isolated / ".lerim"))

        def fails_to_ask(_: int) -> bool:
            with pytest.raises(lm15.ContextLengthError):
                engine.complete(REQUEST)
            return True

        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(fails_to_ask, range(3))) == [True] * 3
    assert [step.kind for step in engine.steps] == ["limited"]


def test_a_short_window_is_asked_again_with_less_room_for_the_answer(isolated: Path) -> None:
    with chat(too_long("vLLM"), says("ok")) as server:
        engine = Engine(model(server.url), never, home=Home(isolated / ".lerim"))
        assert engine.complete(REQUEST).text == "ok"
    assert [asked.body["max_tokens"] for asked in server.asked] == [16_000, 1_024]


def test_a_remembered_limit_bounds_the_first_answer(isolated: Path) -> None:
    home = Home(isolated / ".lerim")
    remember_limit(home, "openai:some-model", 8_000)
    with chat(says("ok")) as server:
        Engine(model(server.url), never, home=home).complete(REQUEST)
    assert server.asked[0].body["max_tokens"] == 2_000


def test_a_limit_that_cannot_be_kept_is_used_and_told(isolated: Path) -> None:
    (isolated / ".lerim").write_text("no folder")
    with chat(too_long("vLLM"), says("ok")) as server:
        engine = Engine(model(server.url), never, home=Home(isolated / ".lerim"))
        assert engine.complete(REQUEST).text == "ok"
    assert [step.kind for step in engine.steps] == ["limited", "limited"]
    assert "could not be remembered" in engine.steps[1].why


@pytest.mark.parametrize(
    ("said", "field", "most"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead.",
            "max_completion_tokens",
            16_000,
        ),
        ("max_tokens is too large: 16000. This model supports at most 4096 completion tokens", "max_tokens", 4_096),
        ("max_tokens: 16000 > 8192, which is the maximum allowed number of output tokens", "max_tokens", 8_192),
    ],
)
def test_the_bound_of_an_answer_follows_what_the_service_says_of_it(said: str, field: str, most: int) -> None:
    with chat(fails(400, said), says("ok")) as server:
        engine = Engine(model(server.url), never)
        engine.complete(REQUEST)
        engine.complete(REQUEST)
    assert [field in asked.body and asked.body[field] == most for asked in server.asked] == [False, True, True]


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ("max_tokens is too large: 16000. This model supports at most 4096 completion tokens", 4_096),
        ("This model's maximum context length is 8192 tokens. However, you requested 16100 tokens.", 2_048),
    ],
)
def test_threads_that_are_refused_the_same_bound_all_ask_with_the_other(said: str, most: int) -> None:
    together = threading.Barrier(3, timeout=HANG)

    def act(handler: Handler, asked: Asked) -> None:
        if asked.body["max_tokens"] > most:
            together.wait()
            fails(400, said)(handler, asked)
        else:
            says("ok")(handler, asked)

    with chat(act) as server:
        engine = Engine(model(server.url), never)
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(lambda _: engine.complete(REQUEST).text, range(3))) == ["ok"] * 3
    assert [step.kind for step in engine.steps] == ["limited"]


def test_a_bound_that_is_refused_for_ever_is_an_error() -> None:
    with (
        chat(fails(400, "max_tokens is too large. It supports at most 4096 completion tokens")) as server,
        pytest.raises(lm15.InvalidRequestError),
    ):
        Engine(model(server.url), never).complete(REQUEST)
    assert len(server.asked) == 2


def test_ollama_that_reads_only_a_part_and_says_nothing_is_found_out() -> None:
    usage = {"prompt_tokens": 2_048, "completion_tokens": 9}
    with chat(says("ok", usage=usage)) as server:
        engine = Engine(model(server.url, provider="ollama"), never)
        with pytest.raises(lm15.ContextLengthError, match="2048"):
            engine.complete(asking("word " * 9_000))
        assert engine.usage.calls == 1


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, b'[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]', lm15.AuthError),
        (
            429,
            b'[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing'
            b' details. Please retry in 3.5s.","status":"RESOURCE_EXHAUSTED"}}]',
            lm15.RateLimitError,
        ),
        (429, b'{"error":{"code":"1113","message":"Insufficient balance"}}', lm15.BillingError),
        (429, b'{"error":{"code":"1302","message":"High concurrency usage of this API"}}', lm15.RateLimitError),
        (400, b'{"error":{"code":"1211","message":"Model does not exist"}}', lm15.UnsupportedModelError),
        (404, b'{"error":"model \\"x\\" not found, try pulling it first"}', lm15.UnsupportedModelError),
        (403, b'{"error":{"code":403,"message":"Your input was flagged"}}', lm15.InvalidRequestError),
        (500, b'{"error":{"message":"Context size has been exceeded."}}', lm15.ContextLengthError),
        (502, b"<html>Bad gateway</html>", lm15.ServerError),
        (418, b"", lm15.InvalidRequestError),
        (500, b"[]", lm15.ServerError),
    ],
)
def test_each_services_own_form_of_error_is_read(status: int, body: bytes, error: type[lm15.LM15Error]) -> None:
    found = refusal_error(ServiceReply(status, {}, body), KEY, "x")
    assert type(found) is error or (error is lm15.ContextLengthError and isinstance(found, error))
    if isinstance(found, lm15.RateLimitError) and b"retry" in body:
        assert found.retry_after == 3.5


def test_an_answer_that_the_service_gave_up_is_asked_for_again() -> None:
    with chat(says("half", "error"), says("ok")) as server:
        engine = Engine(model(server.url), never)
        assert engine.complete(REQUEST).text == "ok"
    assert [step.why for step in engine.steps] == ["the service failed (500); retried after 1 s"]


def test_threads_ask_at_once_and_nothing_of_their_figures_is_lost() -> None:
    together = threading.Barrier(4, timeout=HANG)

    def act(handler: Handler, asked: Asked) -> None:
        together.wait()
        says("ok")(handler, asked)

    with chat(act) as server:
        engine = Engine(model(server.url), never)
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: engine.complete(REQUEST).text, range(8)))
    assert answers == ["ok"] * 8
    assert (engine.usage.calls, engine.usage.input_tokens) == (8, 8_000)


def test_threads_that_fail_at_once_move_on_to_the_next_model_once() -> None:
    together = threading.Barrier(3, timeout=HANG)

    def act(handler: Handler, asked: Asked) -> None:
        if asked.body["model"] == "some-model":
            together.wait()
            fails(404)(handler, asked)
        else:
            says("ok")(handler, asked)

    with chat(act) as server:
        engine = Engine(model(server.url, fallbacks=("other", "third")), never)
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(lambda _: engine.complete(REQUEST).text, range(3))) == ["ok"] * 3
    assert [step.kind for step in engine.steps] == ["fallback"]
    assert {asked.body["model"] for asked in server.asked} == {"some-model", "other"}


def test_a_body_of_an_error_without_end_is_left_at_a_size() -> None:
    with chat(raw(b'{"error": "' + b"x" * 9_000_000, status=400)) as server, pytest.raises(lm15.InvalidRequestError):
        Engine(model(server.url), never).complete(REQUEST)
