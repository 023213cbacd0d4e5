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
CONNECT_SECONDS = 0.3
"""Seconds to wait for a connection. If nothing listens at an address, Windows refuses the connection only after two
seconds."""
ANSWER_SECONDS = 2.0
"""Seconds to wait for the answer of a server that listens: the server, or the machine, may be busy."""
MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A local model server that answered, and the models it offers, in the server's order."""

    base_url: str
    models: tuple[str, ...]


class _ListedModel(msgspec.Struct):
    id: str = ""


class _ModelList(msgspec.Struct):
    data: list[_ListedModel] | None


@dataclass(slots=True)
class _Probe:
    finished: threading.Event = field(default_factory=threading.Event)
    server: LocalServer | None = None


def find_local_servers(addresses: Sequence[str], seconds: float = ANSWER_SECONDS) -> list[LocalServer]:
    """Returns the servers at these base URLs that list their models, in this order.

    Asks all servers at once, and waits at most `seconds` for each answer once it is connected. Addresses that are
    not on this machine are skipped.
    """
    import http.client  # noqa: F401 - not within the time the servers have, and not by commands that look at none

    probes: list[_Probe] = []
    for address in addresses:
        if find_address_fault(address) or not is_on_this_machine(address):
            continue
        probe = _Probe()
        probes.append(probe)
        # An abandoned thread ends with its socket: no server may delay the caller.
        threading.Thread(target=_run_probe, args=(probe, address, seconds), daemon=True, name="local-model").start()
    end = time.monotonic() + CONNECT_SECONDS + seconds
    for probe in probes:
        probe.finished.wait(max(0.0, end - time.monotonic()))
    return [probe.server for probe in probes if probe.server is not None]


def _run_probe(probe: _Probe, address: str, seconds: float) -> None:
    from http.client import HTTPException

    try:
        probe.server = _fetch_models(address, seconds)
    except (OSError, ValueError, RecursionError, HTTPException, msgspec.MsgspecError):
        probe.server = None  # whatever listens there is not a model server
    finally:
        probe.finished.set()


def _fetch_models(address: str, seconds: float) -> LocalServer | None:
    import http.client

    parts = urlsplit(address)
    connection_type = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = connection_type(parts.hostname or "", parts.port, timeout=CONNECT_SECONDS)
    try:
        connection.connect()
        connection.sock.settimeout(seconds)
        connection.request("GET", f"{parts.path.rstrip('/')}/models", headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = response.read(MOST_BYTES + 1) if response.status == 200 else b""
    finally:
        connection.close()
    if not body or len(body) > MOST_BYTES:
        return None
    listed_models = msgspec.json.decode(body, type=_ModelList).data or []
    names = [model.id for model in listed_models if model.id.isprintable() and 0 < len(model.id) <= 200]
    return LocalServer(address, tuple(name for name in names if "embed" not in name.lower()))
