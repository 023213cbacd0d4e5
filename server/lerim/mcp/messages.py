"""Reads and writes the JSON-RPC messages of MCP: one JSON object a line, in both directions.

Only the smallest modules of the standard library are imported: an agent waits for the first answer at each start.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, TypeAlias

    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
    RequestId: TypeAlias = int | str

MAX_LINE_BYTES = 1_000_000
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


class Message:
    """A message of the client. `id` is None for a notification; `params` is empty if there are none. A response to a
    request of ours has `result` instead of a method, None if it is an error."""

    __slots__ = ("id", "method", "params", "result")

    def __init__(self, id: RequestId | None, method: str, params: dict[str, Json], result: Json = None) -> None:
        self.id = id
        self.method = method
        self.params = params
        self.result = result


class BadMessage:
    """A line that is not a message, with the error code and the explanation for the client."""

    __slots__ = ("code", "explanation", "id")

    def __init__(self, code: int, explanation: str, id: RequestId | None = None) -> None:
        self.code = code
        self.explanation = explanation
        self.id = id


def read_messages(source: BinaryIO) -> Iterator[Message | BadMessage]:
    """Yields the messages of the client until its end of the stream is closed."""
    while line := source.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            while line and not line.endswith(b"\n"):
                line = source.readline(MAX_LINE_BYTES)
            yield BadMessage(INVALID_REQUEST, f"A message may have at most {MAX_LINE_BYTES} bytes.")
        elif line.strip():
            yield parse_message(line)


def parse_message(line: bytes) -> Message | BadMessage:
    """Returns the message in a line, or what is wrong with it."""
    try:
        value: Json = json.loads(line)
    except (ValueError, RecursionError):
        return BadMessage(PARSE_ERROR, "This line is not JSON.")
    if not isinstance(value, dict):
        return BadMessage(INVALID_REQUEST, "A message is one JSON object.")
    request_id, method, params = value.get("id"), value.get("method"), value.get("params")
    if isinstance(request_id, bool) or not isinstance(request_id, int | str | None):
        return BadMessage(INVALID_REQUEST, "The id of a request is a number or a string.")
    if method is None and request_id is not None:
        return Message(request_id, "", {}, value.get("result"))
    if not isinstance(method, str):
        return BadMessage(INVALID_REQUEST, "A request names its method.", request_id)
    if params is not None and not isinstance(params, dict):
        return BadMessage(INVALID_PARAMS, "The parameters of a request are one JSON object.", request_id)
    return Message(request_id, method, params or {})


class Writer:
    """Writes messages to the client, from any thread. Once the client has closed its end, nothing is written."""

    def __init__(self, output: BinaryIO) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._is_open = True

    def respond(self, request_id: RequestId, result: dict[str, Json]) -> None:
        """Answers a request."""
        self.send({"id": request_id, "result": result})

    def refuse(self, request_id: RequestId | None, code: int, explanation: str) -> None:
        """Answers a request, or a line without a readable id, with an error."""
        self.send({"id": request_id, "error": {"code": code, "message": explanation}})

    def send(self, message: dict[str, Json]) -> None:
        """Sends a message; for one with a `method` the client is asked or told something."""
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            if self._is_open:
                try:
                    self._output.write(line)
                    self._output.flush()
                except OSError:  # the client is gone; the end of its input ends the server
                    self._is_open = False
