"""The services a model is asked of, and how each is spoken to.

Any other service that speaks chat completions is `openai` with a `base_url`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Wire = Literal["chat", "anthropic", "command", "editor"]
"""How a model is asked: chat completions or Anthropic messages over HTTP, a command of the person's own, the editor."""
RoleName = Literal["lead", "explorer", "extract", "summarize"]


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a service is, which variable holds its key, and the model used where none is named."""

    base_url: str
    key_variable: str
    default_model: str
    wire: Wire = "chat"


PROVIDERS: Mapping[str, Provider] = {
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openai/gpt-5-nano"),
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5-nano"),
}


@dataclass(frozen=True, slots=True)
class Role:
    """The settings of one `[roles.*]`. `provider` is "none" or a name of `PROVIDERS`; `timeout` in seconds a call.

    `fallback_models` are asked in turn where the model cannot; `command` is the argv of the provider `command`.
    """

    provider: str = "none"
    model: str = ""
    base_url: str = ""
    fallback_models: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    timeout: float = 120.0
    max_window_tokens: int = 300_000
    window_overlap_tokens: int = 30_000
