"""Finds model servers on this machine and the models they offer.

Only loopback addresses are asked, without a key or a proxy, and only if the person asks what is available or the
settings allow a server on this machine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec

from lerim.config import find_address_fault, is_on_this_machine

LOCAL_SERVERS: Mapping[str, str] = {
    "Ollama": "http://127.0.0.1:11434/v1",
    "LM Studio": "http://127.0.0.1:1234/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
}
"""The default addresses of well-known servers, in order of preference."""
SECONDS = 0.3
NAMED_SECONDS = 2.0
"""Seconds to wait for a server named in the settings: it may be busy, and no other server is asked instead."""
MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A local model server that answered, and the models it offers, in the server's order."""

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
    """Returns the servers at these base URLs that list their models, in this order. Asks all at once, for at most
    `seconds`.

    Addresses that are not on this machine are skipped.
    """
    import http.client  # noqa: F401 - not within the time the servers have, and not by commands that look at none

    looks: list[_Look] = []
    for address in addresses:
        if find_address_fault(address) or not is_on_this_machine(address):
            continue
        look = _Look()
        looks.append(look)
        # An abandoned thread ends with its socket: no server may delay the caller.
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
        look.found = None  # whatever listens there is not a model server
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
