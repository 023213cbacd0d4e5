"""OpenRouter as syncs meet it, on this machine: a proxy with a certificate of its own stands where the service is.

A model is paid for where it is asked over the network, so that what is about money cannot be tested on loopback alone.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from chat_server import KEY, Act, Chat, chat
from desk import Desk

NANO = "openrouter:openai/gpt-5-nano@openrouter.ai"
HOST = "openrouter.ai"


@contextmanager
def paid_service(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *acts: Act, settings: str = "", name: str = ""
) -> Iterator[Chat]:
    """A server that answers as OpenRouter, settings that name it and its model `name` (`settings` before them), its
    key."""
    certificate, key = _certificate()
    desk.home.config.parent.mkdir(parents=True, exist_ok=True)
    roles = f'[roles.extract]\nprovider = "openrouter"\nmodel = "{name}"\n[roles.summarize]\nprovider = "none"\n'
    desk.home.config.write_text(f"{settings}\n{roles}", encoding="utf-8")
    with chat(*acts) as server, _proxy(certificate, key, urlsplit(server.url).port or 0) as proxy:
        monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        for name in ("NO_PROXY", "no_proxy", "https_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield server


@functools.cache
def _certificate() -> tuple[Path, Path]:
    """Makes one for all tests of this process."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate")
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", f"/CN={HOST}"]
    subprocess.run([*command, "-addext", f"subjectAltName=DNS:{HOST}"], check=True, capture_output=True)
    return certificate, key


@contextmanager
def _proxy(certificate: Path, key: Path, port: int) -> Iterator[str]:
    """A proxy that ends the encryption and hands everything to the server at `port`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                client, _ = listening.accept()
                threading.Thread(target=_through, args=(client, context, port), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        over.set()
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


def _through(client: socket.socket, context: ssl.SSLContext, port: int) -> None:
    with contextlib.suppress(OSError), client:
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += client.recv(65_536)
        assert asked.startswith(f"CONNECT {HOST}:443 ".encode()), asked
        client.sendall(b"HTTP/1.1 200 ok\r\n\r\n")
        server = socket.create_connection(("127.0.0.1", port))
        with context.wrap_socket(client, server_side=True) as inner, server:
            back = threading.Thread(target=_pump, args=(server, inner), daemon=True)
            back.start()
            _pump(inner, server)
            back.join(60)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
