"""The engine against a real server on loopback."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import dspy
import pytest
from dspy import lm15

from chat_server import KEY, Act, Chat, chat, completion, drips, fails, hangs, huge, raw, says
from engines import REQUEST, model, never
from lerim.models.engine import Engine
from lerim.models.lm import make_language_model, use_language_model
from lerim.models.money.usage import RoleUsage, Usage

pytestmark = pytest.mark.usefixtures("short_waits")


def ask(server: Chat, timeout: float = 30.0, cancelled: Callable[[], bool] = never) -> lm15.Response:
    return Engine(model(server.url, timeout), cancelled).complete(REQUEST)


def test_it_asks_as_chat_completions_want_and_returns_what_is_said() -> None:
    with chat(says("hello")) as server:
        engine = Engine(model(server.url), never)
        response = engine.complete(REQUEST)
    [asked] = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "some-model",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "what? 🙂"}],
        "max_tokens": 16_000,
    }
    assert response.text == "hello"
    assert (response.usage.input_tokens, response.usage.output_tokens, response.finish_reason) == (1_000, 50, "stop")
    [spent] = engine.role_usage
    assert spent == RoleUsage("extract", "openai:some-model", Usage(1, 1_000, 50, 0, 0.002, 0, engine.usage.seconds))
    assert engine.steps == []


def test_the_cost_is_asked_for_where_it_must_be() -> None:
    with chat(says("hello")) as server:
        Engine(model(server.url, provider="openrouter"), never).complete(REQUEST)
    assert server.asked[0].body["usage"] == {"include": True}


def test_text_in_parts_and_text_that_is_not_there_are_read() -> None:
    parts = completion(None)
    parts["choices"][0]["message"]["content"] = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    with chat(raw(json.dumps(parts).encode()), says(None)) as server:
        assert ask(server).text == "ab"
        assert not ask(server).text


def test_an_answer_cut_at_the_models_limit_is_kept_and_known() -> None:
    with chat(says("half an", "length")) as server:
        response = ask(server)
    assert (response.text, response.finish_reason) == ("half an", "length")


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_tried_again_and_not_shown(status: int) -> None:
    with chat(fails(status, f"Incorrect API key provided: {KEY}")) as server, pytest.raises(lm15.AuthError) as caught:
        ask(server)
    assert len(server.asked) == 1
    assert KEY not in str(caught.value)


def test_what_a_service_says_is_told_without_the_key_and_in_short() -> None:
    with (
        chat(fails(400, f"bad {KEY} request {'x' * 900}")) as server,
        pytest.raises(lm15.InvalidRequestError) as caught,
    ):
        ask(server)
    assert KEY not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_too_many_requests_are_tried_again_after_the_time_the_service_names() -> None:
    with chat(fails(429, headers={"Retry-After": "0"}), fails(503, headers={"Retry-After": "0"}), says("ok")) as server:
        assert ask(server).text == "ok"
    assert len(server.asked) == 3


def test_tries_end() -> None:
    with chat(fails(429, headers={"Retry-After": "0"})) as server, pytest.raises(lm15.RateLimitError):
        ask(server)
    assert len(server.asked) == 3


def test_a_wait_of_hours_is_not_waited() -> None:
    with chat(fails(429, headers={"Retry-After": "7200"})) as server, pytest.raises(lm15.RateLimitError):
        ask(server)
    assert len(server.asked) == 1


def test_a_wait_ends_when_the_person_cancels() -> None:
    stop = threading.Event()
    with chat(fails(429, headers={"Retry-After": "50"})) as server:

        def cancelled() -> bool:
            if server.came.is_set():
                stop.set()
            return stop.is_set()

        with pytest.raises(lm15.TransportError) as caught:
            ask(server, cancelled=cancelled)
    assert caught.value.code == "cancelled"


def test_a_call_ends_when_the_person_cancels() -> None:
    with chat(hangs) as server, pytest.raises(lm15.TransportError) as caught:
        ask(server, cancelled=server.came.is_set)
    assert caught.value.code == "cancelled"
    assert len(server.asked) == 1


@pytest.mark.parametrize("act", [hangs, drips])
def test_a_service_that_hangs_or_drips_is_left_at_the_deadline_and_not_tried_again(act: object) -> None:
    with chat(act) as server, pytest.raises(lm15.TimeoutError) as caught:
        ask(server, timeout=0.3)
    assert "0.3 seconds" in str(caught.value)
    assert len(server.asked) == 1


def test_a_body_without_end_is_left_at_a_size() -> None:
    with chat(huge) as server, pytest.raises(lm15.InvalidRequestError, match="larger than 8 MB"):
        ask(server)
    assert len(server.asked) == 1


def packed(data: bytes, packing: str = "gzip") -> Act:
    return raw(data, headers={"Content-Type": "application/json", "Content-Encoding": packing})


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_an_answer_that_unpacks_without_end_is_left_at_a_size(kind: str) -> None:
    packer = zlib.compressobj(wbits=31)
    data = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(300)), packer.flush()])
    answer = raw(data, headers={"Content-Type": kind, "Content-Encoding": "gzip"})
    tracemalloc.start()
    try:
        with chat(answer) as server, pytest.raises(lm15.InvalidRequestError, match="larger than 8 MB"):
            ask(server)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


def test_an_answer_that_is_packed_though_it_was_not_asked_for_is_read_where_it_is_packed_once() -> None:
    data = json.dumps(completion("hello")).encode()
    with chat(packed(gzip.compress(data))) as server:
        assert ask(server).text == "hello"
    with chat(packed(gzip.compress(gzip.compress(data)), "gzip, gzip")) as server, pytest.raises(lm15.TransportError):
        ask(server)
    with chat(packed(data)) as server, pytest.raises(lm15.TransportError):
        ask(server)


def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else() -> None:
    with chat(says("stolen")) as other:
        away = raw(b"", headers={"Location": f"{other.url}/chat/completions"}, status=307)
        with chat(away) as server, pytest.raises(lm15.InvalidRequestError, match="base_url"):
            ask(server)
        assert other.asked == []


def test_a_connection_that_breaks_off_is_tried_again() -> None:
    whole = json.dumps(completion("ok")).encode()
    with chat(raw(whole[:40], length=len(whole)), says("ok")) as server:
        assert ask(server).text == "ok"
    assert len(server.asked) == 2


def test_what_is_no_completion_is_told() -> None:
    for body in (b"<html>busy</html>", b"{}", b"[1]", b'{"choices": []}', b'{"choices": 5}'):
        with chat(raw(body, headers={"Retry-After": "0"})) as server:
            engine = Engine(model(server.url), lambda: len(server.asked) > 1)
            with pytest.raises(lm15.TransportError):
                engine.complete(REQUEST)


def test_an_error_told_with_a_status_of_success_is_an_error() -> None:
    with chat(raw(b'{"error": {"message": "no", "code": 401}}')) as server, pytest.raises(lm15.AuthError):
        ask(server)


@pytest.mark.parametrize(
    ("status", "message", "code", "error"),
    [
        (402, "no", "", lm15.BillingError),
        (429, "You exceeded your quota", "insufficient_quota", lm15.BillingError),
        (400, "the prompt is too long", "", lm15.ContextLengthError),
        (400, "no", "context_length_exceeded", lm15.ContextLengthError),
        (413, "no", "", lm15.ContextLengthError),
        (404, "no such model", "", lm15.UnsupportedModelError),
        (504, "no", "", lm15.TimeoutError),
    ],
)
def test_what_a_service_refuses_is_told_apart(status: int, message: str, code: str, error: type[Exception]) -> None:
    with chat(fails(status, message, code)) as server, pytest.raises(error):
        ask(server)
    assert len(server.asked) == 1


def test_nobody_there_is_told_without_the_key() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    looks = iter(range(1_000))
    engine = Engine(model(f"http://127.0.0.1:{port}/v1"), lambda: next(looks) > 4)
    with pytest.raises(lm15.TransportError) as caught:
        engine.complete(REQUEST)
    assert KEY not in str(caught.value)


def test_a_netrc_entry_does_not_take_the_keys_place(isolated: Path) -> None:
    isolated.mkdir(exist_ok=True)
    (isolated / ".netrc").write_text("machine 127.0.0.1 login me password other\n")
    (isolated / ".netrc").chmod(0o600)
    with chat(says("ok")) as server:
        Engine(model(server.url), never).complete(REQUEST)
        Engine(model(server.url, key=""), never).complete(REQUEST)
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in server.asked[1].headers


def test_odd_figures_of_usage_count_nothing() -> None:
    odd = completion("ok") | {"usage": {"prompt_tokens": -5, "completion_tokens": None, "cost": -1.0}}
    with chat(raw(json.dumps(odd).encode())) as server:
        engine = Engine(model(server.url), never)
        engine.complete(REQUEST)
    assert (engine.usage.input_tokens, engine.usage.output_tokens, engine.usage.cost) == (0, 0, 0.0)


def test_usage_adds_up() -> None:
    assert Usage(1, 10, 5, 4, 0.1, 1, 1.5) + Usage(2, 1, 1, 1, 0.2, 0, 0.5) == Usage(3, 11, 6, 5, 0.3, 1, 2.0)


class _Short(dspy.Signature):
    """Answer in short."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


def test_dspy_says_nothing_of_a_cut_answer_and_who_asked_hears_of_it(capfd: pytest.CaptureFixture[str]) -> None:
    with chat(
        says("[[ ## answer ## ]]\nhal", "length"), says("[[ ## answer ## ]]\nall\n[[ ## completed ## ]]")
    ) as server:
        chosen = model(server.url)
        lm = make_language_model(chosen, Engine(chosen, never))
        with use_language_model(lm) as heard, pytest.raises(dspy.AdapterParseError):
            dspy.Predict(_Short)(question="what?")
        assert heard.cut
        with use_language_model(lm) as heard:
            assert dspy.Predict(_Short)(question="what?").answer == "all"
        assert not heard.cut
    assert capfd.readouterr() == ("", "")
