"""What benchmarks share that stand in for a model's service on the loopback interface."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler


class ModelHandler(BaseHTTPRequestHandler):
    """Answers requests of chat completions, as a subclass says in `answer_request`."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: two of them wait for each other

    def answer_request(self, request: bytes) -> None:
        """Answers a request, given by its body, with `send_answer`."""
        raise NotImplementedError

    def do_POST(self) -> None:
        self.answer_request(self.rfile.read(int(self.headers["Content-Length"])))

    def send_answer(self, text: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Sends `text` as the model's message, with how many tokens it says it took."""
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
        body = {"id": "c", "choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}
        data = json.dumps(body | {"object": "chat.completion", "model": "m"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_arguments: object) -> None:
        """Prints nothing."""
