"""The services a model is asked of. Each speaks chat completions; any other that does is `openai` with a `base_url`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a service is, which variable holds its key, and the model used where none is named."""

    base_url: str
    key_variable: str
    default_model: str


PROVIDERS: Mapping[str, Provider] = {
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openai/gpt-5-nano"),
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5-nano"),
}


@dataclass(frozen=True, slots=True)
class Role:
    """The settings of `[roles.extract]`. `provider` is "none" or a name of `PROVIDERS`; `timeout` in seconds a call."""

    provider: str = "none"
    model: str = ""
    base_url: str = ""
    timeout: float = 120.0
    max_window_tokens: int = 300_000
    window_overlap_tokens: int = 30_000
