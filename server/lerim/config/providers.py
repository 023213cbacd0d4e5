"""The model services, how to talk to each, and which addresses are allowed.

Any other service that supports chat completions is `openai` with a `base_url`, and has a key of its own
(`OTHER_KEY_VARIABLE`). The default model of a service is a small, cheap one that it still offers. If the service
discontinues that model, its answer says so, and the settings can name another one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

Wire = Literal["chat", "anthropic", "command", "editor", "agent"]
"""How a model is called: chat completions or Anthropic messages over HTTP, a command of the person's, the editor, or
the program of an installed coding agent."""
RoleName = Literal["lead", "explorer", "extract", "summarize"]
ROLES: tuple[RoleName, ...] = ("extract", "summarize", "lead", "explorer")
OTHER_KEY_VARIABLE = "LERIM_MODEL_KEY"
"""The environment variable with the key for a `base_url` that is not a provider's own."""
STORED_KEY_PREFIX = "LERIM_KEY_"
"""Prefix of the variable with a key from the editor's secret storage. The person's own programs do not get these."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A model service: its address, and the model used if none is named. The first variable that is set gives its key.

    `base_url` has no trailing slash; "" if there is no service to connect to. Without `default_model`, the service
    is asked which models it has; without `key_variables`, it needs no key. `title` is the service's name for people.
    """

    base_url: str
    key_variables: tuple[str, ...] = ()
    default_model: str = ""
    wire: Wire = "chat"
    title: str = ""


AGENT_PROGRAMS = ("claude-code", "codex", "gemini-cli", "opencode", "copilot-cli", "cursor-agent")
"""Installed coding agents that can be used as models; `AGENTS` in `lerim.models.agents` says how."""

PROVIDERS: Mapping[str, Provider] = {
    "openrouter": Provider(
        "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), "openai/gpt-5-nano", title="OpenRouter"
    ),
    "openai": Provider("https://api.openai.com/v1", ("OPENAI_API_KEY",), "gpt-6-luna", title="OpenAI"),
    "anthropic": Provider(
        "https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",), "claude-haiku-5-5", "anthropic", "Anthropic"
    ),
    "zai": Provider("https://api.z.ai/api/paas/v4", ("ZAI_API_KEY",), "glm-5.3-flash", title="Z.ai"),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini-3.5-flash-lite",
        title="Google Gemini",
    ),
    "ollama": Provider("http://127.0.0.1:11434/v1"),
    "command": Provider("", wire="command"),
    "editor": Provider("", wire="editor"),
    **{name: Provider("", wire="agent") for name in AGENT_PROGRAMS},
}


@dataclass(frozen=True, slots=True)
class Role:
    """The settings of one `[roles.*]`. `provider` is "none", "auto" or a name in `PROVIDERS`.

    `timeout` is in seconds per call. `fallback_models` are tried in order if the model fails; `command` is the argv for
    the provider `command`.
    """

    provider: str = "none"
    model: str = ""
    base_url: str = ""
    fallback_models: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    timeout: float = 120.0
    max_window_tokens: int = 300_000
    window_overlap_tokens: int = 30_000


def find_address_fault(base_url: str) -> str:
    """Returns why this cannot be the address of a model service, or "". Plain http is allowed for this machine only."""
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return "cannot be read"
    if parts.scheme not in ("http", "https") or not host or any(char.isspace() for char in base_url):
        return "must begin with https:// and name a host"
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        return "must hold no name, password, question mark or #"
    if parts.scheme == "http" and not is_loopback(host):
        return "must begin with https://; only addresses on this machine may be unencrypted"
    return ""


def is_loopback(host: str) -> bool:
    """Returns whether a host is this machine."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_same_service(base_url: str, other: str) -> bool:
    """Returns whether two valid addresses (no `find_address_fault`) lead to the same host and port."""
    first, second = urlsplit(base_url), urlsplit(other)
    return (first.scheme, first.hostname, first.port or 443) == (second.scheme, second.hostname, second.port or 443)


def format_host(base_url: str) -> str:
    """Returns the host of a valid address (no `find_address_fault`), with its port unless that is the https default."""
    parts = urlsplit(base_url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return host if parts.port in (None, 443) else f"{host}:{parts.port}"


def is_on_this_machine(base_url: str) -> bool:
    """Returns whether a valid address (no `find_address_fault`) is on this machine."""
    return is_loopback(urlsplit(base_url).hostname or "")
