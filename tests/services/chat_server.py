"""A real HTTP server on loopback that speaks chat completions, or Anthropic's messages where the path asks for them, by
a script: an act a request, the last one for ever."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ASKS_FOR_FACTS = "List what this turn of a coding agent establishes"
KEY = "sk-or-v1-lerimtestkey0123456789abcdefABCDEF"


@dataclass
class Asked:
    """One request: its path, headers (lower case) and JSON body."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        said = [message["content"] for message in self.body["messages"]]
        return "\n".join([self.body["system"], *said] if "system" in self.body else said)

    @property
    def form(self) -> str:
        return "anthropic" if self.path.endswith("/messages") else "chat"


Act = Callable[["Handler", Asked], None]


def marked(primitives: object, reasoning: str = "because") -> str:
    """What a model writes when it keeps to DSPy's form."""
    text = primitives if isinstance(primitives, str) else json.dumps(primitives)
    return f"[[ ## reasoning ## ]]\n{reasoning}\n\n[[ ## primitives ## ]]\n{text}\n\n[[ ## completed ## ]]\n"


def completion(text: str | None, finish: str = "stop", **changes: object) -> dict[str, Any]:
    usage = {"prompt_tokens": 1_000, "completion_tokens": 50, "cost": 0.002}
    choices = [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}]
    return {"id": "c1", "object": "chat.completion", "model": "served", "choices": choices, "usage": usage} | changes


STOPS = {"stop": "end_turn", "length": "max_tokens"}


def message(text: str | None, finish: str = "stop", **changes: object) -> dict[str, Any]:
    """What Anthropic's form answers: `input_tokens` are those that came from no cache."""
    usage = {"input_tokens": 1_000, "output_tokens": 50}
    content = [] if text is None else [{"type": "text", "text": text}]
    head = {"id": "m1", "type": "message", "role": "assistant", "model": "served", "content": content, "usage": usage}
    return head | {"stop_reason": STOPS.get(finish, finish), "stop_sequence": None} | changes


def says(text: str | None, finish: str = "stop", **changes: object) -> Act:
    """An answer in the form that was asked for."""

    def act(handler: Handler, asked: Asked) -> None:
        made = message if asked.form == "anthropic" else completion
        handler.answer(200, made(text, finish, **changes))

    return act


def streams(*pieces: str, end: str = "whole", finish: str = "stop", chunked: bool = True) -> Act:
    """An answer in pieces, in the form that was asked for. `end`: "whole", "breaks" (the connection closes), "fails"
    (the service tells an error) or "hangs" (nothing more comes until the test is over)."""

    def act(handler: Handler, asked: Asked) -> None:
        assert asked.body["stream"] is True
        handler.stream(_events(asked.form, pieces, finish, end), chunked=chunked, whole=end in ("whole", "fails"))
        if end == "hangs":
            hangs(handler, asked)

    return act


def _events(form: str, pieces: Iterable[str], finish: str, end: str) -> Iterator[str]:
    error = {"type": "overloaded_error", "code": 502, "message": "the provider is gone"}
    if form == "anthropic":
        yield json.dumps({"type": "message_start", "message": message(None, usage={"input_tokens": 1_000})})
        yield json.dumps({"type": "ping"})
        for piece in pieces:
            delta = {"type": "text_delta", "text": piece}
            yield json.dumps({"type": "content_block_delta", "index": 0, "delta": delta})
        if end == "fails":
            yield json.dumps({"type": "error", "error": error})
        if end == "whole":
            stop = {"stop_reason": STOPS.get(finish, finish)}
            yield json.dumps({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 50}})
            yield json.dumps({"type": "message_stop"})
        return
    for piece in pieces:
        yield json.dumps({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})
    if end == "fails":
        yield json.dumps({"error": error, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]})
    if end == "whole":
        yield json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        usage = {"prompt_tokens": 1_000, "completion_tokens": 50, "cost": 0.002}
        yield json.dumps({"choices": [], "usage": usage})
        yield "[DONE]"


def finds(*primitives: dict[str, Any]) -> Act:
    return says(marked(list(primitives)))


KINDS = {400: "invalid_request", 401: "authentication", 403: "permission", 404: "not_found", 413: "request_too_large"}
KINDS |= {402: "billing", 429: "rate_limit", 500: "api", 504: "timeout", 529: "overloaded"}


def fails(status: int, message: str = "no", code: str = "", headers: dict[str, str] | None = None) -> Act:
    """An error in the form that was asked for."""

    def act(handler: Handler, asked: Asked) -> None:
        error = {"message": message, "code": code}
        if asked.form == "anthropic":
            kind = KINDS.get(status, "api")
            error = {"message": message, "type": code or (kind if kind.endswith("large") else f"{kind}_error")}
            handler.answer(status, {"type": "error", "error": error, "request_id": "req_1"}, headers)
        else:
            handler.answer(status, {"error": error}, headers)

    return act


def _told(message: str, **more: object) -> str:
    return json.dumps({"error": {"message": message} | more})


_OPENROUTER = {"raw": '{"error":{"message":"maximum context length is 400000 tokens"}}', "provider_name": "x"}
TOO_LONG: dict[str, tuple[int, str, int | None]] = {
    "openai": (
        400,
        _told(
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130011 tokens."
        ),
        128_000,
    ),
    "openai without a number": (400, _told("Your input is no good.", code="context_length_exceeded"), None),
    "openai, more than a minute's share": (
        429,
        _told("Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 51234.", code="tokens"),
        30_000,
    ),
    "openrouter": (400, _told("Provider returned error", code=400, metadata=_OPENROUTER), 400_000),
    "anthropic": (
        400,
        _told("prompt is too long: 213462 tokens > 200000 maximum", type="invalid_request_error"),
        200_000,
    ),
    "anthropic with the answer": (
        400,
        _told("input length and `max_tokens` exceed context limit: 197202 + 21333 > 200000, decrease input length"),
        200_000,
    ),
    "gemini": (
        400,
        f"[{_told('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).')}]",
        1_048_576,
    ),
    "llama.cpp": (400, _told("it is exceeded", code=400, type="exceed_context_size_error", n_ctx=8_192), 8_192),
    "llama.cpp in words": (400, _told("request (5000 tokens) exceeds the available context size (4096 tokens)"), 4_096),
    "LM Studio": (400, _told("the model is loaded with context length of only 4096 tokens, which is too few"), 4_096),
    "Ollama": (400, _told("the input length exceeds the context length"), None),
    "vLLM": (
        400,
        json.dumps({"code": 400, "message": "This model's maximum context length is 4096 tokens; you sent 5000."}),
        4_096,
    ),
    "z.ai": (400, _told("Prompt exceeds max length", code="1261"), None),
}
"""How services say that a window is too large: status, body, and the limit it tells."""


def too_long(vendor: str) -> Act:
    status, body, _limit = TOO_LONG[vendor]
    return raw(body.encode(), status=status)


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


def drops(handler: Handler, _asked: Asked) -> None:
    """Closes the connection without a word."""
    handler.close_connection = True


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
    """The running server: what it was asked, and where it is. Questions for facts, which any turn may lead to, are kept
    apart and answered by `facts`."""

    acts: list[Act]
    asked: list[Asked] = field(default_factory=list)
    asked_for_facts: list[Asked] = field(default_factory=list)
    facts: Act = field(default_factory=lambda: says("[]"))
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
        if ASKS_FOR_FACTS in str(asked.body):
            script.asked_for_facts.append(asked)
            script.facts(self, asked)
            return
        script.asked.append(asked)
        act = script.next()
        script.came.set()
        act(self, asked)

    def do_GET(self) -> None:
        """What it has, which is `m`, is told to whoever asks."""
        self.answer(200 if self.path == "/v1/models" else 404, {"data": [{"id": "m"}]})

    def answer(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events: Iterable[str], *, chunked: bool, whole: bool) -> None:
        """Sends events one by one. Not `whole`: the connection ends before the body does."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding" if chunked else "Connection", "chunked" if chunked else "close")
        self.end_headers()
        self.close_connection = not (chunked and whole)
        for event in events:
            data = f"event: x\r\ndata: {event}\r\n\r\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
            self.wfile.flush()
        if chunked and whole:
            self.wfile.write(b"0\r\n\r\n")

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


def item(title: str, quote: str, turn: int = 0, **changes: object) -> dict[str, Any]:
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
