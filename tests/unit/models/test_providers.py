"""Every provider that can be chosen, through the real job process, against a server on loopback in its stead."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from chat_server import KEY, finds, marked
from desk import Desk
from lerim.config.providers import PROVIDERS
from model_desk import CENTS, codes, job, model, model_jobs, reported, story

KEYED = [name for name, one in PROVIDERS.items() if one.key_variables]


@pytest.mark.parametrize("provider", KEYED)
def test_each_provider_is_asked_in_its_own_form_and_another_address_with_the_key_of_other_addresses(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    for variable in PROVIDERS[provider].key_variables:
        monkeypatch.setenv(variable, "the-provider-s-own")
    story(desk)
    with model(desk, finds(CENTS), provider=provider) as server:
        report = reported(desk)
    assert [one["title"] for one in report["candidates"]] == ["`Money` holds cents in `src/app.py`"]
    assert {one["model"] for one in report["spent"]} == {f"{provider}:m"}
    asked = server.asked[0]
    if provider == "anthropic":
        assert (asked.path, asked.headers["x-api-key"]) == ("/v1/messages", KEY)
        assert "authorization" not in asked.headers
    else:
        assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert asked.body["model"] == "m"
    assert "the-provider-s-own" not in str(asked.headers)


@pytest.mark.parametrize("provider", ["ollama", "auto"])
def test_a_server_of_this_machine_is_asked_for_its_model_and_without_a_key(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv("LERIM_MODEL_KEY", "of-another-address")
    story(desk)
    with model(desk, finds(CENTS), provider=provider, model="") as server:
        report = reported(desk)
    assert len(report["candidates"]) == 1
    assert server.asked[0].body["model"] == "m"
    assert "authorization" not in server.asked[0].headers
    assert report["usage"]["unpriced"] == 0


def test_a_command_is_given_the_question_and_its_answer_is_taken(desk: Desk, tmp_path: Path) -> None:
    story(desk)
    answer = tmp_path / "answer.txt"
    answer.write_text(marked([CENTS]), encoding="utf-8")
    program = f"import sys; sys.stdin.read(); sys.stdout.write(open({str(answer)!r}).read())"
    command = [sys.executable, "-c", program]
    with model(desk, provider="command", model="mine", base_url="", command=command) as server:
        report = reported(desk)
    assert len(report["candidates"]) == 1
    assert report["model"] == "command:mine"
    assert server.asked == []


def test_the_editor_s_model_waits_for_the_editor(desk: Desk) -> None:
    story(desk)
    with model(desk, provider="editor", base_url="") as server:
        report = reported(desk)
    assert server.asked == []
    assert codes(report) == ["model-gone"]
    assert model_jobs(desk)["pending"] == 1


def test_what_the_editor_is_set_to_is_what_its_jobs_ask(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    story(desk)
    with model(desk, finds(CENTS), provider="none") as server:
        told = {"roles.extract.provider": "openai", "roles.extract.model": "mine", "roles.extract.base_url": server.url}
        monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": told}))
        assert reported(desk)["model"] == "openai:mine"


@pytest.mark.parametrize("summaries", [False, True])
def test_a_sync_nobody_asked_for_leaves_an_editor_s_model_alone_that_nobody_allowed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, summaries: bool
) -> None:
    long_ago = time.time() - 7_200
    os.utime(story(desk), (long_ago, long_ago))
    monkeypatch.setenv("LERIM_EDITOR", json.dumps({"models": [{"id": "copilot/gpt", "allowed": None}]}))
    (desk.repo / ".lerim" / "memory").mkdir(parents=True)
    with model(desk, provider="editor", model="", base_url="", timeout=1, summaries=summaries):
        code, lines, errors = job(desk)
    assert (code, [line for line in lines if line["event"] == "ask"]) == (0, []), errors
    report = lines[-1]["report"]
    assert (report["state"], report["problems"], report["steps"]) == ("done", [], [])
    waits = report["waits"]
    assert (waits["why"], waits["sessions"]) == ("none" if summaries else "consent", 1)  # it tells of what extracts
