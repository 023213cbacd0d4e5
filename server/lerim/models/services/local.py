"""Servers of models on this machine: which answer, and what they have.

Only loopback is asked, without a key or a proxy, and only where the person asks what there is or their settings
say that a server of this machine may be used.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec

from lerim.config import address_fault, on_this_machine

LOCAL_SERVERS: Mapping[str, str] = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
}
"""Where the usual servers listen, in the order they are preferred."""
SECONDS = 0.3
NAMED_SECONDS = 2.0
"""How long a server is waited for that the settings name: it may be busy, and nobody else is asked in its place."""
MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered, and its models that can be asked, in its own order."""

    base_url: str
    models: tuple[str, ...]


class _Listed(msgspec.Struct):
    id: str = ""


class _Models(msgspec.Struct):
    data: list[_Listed] | None


@dataclass(slots=True)
class _Look:
    done: threading.Event = field(default_factory=threading.Event)
    found: LocalServer | None = None


def find_local_servers(addresses: Sequence[str], seconds: float = SECONDS) -> list[LocalServer]:
    """Those of these base URLs that list their models, in this order; all are asked at once, for `seconds` at most.

    An address that is not on this machine is not asked.
    """
    import http.client  # noqa: F401 - not within the time the servers have, and not by commands that look at none

    looks: list[_Look] = []
    for address in addresses:
        if address_fault(address) or not on_this_machine(address):
            continue
        look = _Look()
        looks.append(look)
        # A thread that is left behind ends with its socket: no server may hold up who asks.
        threading.Thread(target=_ask, args=(look, address, seconds), daemon=True, name="local-model").start()
    end = time.monotonic() + seconds
    for look in looks:
        look.done.wait(max(0.0, end - time.monotonic()))
    return [look.found for look in looks if look.found is not None]


def _ask(look: _Look, address: str, seconds: float) -> None:
    from http.client import HTTPException

    try:
        look.found = _listed(address, seconds)
    except (OSError, ValueError, RecursionError, HTTPException, msgspec.MsgspecError):
        look.found = None  # whatever listens there is no server of models
    finally:
        look.done.set()


def _listed(address: str, seconds: float) -> LocalServer | None:
    import http.client

    parts = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)
    try:
        connection.request("GET", f"{parts.path.rstrip('/')}/models", headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = response.read(MOST_BYTES + 1) if response.status == 200 else b""
    finally:
        connection.close()
    if not body or len(body) > MOST_BYTES:
        return None
    listed = msgspec.json.decode(body, type=_Models).data or []
    names = [one.id for one in listed if one.id.isprintable() and 0 < len(one.id) <= 200]
    return LocalServer(address, tuple(name for name in names if "embed" not in name.lower()))
