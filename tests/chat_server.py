"""A real HTTP server on loopback that speaks chat completions by a script: an act a request, the last one for ever."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-or-v1-lerimtestkey0123456789abcdefABCDEF"


@dataclass
class Asked:
    """One request: its path, headers (lower case) and JSON body."""

    path: str
    headers: dict[str, str]
    body: dict

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


Act = Callable[["Handler", Asked], None]


def marked(primitives: object, reasoning: str = "because") -> str:
    """What a model writes when it keeps to DSPy's form."""
    text = primitives if isinstance(primitives, str) else json.dumps(primitives)
    return f"[[ ## reasoning ## ]]\n{reasoning}\n\n[[ ## primitives ## ]]\n{text}\n\n[[ ## completed ## ]]\n"


def completion(text: str | None, finish: str = "stop", **changes: object) -> dict:
    usage = {"prompt_tokens": 1_000, "completion_tokens": 50, "cost": 0.002}
    choices = [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}]
    return {"id": "c1", "object": "chat.completion", "model": "served", "choices": choices, "usage": usage} | changes


def says(text: str | None, finish: str = "stop", **changes: object) -> Act:
    return lambda handler, _asked: handler.answer(200, completion(text, finish, **changes))


def finds(*primitives: dict) -> Act:
    return says(marked(list(primitives)))


def fails(status: int, message: str = "no", code: str = "", headers: dict[str, str] | None = None) -> Act:
    return lambda handler, _asked: handler.answer(status, {"error": {"message": message, "code": code}}, headers)


def raw(data: bytes, length: int | None = None, headers: dict[str, str] | None = None, status: int = 200) -> Act:
    """Bytes as they are; a `length` that is larger than they are means the server closes before the end."""

    def act(handler: Handler, _asked: Asked) -> None:
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data) if length is None else length))
        handler.end_headers()
        handler.wfile.write(data)
        handler.close_connection = True

    return act


def hangs(handler: Handler, _asked: Asked) -> None:
    """Says nothing until the test is over."""
    handler.server.script.over.wait(60)


def drips(handler: Handler, _asked: Asked) -> None:
    """Sends a byte whenever the client has had time to give up, and never ends."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.script.over.wait(0.02):
        handler.wfile.write(b" ")


def huge(handler: Handler, _asked: Asked) -> None:
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.script.over.is_set():
        handler.wfile.write(b"x" * 1_000_000)


@dataclass
class Chat:
    """The running server: what it was asked, and where it is."""

    acts: list[Act]
    asked: list[Asked] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    came: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def next(self) -> Act:
        return self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    script: Chat

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gave up is part of many scripts."""


class Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.path, headers, json.loads(self.rfile.read(size)))
        script = self.server.script
        script.asked.append(asked)
        act = script.next()
        script.came.set()
        act(self, asked)

    def answer(self, status: int, body: dict, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_arguments: object) -> None:
        pass


@contextmanager
def chat(*acts: Act) -> Iterator[Chat]:
    """Serves the acts in order."""
    script = Chat(list(acts) or [says(marked([]))])
    server = _Server(("127.0.0.1", 0), Handler)
    server.script = script
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        script.over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def item(title: str, quote: str, turn: int = 0, **changes: object) -> dict:
    """One candidate as a model writes it."""
    return {
        "primitive": "decision",
        "title": title,
        "body": f"{title}.",
        "confidence": 0.8,
        "tags": [],
        "kind": None,
        "evidence": {"turn": turn, "quote": quote},
        "references": [],
    } | changes


def texts(asked: Iterable[Asked]) -> list[str]:
    return [one.prompt for one in asked]
