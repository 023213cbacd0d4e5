"""The engine against a real server on loopback, in both forms of a service."""

from __future__ import annotations

import gzip
import json
import socket
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from chat_server import KEY, Act, Chat, chat, completion, drips, fails, hangs, huge, message, raw, says
from engines import REQUEST, model, never
from lerim.models import dspy, lm15
from lerim.models.engine import Engine
from lerim.models.lm import make_language_model, use_language_model
from lerim.models.money.usage import RoleUsage, Usage

pytestmark = pytest.mark.usefixtures("short_waits")

FORMS = pytest.mark.parametrize("form", ["openai", "anthropic"])
AT_ONCE = {"retry-after": "0"}
SECRET = "the transcript said so"
PLAIN_KEY = "our-own"
"""A key that looks like none."""


def ask(
    server: Chat, form: str = "openai", timeout: float = 30.0, cancelled: Callable[[], bool] = never
) -> lm15.Response:
    return Engine(model(server.url, timeout, provider=form, fallbacks=("other",)), cancelled).complete(REQUEST)


USER = {"role": "user", "content": "what? 🙂"}
ASKED = {
    "openai": (
        "/v1/chat/completions",
        {"authorization": f"Bearer {KEY}"},
        {"model": "some-model", "messages": [{"role": "system", "content": "be brief"}, USER], "max_tokens": 16_000},
    ),
    "anthropic": (
        "/v1/messages",
        {"x-api-key": KEY, "anthropic-version": "2023-06-01"},
        {"model": "some-model", "system": "be brief", "messages": [USER], "max_tokens": 16_000},
    ),
}


@FORMS
def test_it_asks_in_the_form_of_the_service_and_returns_what_is_said(form: str) -> None:
    with chat(says("hello")) as server:
        engine = Engine(model(server.url, provider=form), never)
        response = engine.complete(REQUEST)
    [asked] = server.asked
    path, headers, body = ASKED[form]
    assert (asked.path, asked.body) == (path, body)
    names = ("authorization", "x-api-key", "anthropic-version")
    assert {name: asked.headers[name] for name in names if name in asked.headers} == headers
    assert (response.text, response.finish_reason) == ("hello", "stop")
    assert (response.usage.input_tokens, response.usage.output_tokens) == (1_000, 50)
    usage = Usage(1, 1_000, 50, cost=0.002 if form == "openai" else 0.0, seconds=engine.usage.seconds)
    assert engine.role_usage == [RoleUsage("extract", f"{form}:some-model", usage)]
    assert engine.steps == []


def test_the_cost_is_asked_for_where_it_must_be() -> None:
    with chat(says("hello")) as server:
        ask(server, "openrouter")
    assert server.asked[0].body["usage"] == {"include": True}


TEXTS = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]


@pytest.mark.parametrize(
    ("reply", "text", "finish"),
    [
        (completion(TEXTS), "ab", "stop"),  # type: ignore[arg-type]
        (completion(None), "", "stop"),
        ({"choices": [{"message": None, "finish_reason": "stop"}]}, "", "stop"),
        (completion("half an", "length"), "half an", "length"),
        (completion("half an", "content_filter"), "half an", "content_filter"),
        (message("", content=[{"type": "thinking", "thinking": "hm", "signature": "x"}, *TEXTS]), "ab", "stop"),
        (message("half an", "max_tokens"), "half an", "length"),
        (message("half an", "model_context_window_exceeded"), "half an", "length"),
        (message("half an", "refusal"), "half an", "content_filter"),
    ],
)
def test_an_answer_is_read_with_why_it_ended(reply: dict, text: str, finish: str) -> None:
    with chat(raw(json.dumps(reply).encode())) as server:
        response = ask(server, "anthropic" if "content" in reply else "openai")
    assert (response.text or "", response.finish_reason) == (text, finish)


@pytest.mark.parametrize(
    ("form", "figures", "usage"),
    [
        ("openai", None, Usage(1, 6, 1)),
        ("openai", {"prompt_tokens": -5, "completion_tokens": None, "cost": -1.0}, Usage(1, 6, 1)),
        ("openai", {"prompt_tokens": 12.0, "completion_tokens": 3.0}, Usage(1, 12, 3)),
        (
            "anthropic",
            {"input_tokens": 1, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 100, "output_tokens": 5},
            Usage(1, 111, 5, 10),
        ),
    ],
)
def test_what_a_service_does_not_count_is_counted_by_us_and_the_cache_is_part_of_what_was_sent(
    form: str, figures: dict | None, usage: Usage
) -> None:
    with chat(says("ok", usage=figures)) as server:
        engine = Engine(model(server.url, provider=form), never)
        engine.complete(REQUEST)
    assert msgspec.structs.replace(engine.usage, seconds=0.0) == usage


@FORMS
@pytest.mark.parametrize(
    ("status", "said", "error"),
    [
        (400, f"odd {PLAIN_KEY} {'x' * 900}", lm15.InvalidRequestError),
        (400, "Your credit balance is too low", lm15.BillingError),
        (401, f"Incorrect API key provided: {PLAIN_KEY}", lm15.AuthError),
        (402, "no", lm15.BillingError),
        (403, f"no {PLAIN_KEY}", lm15.AuthError),
        (413, "no", lm15.ContextLengthError),
        (504, "no", lm15.TimeoutError),
    ],
)
def test_what_does_not_pass_is_told_apart_in_short_without_the_key_and_nobody_else_is_asked(
    form: str, status: int, said: str, error: type[Exception]
) -> None:
    with chat(fails(status, said)) as server, pytest.raises(error) as caught:
        Engine(model(server.url, provider=form, key=PLAIN_KEY, fallbacks=("other",)), never).complete(REQUEST)
    assert len(server.asked) == 1
    assert PLAIN_KEY not in str(caught.value)
    assert len(str(caught.value)) < 400


@FORMS
@pytest.mark.parametrize(
    ("act", "why"),
    [
        (fails(429, SECRET, headers=AT_ONCE), "too many requests; retried after 0 s"),
        (fails(429, headers={"retry-after-ms": "1"}), "too many requests; retried after 0.001 s"),
        (fails(529, SECRET, headers=AT_ONCE), "the service failed (529); retried after 0 s"),
        (fails(500, SECRET), "the service failed (500); retried after 0.01 s"),
        (raw(b'{"choices": [', length=5_000), "the connection failed; retried after 0.01 s"),
        (raw(b"<html>"), "the answer broke off; retried after 0.01 s"),
        (raw(b"{}"), "the answer broke off; retried after 0.01 s"),
        (raw(b'{"choices": 5, "content": 5}'), "the answer broke off; retried after 0.01 s"),
        (
            raw(b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'),
            "the service failed (500); retried after 0.01 s",
        ),
    ],
)
def test_what_passes_is_waited_for_and_told_in_our_own_words(form: str, act: Act, why: str) -> None:
    with chat(act, says("ok")) as server:
        engine = Engine(model(server.url, provider=form), never)
        assert engine.complete(REQUEST).text == "ok"
    assert len(server.asked) == 2
    assert [(step.kind, step.role, step.model, step.why) for step in engine.steps] == [
        ("retried", "extract", f"{form}:some-model", why)
    ]


def test_an_error_told_with_a_status_of_success_is_an_error() -> None:
    with chat(raw(b'{"error": {"message": "no", "code": 401}}')) as server, pytest.raises(lm15.AuthError):
        ask(server)


@pytest.mark.parametrize("act", [hangs, fails(429, headers={"Retry-After": "50"})], ids=["call", "wait"])
def test_a_call_and_a_wait_end_when_the_person_cancels(act: Act) -> None:
    with chat(act) as server, pytest.raises(lm15.TransportError) as caught:
        ask(server, cancelled=server.came.is_set)
    assert caught.value.code == "cancelled"
    assert len(server.asked) == 1


@pytest.mark.parametrize("act", [hangs, drips])
def test_a_service_that_hangs_or_drips_is_left_at_the_deadline_and_not_tried_again(act: Act) -> None:
    timeout = 0.2
    while True:
        with chat(act) as server, pytest.raises(lm15.TimeoutError, match=rf"{timeout:g} seconds"):
            ask(server, timeout=timeout)
        if server.asked:
            break
        timeout *= 2  # the machine was too busy to send the question in time, and it may still come: to this server
    assert len(server.asked) == 1


@pytest.mark.parametrize("act", [huge, raw(b'{"error": "' + b"x" * 9_000_000, status=400)], ids=["answer", "error"])
def test_a_body_without_end_is_left_at_a_size(act: Act) -> None:
    with chat(act) as server, pytest.raises(lm15.InvalidRequestError, match="larger than 8 MB"):
        ask(server)
    assert len(server.asked) == 1


def packed(data: bytes, packing: str = "gzip", kind: str = "application/json") -> Act:
    return raw(data, headers={"Content-Type": kind, "Content-Encoding": packing})


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_an_answer_that_unpacks_without_end_is_left_at_a_size(kind: str) -> None:
    packer = zlib.compressobj(wbits=31)
    data = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(60)), packer.flush()])
    tracemalloc.start()
    try:
        with chat(packed(data, kind=kind)) as server, pytest.raises(lm15.InvalidRequestError, match="larger than 8 MB"):
            ask(server)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


def test_an_answer_that_is_packed_though_it_was_not_asked_for_is_read_where_it_is_packed_once() -> None:
    data = json.dumps(completion("hello")).encode()
    with chat(packed(gzip.compress(data))) as server:
        assert ask(server).text == "hello"
    for act in (packed(gzip.compress(gzip.compress(data)), "gzip, gzip"), packed(data)):
        with chat(act) as server, pytest.raises(lm15.TransportError):
            ask(server)


def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else() -> None:
    with chat(says("stolen")) as other:
        away = raw(b"", headers={"Location": f"{other.url}/chat/completions"}, status=307)
        with chat(away) as server, pytest.raises(lm15.InvalidRequestError, match="base_url"):
            ask(server)
        assert other.asked == []


def test_nobody_there_is_told_without_the_key() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(lm15.TransportError) as caught:
        Engine(model(f"http://127.0.0.1:{port}/v1"), never).complete(REQUEST)
    assert KEY not in str(caught.value)


def test_a_netrc_entry_does_not_take_the_keys_place(isolated: Path) -> None:
    isolated.mkdir(exist_ok=True)
    (isolated / ".netrc").write_text("machine 127.0.0.1 login me password other\n")
    (isolated / ".netrc").chmod(0o600)
    with chat(says("ok")) as server:
        ask(server)
        Engine(model(server.url, key=""), never).complete(REQUEST)
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in server.asked[1].headers


class _Short(dspy.Signature):
    """Answer in short."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


def test_dspy_says_nothing_of_a_cut_answer_and_who_asked_hears_of_it(capfd: pytest.CaptureFixture[str]) -> None:
    answers = (says("[[ ## answer ## ]]\nhal", "length"), says("[[ ## answer ## ]]\nall\n[[ ## completed ## ]]"))
    with chat(*answers) as server:
        chosen = model(server.url)
        lm = make_language_model(Engine(chosen, never))
        with use_language_model(lm) as heard, pytest.raises(dspy.AdapterParseError):
            dspy.Predict(_Short)(question="what?")
        assert heard.cut
        with use_language_model(lm) as heard:
            assert dspy.Predict(_Short)(question="what?").answer == "all"
        assert not heard.cut
    assert capfd.readouterr() == ("", "")
