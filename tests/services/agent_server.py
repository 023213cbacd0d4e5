"""A model's service as agents' programs ask it, on loopback: it keeps what is sent, and answers as it is told to.

It speaks what five programs speak: Anthropic messages, OpenAI responses and chat completions, Gemini.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Events = list[Body | str]


@dataclass
class Service:
    """`calls` are tools it wants to be called, one a request, before it answers `text`; with a `status` it refuses.

    A name such as `space/tool` is that of a tool in a namespace. With `asks_for_tools`, requests that offer no tools,
    such as one for the title of a session, are answered with text."""

    url: str = ""
    text: str = "ready"
    calls: list[tuple[str, Body]] = field(default_factory=list)
    status: int = 200
    asks_for_tools: bool = False
    asked: list[Body] = field(default_factory=list)

    def wanted(self, body: Body) -> tuple[str, Body] | None:
        """The tool that the answer to this request calls."""
        if self.asks_for_tools and not body.get("tools"):
            return None
        return self.calls.pop(0) if self.calls else None


@contextmanager
def serving() -> Iterator[Service]:
    """A service of its own."""
    service = Service()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"service": service}))
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: Service

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        self._reply({}, 200)

    def do_GET(self) -> None:
        self._reply({"object": "list", "data": [{"id": "fake", "object": "model"}], "models": []}, 200)

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        forms = {"/messages": _anthropic, "/responses": _responses, "/chat/completions": _chat}
        form = next((made for end, made in forms.items() if path.endswith(end)), None)
        if form is None and "generatecontent" in path.lower():
            form = _gemini
        if form is None:
            self._reply({}, 200)
            return
        self.service.asked.append(body)
        if self.service.status != 200:
            self._reply({"error": {"message": "Invalid API key", "type": "authentication_error"}}, self.service.status)
            return
        whole, events = form(body, self.service)
        streamed = body.get("stream") or "stream" in path.lower()
        if streamed:
            self._stream(events)
        else:
            self._reply(whole, 200)

    def _body(self) -> Body:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        return json.loads(data) if data else {}

    def _reply(self, value: Body, status: int) -> None:
        data = b"" if self.command == "HEAD" else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Events) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{name}data: {data}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True


def _anthropic(body: Body, service: Service) -> tuple[Body, Events]:
    call = service.wanted(body)
    usage = {"input_tokens": 20, "output_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    base = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "stop_sequence": None}
    if call:
        block: Body = {"type": "tool_use", "id": f"toolu_{len(service.asked)}", "name": call[0], "input": call[1]}
        delta: Body = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        start, stop = {**block, "input": {}}, "tool_use"
    else:
        block = {"type": "text", "text": service.text}
        delta, start, stop = {"type": "text_delta", "text": service.text}, {"type": "text", "text": ""}, "end_turn"
    return {**base, "content": [block], "stop_reason": stop, "usage": usage}, [
        {"type": "message_start", "message": {**base, "content": [], "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


def _responses(body: Body, service: Service) -> tuple[Body, Events]:
    call, number = service.wanted(body), len(service.asked)
    if call and "input" in call[1]:
        item: Body = {"type": "custom_tool_call", "name": call[0], "input": call[1]["input"]}
    elif call:
        space, _, name = call[0].rpartition("/")
        item = {"type": "function_call", "name": name, "arguments": json.dumps(call[1])}
        item |= {"namespace": space} if space else {}
    else:
        content = [{"type": "output_text", "text": service.text, "annotations": []}]
        item = {"type": "message", "role": "assistant", "content": content}
    item |= {"id": f"item_{number}", "call_id": f"call_{number}", "status": "completed"}
    usage = {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 23,
    }
    done = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item], "usage": usage}
    return done, [
        {"type": "response.created", "response": {**done, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]


def _chat(body: Body, service: Service) -> tuple[Body, Events]:
    call = service.wanted(body)
    message: Body = {"role": "assistant", "content": service.text}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        made = {"index": 0, "id": f"call_{len(service.asked)}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [made]}
    finish = "tool_calls" if call else "stop"
    usage = {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}
    base: Body = {"id": "c1", "created": 1, "model": body.get("model")}
    piece = {**base, "object": "chat.completion.chunk"}
    whole = {**base, "object": "chat.completion", "usage": usage}
    return {**whole, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}, [
        {**piece, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**piece, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage},
        "[DONE]",
    ]


_ROUTE = {"reasoning": "", "model_choice": "flash", "complexity_reasoning": "", "complexity_score": 10}
"""What Gemini CLI asks beforehand: which model shall answer."""


def _gemini(body: Body, service: Service) -> tuple[Body, Events]:
    routing = (body.get("generationConfig") or {}).get("responseMimeType") == "application/json"
    call = None if routing else service.wanted(body)
    text = json.dumps(_ROUTE) if routing else service.text
    part = {"functionCall": {"name": call[0], "args": call[1], "id": "1"}} if call else {"text": text}
    reply = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 3, "totalTokenCount": 23},
        "modelVersion": "fake",
    }
    return reply, [reply]
