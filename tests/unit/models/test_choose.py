"""Which model is asked."""

from __future__ import annotations

import pytest

from lerim.models.choose import Model, choose, is_loopback
from lerim.models.providers import Role

KEY = "sk-or-v1-0123456789abcdef"


def chosen(role: Role, **environ: str) -> Model:
    model, problems = choose(role, environ)
    assert problems == []
    assert model is not None
    return model


def problem(role: Role, **environ: str) -> tuple[str, str]:
    model, problems = choose(role, environ)
    assert model is None
    [found] = problems
    return found.code, found.message


def test_a_key_alone_is_no_consent() -> None:
    assert choose(Role(), {"OPENAI_API_KEY": KEY, "OPENROUTER_API_KEY": KEY}) == (None, [])


def test_each_provider_has_its_address_key_and_model() -> None:
    model = chosen(Role("openrouter"), OPENROUTER_API_KEY=KEY)
    assert (model.base_url, model.name) == ("https://openrouter.ai/api/v1", "openai/gpt-5-nano")
    model = chosen(Role("openai", model="gpt-x"), OPENAI_API_KEY=f" {KEY}\n")
    assert (model.base_url, model.name, model.key) == ("https://api.openai.com/v1", "gpt-x", KEY)


def test_the_key_is_in_no_text_of_the_model() -> None:
    model = chosen(Role("openai"), OPENAI_API_KEY=KEY)
    assert KEY not in f"{model!r} {model} {model.label}"


def test_a_missing_key_is_a_problem_that_says_what_to_set() -> None:
    code, message = problem(Role("openrouter"), OPENAI_API_KEY=KEY)
    assert code == "model-key"
    assert "OPENROUTER_API_KEY" in message


@pytest.mark.parametrize("key", ["ab\ncd", "a b", "schlüssel"])
def test_what_cannot_be_a_key_is_refused_without_showing_it(key: str) -> None:
    code, message = problem(Role("openai"), OPENAI_API_KEY=key)
    assert code == "model-key"
    assert key not in message


def test_a_server_on_this_machine_needs_no_key_and_may_speak_plainly() -> None:
    for url in ("http://127.0.0.1:11434/v1/", "http://localhost:1234/v1", "http://[::1]:8000/v1"):
        model = chosen(Role("openai", "qwen", url))
        assert model.local
        assert not model.base_url.endswith("/")


@pytest.mark.parametrize(
    "url",
    [
        "http://models.example/v1",
        "ftp://models.example",
        "models.example/v1",
        "https://",
        "https://user:pass@models.example/v1",
        "https://models.example/v1?key=1",
        "https://models.example:99999/v1",
        "http://127.0.0.1.example/v1",
        "https://exa mple/v1",
        "https://[::1",
    ],
)
def test_an_address_that_would_leak_or_lead_astray_is_refused(url: str) -> None:
    code, _ = problem(Role("openai", "", url), OPENAI_API_KEY=KEY)
    assert code == "settings"


def test_only_this_machine_is_loopback() -> None:
    assert [
        host for host in ("localhost", "127.9.9.9", "::1", "10.0.0.1", "localhost.example", "") if is_loopback(host)
    ] == [
        "localhost",
        "127.9.9.9",
        "::1",
    ]
