"""How long is waited, who is used instead, and what of a service's own words is heeded."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from chat_server import KEY, TOO_LONG, Act, Asked, Handler, chat, fails, says, too_long
from engines import REQUEST, asking, model, never
from hang import HANG
from lerim.models import lm15
from lerim.models.engine import Engine
from lerim.models.limits import load_limit
from lerim.models.services.faults import parse_retry_after, refusal_error
from lerim.models.services.wire import ServiceReply
from lerim.paths import Home

pytestmark = pytest.mark.usefixtures("short_waits")

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def home(isolated: Path) -> Home:
    return Home(isolated / ".lerim")


def date(seconds: int) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "words", "seconds"),
    [
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, "", 0.25),
        ({"retry-after": date(30), "date": date(0)}, "", 30),
        ({"retry-after": date(0), "date": date(30)}, "", 0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-3"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "9" * 400}, "", None),
        ({}, "Please try again in 6ms.", 0.006),
        ({}, "Please try again in 1m12s", 72),
        ({}, "Please retry in 34.07s", 34.07),
        ({}, "try again in 2h", 7_200),
        ({}, "Try again in a while", None),
    ],
)
def test_how_long_a_service_wants_to_be_left_alone(headers: dict[str, str], words: str, seconds: float | None) -> None:
    assert parse_retry_after(headers, words) == seconds


def first_model(act: Act) -> Act:
    """The first model does so; the others answer."""
    return lambda handler, asked: (act if asked.body["model"] == "some-model" else says("ok"))(handler, asked)


def test_the_next_model_is_asked_once_the_first_has_no_more_tries_and_stays_for_the_run() -> None:
    with chat(first_model(fails(429, headers={"Retry-After": "0"}))) as server:
        engine = Engine(model(server.url, fallbacks=("other", "third")), never)
        assert engine.complete(REQUEST).text == "ok"
        assert engine.complete(REQUEST).text == "ok"
    assert [asked.body["model"] for asked in server.asked] == ["some-model"] * 3 + ["other"] * 2
    assert [step.kind for step in engine.steps] == ["retried", "retried", "fallback"]
    assert engine.steps[-1].why == "too many requests; other is used instead"
    assert [(one.model, one.usage.calls) for one in engine.role_usage] == [("openai:other", 2)]


def test_once_all_failed_the_next_call_begins_with_the_first() -> None:
    with chat(fails(404), fails(404), says("ok")) as server:
        engine = Engine(model(server.url, fallbacks=("other",)), never)
        with pytest.raises(lm15.UnsupportedModelError, match="other"):
            engine.complete(REQUEST)
        engine.complete(REQUEST)
    assert server.asked[-1].body["model"] == "some-model"


@pytest.mark.parametrize("vendor", TOO_LONG)
def test_each_services_words_for_a_window_too_large_are_known_and_its_limit_is_remembered(
    home: Home, vendor: str
) -> None:
    status, _, limit = TOO_LONG[vendor]
    with chat(too_long(vendor)) as server:
        engine = Engine(model(server.url), never, home=home)
        with pytest.raises(lm15.ContextLengthError):
            engine.complete(asking("word " * ((limit or 10) // 2)))
    assert len(server.asked) == 1
    of_a_minute = status == 429  # what the account may send bounds this run alone
    assert load_limit(home, "openai:some-model") == (None if of_a_minute else limit)
    assert engine.window_tokens < (limit or 300_001)
    assert [step.why for step in engine.steps] == ([f"it takes {limit} tokens in all"] if limit else [])


def test_a_limit_that_cannot_be_kept_is_used_and_told(isolated: Path, home: Home) -> None:
    (isolated / ".lerim").write_text("no folder")
    with chat(too_long("vLLM"), says("ok")) as server:
        engine = Engine(model(server.url), never, home=home)
        assert engine.complete(REQUEST).text == "ok"
    assert [step.kind for step in engine.steps] == ["limited", "limited"]
    assert "could not be remembered" in engine.steps[1].why


@pytest.mark.parametrize(
    ("said", "field", "most"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_completion_tokens", 16_000),
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


def test_a_bound_that_is_refused_for_ever_is_an_error() -> None:
    refused = fails(400, "max_tokens is too large. It supports at most 4096 completion tokens")
    with chat(refused) as server, pytest.raises(lm15.InvalidRequestError):
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
        (429, b'{"error":{"code":"insufficient_quota","message":"You exceeded your quota"}}', lm15.BillingError),
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


# --- threads that ask at once ---------------------------------------------------------------------------------------


def meeting(count: int, refused: Callable[[Asked], bool], act: Act) -> Act:
    """What is refused waits until `count` requests are there, then `act` follows; the rest is answered."""
    together = threading.Barrier(count, timeout=HANG)

    def made(handler: Handler, asked: Asked) -> None:
        if refused(asked):
            together.wait()
        (act if refused(asked) else says("ok"))(handler, asked)

    return made


def at_once(engine: Engine, count: int) -> list[str | None]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda _: engine.complete(REQUEST).text, range(count)))


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ("max_tokens is too large: 16000. This model supports at most 4096 completion tokens", 4_096),
        ("This model's maximum context length is 8192 tokens. However, you requested 16100 tokens.", 2_048),
    ],
)
def test_threads_that_are_refused_the_same_bound_tell_it_once_and_all_ask_with_the_other(said: str, most: int) -> None:
    with chat(meeting(3, lambda asked: asked.body["max_tokens"] > most, fails(400, said))) as server:
        engine = Engine(model(server.url), never)
        assert at_once(engine, 3) == ["ok"] * 3
    assert [step.kind for step in engine.steps] == ["limited"]


def test_threads_that_fail_at_once_move_on_to_the_next_model_once() -> None:
    with chat(meeting(3, lambda asked: asked.body["model"] == "some-model", fails(404))) as server:
        engine = Engine(model(server.url, fallbacks=("other", "third")), never)
        assert at_once(engine, 3) == ["ok"] * 3
    assert [step.kind for step in engine.steps] == ["fallback"]
    assert {asked.body["model"] for asked in server.asked} == {"some-model", "other"}
