"""The services a model is asked of, and how each is spoken to.

Any other service that speaks chat completions is `openai` with a `base_url`, and has a key of its own (`OTHER_KEY`).
Default models are each service's small, cheap one that its maker still offers; a service that ends one is told by its
answer, and the settings name another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Wire = Literal["chat", "anthropic", "command", "editor", "agent"]
"""How a model is asked: chat completions or Anthropic messages over HTTP, a command of the person's own, the editor, an
installed coding agent's program."""
RoleName = Literal["lead", "explorer", "extract", "summarize"]
ROLES: tuple[RoleName, ...] = ("extract", "summarize", "lead", "explorer")
OTHER_KEY = "LERIM_MODEL_KEY"
"""The variable of the key for a `base_url` that is no provider's own."""
STORED = "LERIM_KEY_"
"""Before a variable's name: the key the editor's secret storage keeps for it. Programs of the person do not get it."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a service is, which variables may hold its key (the first that is set does), and the model used where none
    is named. `base_url` has no slash at its end; "" where there is no service to connect to.

    Without `default_model` the service itself is asked what it has; without `key_variables` it needs no key.
    """

    base_url: str
    key_variables: tuple[str, ...] = ()
    default_model: str = ""
    wire: Wire = "chat"


AGENT_PROGRAMS = ("claude-code", "codex", "gemini-cli", "opencode", "copilot-cli", "cursor-agent")
"""Installed coding agents that can be asked as models; `AGENTS` of the models' agents says how."""

PROVIDERS: Mapping[str, Provider] = {
    "openrouter": Provider("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), "openai/gpt-5-nano"),
    "openai": Provider("https://api.openai.com/v1", ("OPENAI_API_KEY",), "gpt-6-luna"),
    "anthropic": Provider("https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",), "claude-haiku-5-5", "anthropic"),
    "zai": Provider("https://api.z.ai/api/paas/v4", ("ZAI_API_KEY",), "glm-5.3-flash"),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini-3.5-flash-lite",
    ),
    "ollama": Provider("http://127.0.0.1:11434/v1"),
    "command": Provider("", wire="command"),
    "editor": Provider("", wire="editor"),
    **{name: Provider("", wire="agent") for name in AGENT_PROGRAMS},
}


@dataclass(frozen=True, slots=True)
class Role:
    """The settings of one `[roles.*]`. `provider` is "none", "auto" or a name of `PROVIDERS`; `timeout` in seconds a
    call.

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
