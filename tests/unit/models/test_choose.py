"""Which model is asked."""

from __future__ import annotations

import os
from dataclasses import replace
from urllib.parse import urlsplit

import msgspec
import pytest

import roles
from lerim.config.address import is_loopback
from lerim.config.editor import EditorModel, EditorState
from lerim.config.providers import PROVIDERS, Role
from lerim.models.choose import choose_model
from lerim.models.model import Model
from lerim.models.money import consent
from lerim.models.services import local
from lerim.paths import Home
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


def chosen(
    role: Role, editor: EditorState | None = None, servers: dict[str, str] | None = None, **environ: str
) -> Model:
    model, problems = look(role, editor, servers, **environ)
    assert problems == []
    assert model is not None
    return model


def problem(
    role: Role, editor: EditorState | None = None, servers: dict[str, str] | None = None, **environ: str
) -> tuple[str, str]:
    model, [found] = look(role, editor, servers, **environ)
    assert model is None
    return found


def test_a_key_alone_is_no_consent() -> None:
    assert look(Role(), OPENAI_API_KEY=KEY, OPENROUTER_API_KEY=KEY) == (None, [])


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
    assert model.name == PROVIDERS[provider].default_model
    assert model.name
    assert model.billed
    named = chosen(Role(provider, "x", fallback_models=("y", "x", "z")), **{variable: KEY})
    assert (named.name, named.fallbacks, named.label) == (
        "x",
        ("y", "z"),
        f"{provider}:x@{urlsplit(base_url).hostname}",
    )


def test_a_key_the_editor_keeps_counts_where_the_environment_has_none() -> None:
    model = chosen(Role("zai"), LERIM_KEY_ZAI_API_KEY=KEY, ZAI_API_KEY=" ")
    assert (model.key, model.key_variable) == (KEY, "ZAI_API_KEY")
    assert chosen(Role("auto"), LERIM_KEY_ZAI_API_KEY="other", ZAI_API_KEY=KEY).key == KEY
    address = Role("openai", "m", "https://third.example/v1")
    assert chosen(address, LERIM_KEY_LERIM_MODEL_KEY=KEY).key == KEY


def test_openrouter_is_asked_for_a_small_model() -> None:
    assert chosen(Role("openrouter"), OPENROUTER_API_KEY=KEY).name == "openai/gpt-5-nano"


def test_the_key_is_in_no_text_of_the_model() -> None:
    model = chosen(Role("openai"), OPENAI_API_KEY=KEY)
    assert KEY not in f"{model!r} {model} {model.label} {model.why}"


def test_a_missing_key_is_a_problem_that_says_what_to_set() -> None:
    code, message = problem(Role("openrouter"), OPENAI_API_KEY=KEY)
    assert code == "model-key"
    assert "OPENROUTER_API_KEY" in message
    assert "GEMINI_API_KEY" in problem(Role("gemini"))[1]


@pytest.mark.parametrize("key", ["ab\ncd", "a b", "schlüssel"])
def test_what_cannot_be_a_key_is_refused_without_showing_it(key: str) -> None:
    code, message = problem(Role("openai"), OPENAI_API_KEY=key)
    assert code == "model-key"
    assert key not in message


def test_a_server_on_this_machine_needs_no_key_and_may_speak_plainly() -> None:
    for url in ("http://127.0.0.1:11434/v1/", "http://localhost:1234/v1", "http://[::1]:8000/v1"):
        model = chosen(Role("openai", "qwen", url))
        assert model.local
        assert not model.billed
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
@pytest.mark.parametrize("provider", ["openai", "ollama", "auto"])
def test_an_address_that_would_leak_or_lead_astray_is_refused(url: str, provider: str) -> None:
    code, _ = problem(Role(provider, "", url), OPENAI_API_KEY=KEY, LERIM_MODEL_KEY=KEY)
    assert code == "settings"


@pytest.mark.parametrize("provider", [name for name, one in PROVIDERS.items() if one.key_variables])
@pytest.mark.parametrize(
    "address",
    [
        "https://third.example/v1",
        "https://api.openai.com.third.example/v1",
        "https://api.openai.com./v1",
        "https://openrouter.ai:8443/api/v1",
        "http://127.0.0.1:8000/v1",
    ],
)
def test_a_provider_s_key_goes_to_its_own_host_alone(provider: str, address: str) -> None:
    keys = dict.fromkeys(PROVIDERS[provider].key_variables, KEY)
    if not address.startswith("http:"):
        code, message = problem(Role(provider, "m", address), **keys)
        assert (code, message.split(":")[0], address in message) == ("model-key", "LERIM_MODEL_KEY", True)
    else:
        assert chosen(Role(provider, "m", address), **keys).key == ""
    model = chosen(Role(provider, "m", address), **keys, LERIM_MODEL_KEY="other")
    assert (model.key, model.key_variable) == ("other", "LERIM_MODEL_KEY")
    own = chosen(Role(provider, "m", PROVIDERS[provider].base_url.upper().replace("HTTPS", "https")), **keys)
    assert (own.key, own.key_variable) == (KEY, PROVIDERS[provider].key_variables[0])


@pytest.mark.parametrize("address", local.LOCAL_SERVERS.values())
def test_the_usual_servers_of_this_machine_get_no_key(address: str) -> None:
    assert chosen(Role("openai", "m", address), OPENAI_API_KEY=KEY, LERIM_MODEL_KEY=KEY).key == ""


def test_no_other_machine_is_asked_without_a_key() -> None:
    assert problem(Role("ollama", "qwen", "https://ollama.example/v1"))[0] == "model-key"
    assert chosen(Role("ollama", "qwen", "https://ollama.example/v1"), LERIM_MODEL_KEY=KEY).key == KEY


def test_only_this_machine_is_loopback() -> None:
    hosts = ("localhost", "127.9.9.9", "::1", "10.0.0.1", "localhost.example", "")
    assert [host for host in hosts if is_loopback(host)] == ["localhost", "127.9.9.9", "::1"]


def test_a_named_model_of_ollama_is_asked_without_looking() -> None:
    model = chosen(Role("ollama", "qwen"))
    assert (model.base_url, model.name, model.billed) == ("http://127.0.0.1:11434/v1", "qwen", False)


def test_ollama_without_a_name_is_asked_for_its_first_model() -> None:
    with models("nomic-embed-text", "qwen3:8b", "llama3") as url:
        assert chosen(Role("ollama", "", url), servers=USUAL).name == "qwen3:8b"
    with models("nomic-embed-text") as url:
        assert "ollama pull" in problem(Role("ollama", "", url), servers=USUAL)[1]
    code, message = problem(Role("ollama", "", NOWHERE), servers=USUAL)
    assert code == "model-silent"
    assert "does not answer" in message


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


def test_auto_asks_nobody_but_the_server_at_the_address_the_settings_name() -> None:
    role = Role("auto", "", "http://localhost:1/v1")
    assert look(role, EditorState(models=(ALLOWED,)), USUAL, OPENAI_API_KEY=KEY) == (None, [])


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
    assert chosen(Role("command", "haiku", command=("claude", "-p"))).label == "command:haiku"
    assert problem(Role("command"))[0] == "settings"


def test_windows_are_as_small_as_the_model_said_it_needs() -> None:
    role = Role("openai", "m", "http://localhost:1/v1")
    assert chosen(role).max_window_tokens == 300_000
    consent.keep_limit(Home.from_environ(os.environ), "openai:m", 40_000)
    model = chosen(role)
    assert model.max_window_tokens < 40_000
    assert model.window_overlap_tokens <= model.max_window_tokens // 4
    assert chosen(replace(role, max_window_tokens=2_000)).max_window_tokens == 2_000


def test_windows_fit_what_the_editor_says_of_its_model() -> None:
    assert chosen(Role("editor"), EditorState(models=(COPILOT,))).max_window_tokens < 64_000


def test_roles_have_their_own_model() -> None:
    settings = roles.settings(Role("openai", "m"))
    own = replace(settings, roles={**settings.roles, "summarize": Role("zai", "s", timeout=7)})
    model, _ = choose_model("summarize", own, {"ZAI_API_KEY": KEY, "LERIM_HOME": os.environ["LERIM_HOME"]}, None, {})
    assert model is not None
    assert (model.role, model.label, model.timeout) == ("summarize", "zai:s@api.z.ai", 7)
