"""`lerim model`: what there is, choosing one, trying it, agreeing to pay."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any

import pytest

import terminal
from chat_server import KEY, chat, fails, says
from lerim.models.money import consent
from lerim.paths import Home
from models_server import models

run = partial(terminal.run, "model")
answer = partial(terminal.answer, "model")


def home() -> Home:
    return Home.from_environ(os.environ)


def write(text: str) -> None:
    home().root.mkdir(parents=True, exist_ok=True)
    home().config.write_text(text, encoding="utf-8")


def test_the_list_tells_which_keys_are_set_and_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZAI_API_KEY", KEY)
    shown = answer("list")
    assert {one["name"]: one["key"] for one in shown["providers"]} == {
        "openrouter": False,
        "openai": False,
        "anthropic": False,
        "zai": True,
        "gemini": False,
    }
    [role] = shown["roles"]
    assert (role["role"], role["provider"], role["origin"], role["model"]) == ("extract", "none", "default", "")
    text = run("list").stdout
    assert "no model is used" in text
    assert "$1 a day" in text
    assert KEY not in text + json.dumps(shown)


def test_the_list_tells_what_is_chosen_why_and_what_it_told_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZAI_API_KEY", KEY)
    consent.keep_limit(home(), "zai:glm-5.3-flash@api.z.ai", 20_000)
    write('[roles.extract]\nprovider = "auto"\n[roles.lead]\nprovider = "openai"\n')
    extract, lead = answer("list")["roles"]
    assert (extract["model"], extract["why"]) == ("zai:glm-5.3-flash@api.z.ai", "ZAI_API_KEY is set")
    assert (extract["billed"], extract["allowed"], extract["limit"]) == (True, False, 20_000)
    assert extract["max_window_tokens"] < 20_000
    assert (lead["role"], lead["model"], lead["problems"][0]["code"]) == ("lead", "", "model-key")
    result = run("list")
    assert "ZAI_API_KEY is set" in result.stdout
    assert "lerim model allow" in result.stdout
    assert "OPENAI_API_KEY" in result.stderr


def test_the_list_tells_which_servers_and_editor_models_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"models": [{"id": "copilot/gpt-4o", "allowed": False}]}
    monkeypatch.setenv("LERIM_EDITOR", json.dumps(told))
    with models("qwen", "llama") as url:
        write(f'[roles.extract]\nprovider = "auto"\nbase_url = "{url}"\n')
        shown = answer("list")
        assert {"name": "", "base_url": url, "models": ["qwen", "llama"]} in shown["servers"]
        assert shown["roles"][0]["model"] == "openai:qwen"
        assert shown["editor"][0]["id"] == "copilot/gpt-4o"
        text = run("list").stdout
    assert f"answers at {url}: qwen, llama" in text
    assert "copilot/gpt-4o (not allowed)" in text


def test_a_model_is_chosen_in_the_person_s_file_and_the_rest_of_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    write('# mine\n[search]\nlimit = 5  # few\n\n[roles.extract]\nprovider = "openai"  # so far\nmodel = "x"\n')
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    view = answer("use", "anthropic")
    assert home().config.read_text(encoding="utf-8") == (
        '# mine\n[search]\nlimit = 5  # few\n\n[roles.extract]\nprovider = "anthropic"  # so far\nmodel = ""\n'
    )
    assert (view["path"], view["role"]["model"]) == (str(home().config), "anthropic:claude-haiku-5-5@api.anthropic.com")
    answer("use", "openai", "qwen", "--base-url", "http://127.0.0.1:8000/v1")
    text = home().config.read_text(encoding="utf-8")
    assert 'model = "qwen"' in text
    assert 'base_url = "http://127.0.0.1:8000/v1"' in text
    answer("use", "zai", "glm-5")
    assert 'base_url = ""' in home().config.read_text(encoding="utf-8")


def test_choosing_says_what_is_missing_and_what_counts_instead(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    result = run("use", "gemini")
    assert result.exit_code == 0
    assert "GEMINI_API_KEY" in result.stderr
    named = tmp_path / "named.toml"
    named.write_text('[roles.extract]\nprovider = "none"\n', encoding="utf-8")
    monkeypatch.setenv("LERIM_CONFIG", str(named))
    assert str(named) in run("use", "gemini").stderr


def test_choosing_a_paid_model_says_that_its_unknown_price_keeps_it_from_being_used_within_a_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ZAI_API_KEY", KEY)
    result = run("use", "zai", "house-made")
    assert "The price of zai:house-made@api.z.ai is unknown" in result.stderr
    assert "budget.per_day_usd" in run("list").stderr
    write('[budget]\nper_day_usd = 0\n[roles.extract]\nprovider = "zai"\nmodel = "house-made"\n')
    assert "price" not in run("list").stderr


def test_what_cannot_be_chosen_is_wrong_usage_and_writes_nothing() -> None:
    for wrong in (("mistral",), ("openai", " x"), ("openai", "x", "--base-url", "http://models.example")):
        result = run("use", *wrong)
        assert result.exit_code == 2
        assert "--base-url" not in wrong or "--base-url: must begin with https://" in result.stderr
    assert not home().config.exists()
    for command in ("test", "allow"):
        error = answer(command, code=1)["error"]
        assert error["code"] == "settings" and "lerim model use" in error["todo"]
    write("[roles.extract\n")
    assert answer("use", "zai", code=1)["error"]["code"] == "settings"
    assert home().config.read_text(encoding="utf-8") == "[roles.extract\n"
    write('[roles.extract]\nprovider = "openai"\nfallback_models = ["a", "b"]\n')
    answer("use", "openai", "c")
    assert '"a", "b"' in home().config.read_text(encoding="utf-8")
    answer("use", "zai")
    assert "fallback_models = []" in home().config.read_text(encoding="utf-8"), "those of the provider before"


def test_a_model_is_asked_one_tiny_question() -> None:
    with chat(says("ready\x1b[31m"), says("ready")) as server:
        write(f'[roles.extract]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n')
        shown = answer("test")
        text = run("test").stdout
    assert (shown["model"], shown["usage"]["calls"], shown["usage"]["input_tokens"]) == ("openai:m", 1, 1_000)
    assert len(server.asked[0].prompt) < 200
    assert "openai:m answered: ready" in text
    assert "1000 tokens in, 50 out" in text
    assert "no charge for each call" in text


def test_a_trial_that_fails_says_why_and_shows_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LERIM_MODEL_KEY", KEY)
    with chat(fails(401, f"bad key {KEY}")) as server:
        write(f'[roles.extract]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n')
        error = answer("test", code=1)["error"]
    assert (error["code"], error["where"]) == ("model-key", "LERIM_MODEL_KEY")
    assert "To fix" not in error["message"]  # what a library advises programmers
    assert KEY not in json.dumps(error)


def test_a_model_that_is_paid_for_is_not_tried_before_the_person_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZAI_API_KEY", KEY)
    write('[roles.extract]\nprovider = "zai"\n')
    error = answer("test", code=1)["error"]
    assert error["message"] == "zai:glm-5.3-flash@api.z.ai costs money, and you have not approved it."
    assert "--yes" in error["todo"]
    assert run("test").exit_code == 1
    assert not home().spending.exists()


def test_a_person_agrees_to_pay_for_a_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    write('[roles.extract]\nprovider = "zai"\n[roles.lead]\nprovider = "openai"\n')
    assert "Approved: zai:glm-5.3-flash@api.z.ai, at most $1 a day." in run("allow").stdout
    assert consent.load_known_models(home())[0].allowed == {
        "zai:glm-5.3-flash@api.z.ai",
        "openai:gpt-6-luna@api.openai.com",
    }
    assert answer("allow") == {"allowed": []}
    assert "Nothing needs your approval; the model is zai:glm-5.3-flash@api.z.ai." in run("allow").stdout
    assert [role["allowed"] for role in answer("list")["roles"]] == [True, True]


def test_the_list_is_shown_where_the_spending_cannot_be_read() -> None:
    home().spending.mkdir(parents=True)
    shown = answer("list")
    assert shown["spent_today"] is None
    assert [problem["code"] for problem in shown["problems"]] == ["spending"]
    assert "not known" in run("list").stdout
