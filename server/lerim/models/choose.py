"""Which model is asked, if any. Nothing is sent unless the person's settings name a provider: a key that happens to be
in the environment is no consent."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lerim.errors import Problem
from lerim.models.providers import PROVIDERS, Role, RoleName, Wire

WHERE = "roles.extract"


@dataclass(frozen=True, slots=True)
class Model:
    """A model that can be asked. `base_url` has no slash at its end; `key` is "" where a local server needs none."""

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

    @property
    def label(self) -> str:
        """How reports call it: `openrouter:openai/gpt-5-nano`."""
        return f"{self.provider}:{self.name}"

    @property
    def local(self) -> bool:
        """Whether it runs on this machine."""
        return self.wire in ("chat", "anthropic") and is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def billed(self) -> bool:
        """Whether each call is paid for by its tokens: not so on this machine, in the editor, by a command."""
        return self.wire in ("chat", "anthropic") and not self.local


def choose(role: Role, environ: Mapping[str, str]) -> tuple[Model | None, list[Problem]]:
    """The model the settings name, with its key from the environment; None where none is named, or with a problem."""
    if role.provider == "none":
        return None, []
    provider = PROVIDERS[role.provider]
    base_url = (role.base_url or provider.base_url).rstrip("/")
    if fault := address_fault(base_url):
        return None, [
            Problem("settings", f"{WHERE}.base_url", f"The address of the model {fault}. No model was asked.")
        ]
    host = urlsplit(base_url).hostname or ""
    # A key belongs to the service it was made for; another address gets it because the person wrote that address.
    key = environ.get(provider.key_variable, "").strip()
    if not key and not is_loopback(host):
        todo = f'Set {provider.key_variable} in the environment, or {WHERE}.provider to "none".'
        message = f"There is no key for {role.provider}, so no model was asked. {todo}"
        return None, [Problem("model-key", provider.key_variable, message)]
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        message = f"What {provider.key_variable} holds cannot be a key, so no model was asked. Set it again."
        return None, [Problem("model-key", provider.key_variable, message)]
    model = Model(
        provider=role.provider,
        name=role.model or provider.default_model,
        base_url=base_url,
        key_variable=provider.key_variable,
        timeout=role.timeout,
        max_window_tokens=role.max_window_tokens,
        window_overlap_tokens=role.window_overlap_tokens,
        key=key,
    )
    return model, []


def address_fault(base_url: str) -> str:
    """Why this cannot be the address of a model, or "". Plain http is for this machine alone."""
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
        return "must begin with https://, for only this machine is asked without encryption"
    return ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
