"""What engines are tested with: models as the settings would make them, and one question."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chat_server import KEY
from lerim.models import lm15
from lerim.models.model import Model

REQUEST = lm15.Request(model="lerim/openai", messages=(lm15.Message.user("what? 🙂"),), system="be brief")
COMMAND = Model("command", "cat", "", "", 20.0, 300_000, 30_000, "", wire="command")
EDITOR = Model("editor", "copilot/gpt", "", "", 20.0, 300_000, 30_000, "", wire="editor")


def never() -> bool:
    return False


def model(url: str, timeout: float = 30.0, key: str = KEY, provider: str = "openai", **changes: Any) -> Model:
    made = Model(provider, "some-model", url, "OPENAI_API_KEY", timeout, 300_000, 30_000, key)
    return replace(made, wire="anthropic" if provider == "anthropic" else "chat", **changes)


def paid(url: str, name: str = "gpt-5-nano", **changes: Any) -> Model:
    """A model that is billed, though a server of this machine answers: 127.1 is another way to write 127.0.0.1."""
    made = model(url.replace("127.0.0.1", "127.1"), name=name, **changes)
    assert made.billed
    return made


def asking(text: str) -> lm15.Request:
    return lm15.Request(model="lerim/openai", messages=(lm15.Message.user(text),))
