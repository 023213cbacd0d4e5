"""The model to ask: its name, how to reach it and its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lerim.config import RoleName, Wire, format_host, is_loopback


@dataclass(frozen=True, slots=True)
class Model:
    """A model that can be asked.

    `base_url` has no trailing slash; `key` is "" if a local server needs none. For the wire `editor`, `name` is the
    id of the editor's model. `why` says, for people, why the model was chosen.
    """

    provider: str
    name: str
    base_url: str
    key_variable: str
    timeout: float
    max_window_tokens: int
    window_overlap_tokens: int
    key: str = field(repr=False)
    role: RoleName = "extract"
    wire: Wire = "chat"
    fallbacks: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    why: str = field(default="", compare=False)

    @property
    def label(self) -> str:
        """The model's name in reports, consent and limits: `openai:gpt-5-nano`. Billed models include the host, and its
        port if it is not the default one: `openrouter:openai/gpt-5-nano@openrouter.ai`."""
        if not self.billed:
            return f"{self.provider}:{self.name}"
        return f"{self.provider}:{self.name}@{format_host(self.base_url)}"

    @property
    def local(self) -> bool:
        """Whether the model is served from this machine."""
        return self.wire in ("chat", "anthropic") and is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def billed(self) -> bool:
        """Whether each call is billed by its tokens. False for models on this machine and in the editor, for
        commands, and for agents' programs, which use the person's plan."""
        return self.wire in ("chat", "anthropic") and not self.local
