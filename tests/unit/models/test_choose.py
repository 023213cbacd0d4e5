"""Which model is asked."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

import roles
from lerim.config.editor import EditorModel, EditorState
from lerim.config.providers import PROVIDERS, Role
from lerim.models.choose import choose_model
from lerim.models.model import Model
from lerim.models.services import local_servers
from models_server import listing, models, serving

KEY = "sk-or-v1-0123456789abcdef"
NOWHERE = "http://127.0.0.1:9/v1"
"""Nothing listens on this port."""
USUAL = {"Ollama": NOWHERE}
COPILOT = EditorModel("copilot/gpt-4o", "copilot", "gpt-4o", "2024-08-06", "GPT-4o", 64_000, None)
ALLOWED = EditorModel("copilot/gpt-5-mini", "copilot", "gpt-5-mini", "1", "GPT-5 mini", 128_000, True)


def look(
    role: Role, editor: EditorState | None = None, servers: dict[str, str] | None = None, **environ: str
) -> tuple[Model | None, list[tuple[str, str]]]:
    environ = {"LERIM_HOME": os.environ["LERIM_HOME"], **environ}
    model, problems = choose_model("extract", roles.settings(role), environ, editor, servers or {})
    return model, [(problem.code, f"{problem.path}: {problem.message}") for problem in problems]


def test_a_key_alone_is_no_consent() -> None:
    assert look(Role(), OPENAI_API_KEY=KEY, OPENROUTER_API_KEY=KEY) == (None, [])


def test_a_key_the_editor_keeps_counts_where_the_environment_has_none() -> None:
    model = chosen(Role("zai"), LERIM_KEY_ZAI_API_KEY=KEY, ZAI_API_KEY=" ")
    assert (model.key, model.key_variable) == (KEY, "ZAI_API_KEY")
    assert chosen(Role("auto"), LERIM_KEY_ZAI_API_KEY="other", ZAI_API_KEY=KEY).key == KEY
    address = Role("openai", "m", "https://third.example/v1")
    assert chosen(address, LERIM_KEY_LERIM_MODEL_KEY=KEY).key == KEY


def test_auto_takes_the_first_provider_whose_key_is_there() -> None:
    both = chosen(Role("auto"), ZAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY)
    assert (both.provider, both.wire, both.why) == ("anthropic", "anthropic", "ANTHROPIC_API_KEY is set")


def test_auto_takes_the_editor_s_model_only_once_it_is_allowed() -> None:
    editor = EditorState(models=(COPILOT, ALLOWED))
    model = chosen(Role("auto"), editor)
    assert (model.label, model.wire, model.billed) == ("editor:copilot/gpt-5-mini", "editor", False)
    assert look(Role("auto"), EditorState(models=(COPILOT,))) == (None, [])
    assert chosen(Role("auto"), editor, ZAI_API_KEY=KEY).provider == "zai"


def test_auto_takes_the_first_server_of_this_machine_that_answers() -> None:
    with models("small", "large") as url:
        servers = {"Ollama": NOWHERE, "LM Studio": url}
        model = chosen(Role("auto"), servers=servers)
        assert (model.label, model.base_url, model.key, model.billed) == ("openai:small", url, "", False)
        assert "LM Studio answers" in model.why
        assert chosen(Role("auto", "large"), servers=servers).name == "large"
        assert look(Role("auto", "other"), servers=servers) == (None, [])
        assert chosen(Role("auto", "", url), servers=USUAL).name == "small"
        assert chosen(Role("auto"), EditorState(models=(ALLOWED,)), servers).provider == "editor"


def test_auto_finds_nothing_without_a_word_and_looks_at_no_other_machine() -> None:
    assert look(Role("auto"), servers={"Ollama": NOWHERE}) == (None, [])
    code, message = problem(Role("auto", "", "https://models.example/v1"))
    assert (code, "on this machine" in message) == ("settings", True)


def test_without_servers_to_look_at_none_is_asked() -> None:
    asked: list[str] = []
    with serving(listing("qwen"), asked) as url:
        for provider in ("auto", "ollama"):
            assert look(Role(provider, "", url)) == (None, [])
    assert asked == []


def test_the_editor_s_model_is_asked_where_there_is_an_editor() -> None:
    code, message = problem(Role("editor"))
    assert (code, "wait for a sync there" in message) == ("model-gone", True)
    assert problem(Role("editor"), EditorState())[0] == "model-gone"
    both = EditorState(models=(COPILOT, ALLOWED))
    assert chosen(Role("editor"), both).name == "copilot/gpt-5-mini"
    for name in ("copilot/gpt-4o", "gpt-4o", "GPT-4o"):
        assert chosen(Role("editor", name), both).name == "copilot/gpt-4o"
    code, message = problem(Role("editor", "o3"), both)
    assert (code, "copilot/gpt-4o" in message) == ("model-gone", True)
    refused = EditorState(models=(msgspec.structs.replace(COPILOT, allowed=False),))
    assert problem(Role("editor"), refused)[0] == "model-key"


def test_a_command_is_asked_by_its_argv_and_called_by_its_program() -> None:
    model = chosen(Role("command", command=("/usr/bin/claude", "-p")))
    assert (model.label, model.command, model.billed, model.key) == (
        "command:claude",
        ("/usr/bin/claude", "-p"),
        False,
        "",
    )
    assert model.why == "the settings name it"
    assert chosen(Role("command", "haiku", command=("claude", "-p"))).label == "command:haiku"
    assert problem(Role("command"))[0] == "settings"


def chosen(role: Role, *arguments: Any, **environ: Any) -> Model:
    model, problems = look(role, *arguments, **environ)
    assert problems == []
    assert model is not None
    return model


def problem(role: Role, *arguments: Any, **environ: Any) -> tuple[str, str]:
    model, [found] = look(role, *arguments, **environ)
    assert model is None
    return found


@pytest.mark.parametrize(
    ("provider", "variable", "base_url", "wire"),
    [
        ("openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "chat"),
        ("openai", "OPENAI_API_KEY", "https://api.openai.com/v1", "chat"),
        ("anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1", "anthropic"),
        ("zai", "ZAI_API_KEY", "https://api.z.ai/api/paas/v4", "chat"),
        ("gemini", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai", "chat"),
        ("gemini", "GOOGLE_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai", "chat"),
    ],
)
def test_each_provider_has_its_address_key_wire_and_model(
    provider: str, variable: str, base_url: str, wire: str
) -> None:
    model = chosen(Role(provider), **{variable: f" {KEY}\n"})
    assert (model.base_url, model.key, model.key_variable, model.wire) == (base_url, KEY, variable, wire)
    assert model.name == PROVIDERS[provider].default_model != ""
    assert model.billed
    assert KEY not in f"{model!r} {model} {model.label} {model.why}"
    named = chosen(Role(provider, "x", fallback_models=("y", "x", "z")), **{variable: KEY})
    assert (named.name, named.fallbacks) == ("x", ("y", "z"))
    assert named.label == f"{provider}:x@{urlsplit(base_url).hostname}"
    assert variable in problem(Role(provider))[1] or variable == "GOOGLE_API_KEY"


@pytest.mark.parametrize("key", ["ab\ncd", "a b", "schlüssel"])
def test_what_cannot_be_a_key_is_refused_without_showing_it(key: str) -> None:
    code, message = problem(Role("openai"), OPENAI_API_KEY=key)
    assert (code, key in message) == ("model-key", False)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.9.9.9:11434/v1/",
        "http://localhost:1234/v1",
        "http://[::1]:8000/v1",
        *local_servers.LOCAL_SERVERS.values(),
    ],
)
def test_a_server_on_this_machine_needs_no_key_and_may_speak_plainly(url: str) -> None:
    model = chosen(Role("openai", "qwen", url), OPENAI_API_KEY=KEY)
    assert (model.local, model.billed, model.key, model.base_url) == (True, False, "", url.rstrip("/"))


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("http://models.example/v1", "openai"),
        ("http://models.example/v1", "ollama"),
        ("http://models.example/v1", "auto"),
        ("http://10.0.0.1/v1", "openai"),
        ("ftp://models.example", "openai"),
        ("models.example/v1", "openai"),
        ("https://", "openai"),
        ("https://user:pass@models.example/v1", "openai"),
        ("https://models.example/v1?key=1", "openai"),
        ("https://models.example:99999/v1", "openai"),
        ("http://127.0.0.1.example/v1", "openai"),
        ("https://exa mple/v1", "openai"),
        ("https://[::1", "openai"),
    ],
)
def test_an_address_that_would_leak_or_lead_astray_is_refused(url: str, provider: str) -> None:
    assert problem(Role(provider, "", url), OPENAI_API_KEY=KEY, LERIM_MODEL_KEY=KEY)[0] == "settings"


@pytest.mark.parametrize(
    ("provider", "address"),
    [
        ("openai", "https://third.example/v1"),
        ("openai", "https://api.openai.com.third.example/v1"),
        ("openai", "https://api.openai.com./v1"),
        ("openrouter", "https://openrouter.ai:8443/api/v1"),
        ("ollama", "https://ollama.example/v1"),
    ],
)
def test_a_provider_s_key_goes_to_its_own_host_alone(provider: str, address: str) -> None:
    keys = dict.fromkeys(PROVIDERS[provider].key_variables, KEY)
    code, message = problem(Role(provider, "m", address), **keys)
    assert (code, message.split(":")[0], address in message) == ("model-key", "LERIM_MODEL_KEY", True)
    model = chosen(Role(provider, "m", address), **keys, LERIM_MODEL_KEY="other")
    assert (model.key, model.key_variable) == ("other", "LERIM_MODEL_KEY")
    if keys:
        own = chosen(Role(provider, "m", PROVIDERS[provider].base_url.upper().replace("HTTPS", "https")), **keys)
        assert (own.key, own.key_variable) == (KEY, PROVIDERS[provider].key_variables[0])


def test_ollama_is_asked_for_its_first_model_unless_one_is_named() -> None:
    named = chosen(Role("ollama", "qwen"))
    assert (named.base_url, named.name, named.billed) == ("http://127.0.0.1:11434/v1", "qwen", False)
    with models("nomic-embed-text", "qwen3:8b", "llama3") as url:
        assert chosen(Role("ollama", "", url), None, USUAL).name == "qwen3:8b"
    with models("nomic-embed-text") as url:
        assert "ollama pull" in problem(Role("ollama", "", url), None, USUAL)[1]
    code, message = problem(Role("ollama", "", NOWHERE), None, USUAL)
    assert (code, "does not answer" in message) == ("model-silent", True)


def test_auto_asks_nobody_but_the_server_at_the_address_the_settings_name() -> None:
    role = Role("auto", "", "http://localhost:1/v1")
    assert look(role, EditorState(models=(ALLOWED,)), USUAL, OPENAI_API_KEY=KEY) == (None, [])
