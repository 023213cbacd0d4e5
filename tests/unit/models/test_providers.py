"""Providers that can be chosen, through a whole sync, against a server on loopback in their stead."""

from __future__ import annotations

import json
import os
import time

import pytest

from chat_server import KEY, finds
from desk import Desk
from lerim.config.providers import PROVIDERS
from lerim.jobs.sync_context import SyncOptions
from lerim.models.editor import EditorBridge
from model_desk import CENTS, model, reported, story


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


@pytest.mark.parametrize(
    ("provider", "path", "header", "key"),
    [
        ("anthropic", "/v1/messages", "x-api-key", KEY),
        ("zai", "/v1/chat/completions", "authorization", f"Bearer {KEY}"),
    ],
)
def test_a_provider_is_asked_in_its_own_form_and_another_address_with_the_key_of_other_addresses(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, provider: str, path: str, header: str, key: str
) -> None:
    for variable in PROVIDERS[provider].key_variables:
        monkeypatch.setenv(variable, "the-provider-s-own")
    story(desk)
    with model(desk, finds(CENTS), provider=provider) as server:
        report = reported(desk)
    assert [one["title"] for one in report["candidates"]] == ["`Money` holds cents in `src/app.py`"]
    assert {one["model"] for one in report["spent"]} == {f"{provider}:m"}
    asked = server.asked[0]
    assert (asked.path, asked.headers[header], asked.body["model"]) == (path, key, "m")
    assert "the-provider-s-own" not in str(asked.headers)


@pytest.mark.parametrize("summaries", [False, True])
def test_a_sync_nobody_asked_for_leaves_an_editor_s_model_alone_that_nobody_allowed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, summaries: bool
) -> None:
    long_ago = time.time() - 7_200
    os.utime(story(desk), (long_ago, long_ago))
    monkeypatch.setenv("LERIM_EDITOR", json.dumps({"models": [{"id": "copilot/gpt", "allowed": None}]}))
    (desk.repo / ".lerim" / "memory").mkdir(parents=True)
    asked: list[object] = []
    with model(desk, provider="editor", model="", base_url="", timeout=1, summaries=summaries):
        report = desk.sync(SyncOptions(explicit=False), bridge=EditorBridge(asked.append))
    assert (asked, report.state, report.problems, report.steps) == ([], "done", [], [])
    # it tells of what extracts
    assert (report.waits.why, report.waits.sessions) == ("none" if summaries else "consent", 1)
