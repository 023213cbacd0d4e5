"""Choosing a model in the editor: what there is, and whether it answers."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException  # noqa: TID251

from chat_server import KEY, chat, hangs, says
from hang import HANG
from lerim.lsp.protocol import core
from models_server import models
from test_editor_models import MODEL, Models, refused
from window import Editor

pytestmark = pytest.mark.asyncio


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """Keys in the environment of the server, which therefore starts after this."""
    monkeypatch.setenv("ZAI_API_KEY", KEY)
    monkeypatch.setenv("LERIM_MODEL_KEY", KEY)
    return KEY


async def start(editor: Editor, *told: dict, **settings: object) -> None:
    await editor.start({"trusted": True, "settings": {"idleSeconds": 0, **settings}})
    editor.client.protocol.notify(core.EDITOR_MODELS, {"models": list(told)})


def write(home: Path, text: str) -> None:
    config = home / ".lerim" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text, encoding="utf-8")


async def options(editor: Editor) -> list[Any]:
    return (await editor.ask(core.MODEL_CHOICES, {})).options


def told(option: Any) -> tuple[str, str, str]:
    return (option.kind, option.provider, option.model)


async def test_everything_there_is_to_ask_is_listed_and_the_choice_marked(
    key: str, editor: Editor, isolated: Path
) -> None:
    write(isolated, '[roles.extract]\ncommand = ["/opt/claude", "-p", "secret words"]\n')
    with models("qwen", "llama") as url:
        settings = {"model.provider": "openai", "model.name": "llama", "model.baseUrl": url}
        await start(editor, MODEL, **settings)
        shown = await editor.ask(core.MODEL_CHOICES, {})
    assert (shown.model, shown.provider, shown.budgetUsd, shown.problems) == ("openai:llama", "openai", 1.0, [])
    found = [told(option) for option in shown.options]
    assert found[:2] == [("none", "none", ""), ("auto", "auto", "")]
    assert ("editor", "editor", "copilot/gpt") in found
    assert ("server", "openai", "qwen") in found
    assert ("key", "zai", "glm-5.3-flash") in found
    assert ("no-key", "openrouter", "openai/gpt-5-nano") in found
    assert found[-1] == ("command", "command", "")
    assert shown.options[-1].name == "claude"
    assert "secret words" not in str(shown)
    assert key not in str(shown)
    [chosen] = [option for option in shown.options if option.chosen]
    assert (chosen.kind, chosen.model, chosen.baseUrl, chosen.billed) == ("server", "llama", url, False)


CHOICES: list[tuple[dict[str, object], tuple[str, str, str]]] = [
    ({}, ("none", "none", "")),
    ({"model.provider": "none"}, ("none", "none", "")),
    ({"model.provider": "auto"}, ("auto", "auto", "")),
    ({"model.provider": "editor"}, ("editor", "editor", "copilot/gpt")),
    ({"model.provider": "editor", "model.name": "GPT"}, ("editor", "editor", "copilot/gpt")),
    ({"model.provider": "zai", "model.name": "glm-9"}, ("no-key", "zai", "glm-9")),
    (
        {"model.provider": "openai", "model.name": "m", "model.baseUrl": "http://127.0.0.1:9/v1"},
        ("address", "openai", "m"),
    ),
]


async def test_the_one_choice_is_marked(editor: Editor, isolated: Path) -> None:
    await start(editor, MODEL)
    for settings, chosen in CHOICES:
        editor.configure(**settings)
        assert [told(option) for option in await options(editor) if option.chosen] == [chosen], settings
    for address, variable in (
        ("https://third.example/v1", "LERIM_MODEL_KEY"),
        ("https://api.openai.com/v2", "OPENAI_API_KEY"),
    ):
        editor.configure(**{"model.provider": "openai", "model.name": "m", "model.baseUrl": address})
        [option] = [option for option in await options(editor) if option.chosen]
        assert (option.kind, option.baseUrl, option.variables) == ("address", address, [variable])


async def test_an_address_of_the_file_does_not_follow_a_service_that_is_chosen(editor: Editor, isolated: Path) -> None:
    write(isolated, '[roles.extract]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n')
    await start(editor)
    [service] = [one for one in await options(editor) if one.provider == "openai" and one.kind == "no-key"]
    assert (service.baseUrl, service.chosen) == ("https://api.openai.com/v1", False)


async def test_a_model_that_answers_is_told_with_what_it_took(editor: Editor) -> None:
    with chat(says("ready")) as server:
        await start(editor, **{"model.provider": "openai", "model.name": "m", "model.baseUrl": server.url})
        shown = await editor.ask(core.MODEL_TEST, {})
    assert (shown.ok, shown.code, shown.model, shown.tokens, shown.cost) == (True, "", "openai:m", 1_050, 0.002)


async def test_the_editors_own_model_is_tested_over_the_bridge(editor: Editor) -> None:
    replies = [{"text": "ready", "why": "", "message": ""}, refused("no-permission")]

    async def answer(_asked: Any) -> dict[str, str]:
        return replies.pop(0)

    asked = Models(editor, answer)
    await asked.start(MODEL)
    shown = await editor.ask(core.MODEL_TEST, {})
    assert (shown.ok, shown.model, asked.asked[0].explicit) == (True, "editor:copilot/gpt", True)
    assert not (await editor.ask(core.MODEL_TEST, {})).ok


async def test_a_test_that_is_cancelled_leaves_no_process(editor: Editor) -> None:
    with chat(hangs) as server:
        await start(editor, **{"model.provider": "openai", "model.name": "m", "model.baseUrl": server.url})
        testing = asyncio.ensure_future(editor.client.protocol.send_request_async(core.MODEL_TEST, {}, msg_id="test"))
        await editor.until(lambda: server.asked)
        editor.client.cancel_request(types.CancelParams(id="test"))
        async with asyncio.timeout(HANG):
            with pytest.raises(JsonRpcException):
                await testing
            await editor.until(lambda: not editor.jobs())


def agent(isolated: Path, monkeypatch: pytest.MonkeyPatch, result: str) -> None:
    """A Claude Code of the test's own, on the PATH of the server that starts after this."""
    folder = isolated / ".local" / "bin"
    folder.mkdir(parents=True)
    printed = json.dumps({"type": "result", "is_error": False, "result": result})
    (folder / "claude").write_text(f"#!{sys.executable}\nimport sys\nsys.stdin.read()\nprint({printed!r})\n")
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


async def test_an_installed_agent_is_listed_with_what_it_is_paid_with(
    editor: Editor, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent(isolated, monkeypatch, "ready")
    await start(editor, **{"model.provider": "claude-code"})
    [found] = [one for one in await options(editor) if one.provider == "claude-code"]
    assert (found.kind, found.name, found.detail) == ("agent", "Claude Code", "uses your Claude plan")
    assert (found.chosen, found.billed) == (True, False)
    trial = await editor.ask(core.MODEL_TRY, {"root": editor.root})
    assert (trial.ok, trial.code) == (False, "not-found"), "no session waits"
