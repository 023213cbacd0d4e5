"""A real HTTP server on loopback that lists models, or answers whatever a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Act = Callable[[BaseHTTPRequestHandler, threading.Event], None]


def listing(*names: str) -> Act:
    return body(json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in names]}).encode())


def body(data: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Act:
    def act(handler: BaseHTTPRequestHandler, _over: threading.Event) -> None:
        handler.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return act


def hangs(_handler: BaseHTTPRequestHandler, over: threading.Event) -> None:
    over.wait(60)


def drips(handler: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """Sends a byte now and then, and never ends."""
    handler.send_response(200)
    handler.end_headers()
    while not over.wait(0.02):
        handler.wfile.write(b" ")


@contextmanager
def serving(act: Act, asked: list[str] | None = None) -> Iterator[str]:
    """Answers every GET so; yields the base URL. `asked` collects the requests with their headers."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if asked is not None:
                asked.append(f"{self.path}\n{self.headers}")
            act(self, over)

        def log_message(self, *_arguments: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that gave up is part of many tests."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


@contextmanager
def models(*names: str) -> Iterator[str]:
    """A server that lists these."""
    with serving(listing(*names)) as url:
        yield url
