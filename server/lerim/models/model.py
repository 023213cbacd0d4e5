"""The model that is asked: what it is called, how it is reached and what it may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lerim.config import RoleName, Wire, host_of, is_loopback


@dataclass(frozen=True, slots=True)
class Model:
    """A model that can be asked. `base_url` has no slash at its end; `key` is "" where a local server needs none.

    `name` of the wire `editor` is the id of the editor's model; `why` says for people why it was chosen.
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
        """How reports call it, and consent and limits know it: with the host it is on, where that is not this machine,
        `openrouter:openai/gpt-5-nano@openrouter.ai`, and the host's port where it is not the usual one."""
        if not self.billed:
            return f"{self.provider}:{self.name}"
        return f"{self.provider}:{self.name}@{host_of(self.base_url)}"

    @property
    def local(self) -> bool:
        """Whether it runs on this machine."""
        return self.wire in ("chat", "anthropic") and is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def billed(self) -> bool:
        """Whether each call is paid for by its tokens: not so on this machine, in the editor, by a command or
        an agent's program, which has a plan of the person's."""
        return self.wire in ("chat", "anthropic") and not self.local
