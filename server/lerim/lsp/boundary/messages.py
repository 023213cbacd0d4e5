"""Messages as they come over the pipe: cut out by their headers and checked before a handler sees them.

Whatever comes, the sidecar lives on. What breaks the rules of JSON-RPC or of the protocol is answered with their own
error where it can be, and after a header that makes no sense the next one that does is looked for.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Protocol

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
NOT_INITIALIZED = -32002

MOST_BYTES = 256 * 1024 * 1024
"""No editor sends a longer message: a longer one is a header that makes no sense."""
_LENGTH = re.compile(rb"Content-Length:[ \t]*(\d{1,12})[ \t]*\r?\n\Z", re.IGNORECASE)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LARGEST_ID = 2**53

Id = int | str | None


class LineSource(Protocol):
    """What messages are read from."""

    async def readline(self) -> bytes:
        """The next line, nothing at the end."""

    async def readexactly(self, size: int) -> bytes | None:
        """So many bytes; None where the end comes first."""


@dataclass(frozen=True, slots=True)
class RpcRefusal:
    """The error a message is answered with. `id` is the request's, None where nobody knows it."""

    id: Id
    code: int
    message: str

    def encoded(self) -> bytes:
        """The answer as JSON."""
        error = {"code": self.code, "message": self.message}
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}).encode()


@dataclass(frozen=True, slots=True)
class RpcMessage:
    """A request, a notification (no `id`) or an answer to us (no `method`), whose form is right."""

    data: dict[str, Any]
    method: str | None
    id: Id


class FrameReader:
    """The bodies of the messages that come."""

    def __init__(self, lines: LineSource) -> None:
        self._lines = lines
        self._lost = False

    async def next(self) -> bytes | RpcRefusal | None:
        """The next body; a refusal where the headers make no sense, once until they do again; None at the end."""
        length: int | None = None
        headers = False
        while line := await self._lines.readline():
            if line.strip():
                headers = True
                # not only at the line's start: it may follow on the body of a message whose length was wrong
                if (found := _LENGTH.search(line)) and int(found[1]) <= MOST_BYTES:
                    length = int(found[1])
                continue
            if length is not None:
                self._lost = False
                return await self._lines.readexactly(length)
            if headers and not self._lost:
                self._lost = True
                return RpcRefusal(None, PARSE_ERROR, "A message has no Content-Length that can be used.")
            headers = False
        return None


def parse_message(body: bytes) -> RpcMessage | RpcRefusal | None:
    """The message in a body, or why it is none; None for what is wrong and has no answer.

    A lone surrogate, which is no text and can be written nowhere, becomes U+FFFD.
    """
    try:
        data = json.loads(body)
        if _SURROGATE.search(body):
            data = _without_surrogates(data)
    except (ValueError, RecursionError):
        return RpcRefusal(None, PARSE_ERROR, "A message is not valid JSON in UTF-8.")
    if not isinstance(data, dict):
        return RpcRefusal(None, INVALID_REQUEST, "A message must be an object; batches are not part of the protocol.")
    message_id = data.get("id")
    known = message_id if _is_id(message_id) else None
    if "method" not in data:
        if "id" in data and ("result" in data or "error" in data):
            return None if known is None else RpcMessage(data, None, known)  # an answer is not answered
        return RpcRefusal(known, INVALID_REQUEST, "A message needs a method.")
    method = data["method"]
    if "id" in data and known is None:
        return RpcRefusal(None, INVALID_REQUEST, "The id of a request must be a string or a whole number.")
    if not isinstance(method, str) or data.get("jsonrpc") != "2.0":
        return RpcRefusal(known, INVALID_REQUEST, 'A message needs "jsonrpc": "2.0" and a method by its name.')
    if not isinstance(data.get("params"), dict | list | None):
        return (
            RpcRefusal(known, INVALID_PARAMS, "Parameters must be an object or an array.")
            if known is not None
            else None
        )
    return RpcMessage(data, method, known)


def refuse_untimely(message: RpcMessage, *, initialized: bool, shut_down: bool) -> RpcRefusal | None:
    """Why a request is refused at this time; None where it is not."""
    if message.method is None or message.method == "exit":
        return None
    if shut_down:
        return RpcRefusal(message.id, INVALID_REQUEST, "The server was shut down.")
    if message.method == "initialize":
        if not initialized and message.id is not None:
            return None
        return RpcRefusal(message.id, INVALID_REQUEST, "The server is initialized once, by a request.")
    return None if initialized else RpcRefusal(message.id, NOT_INITIALIZED, "The server is not initialized yet.")


def _is_id(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, str) or (isinstance(value, int) and abs(value) <= _LARGEST_ID)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in value.items()}
    return value
