"""Splits the input stream into JSON-RPC messages and validates them before a handler sees them.

No input ends the sidecar. A message that violates JSON-RPC or the protocol is answered with the matching error code
if it can be answered. After an invalid header the reader skips to the next valid one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from lerim.lsp.boundary.parent import StdinReader

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
NOT_INITIALIZED = -32002

MAX_MESSAGE_BYTES = 256 * 1024 * 1024
"""No editor sends a longer message; a header with a greater length is invalid."""
_LENGTH_HEADER = re.compile(rb"Content-Length:[ \t]*(\d{1,12})[ \t]*\r?\n\Z", re.IGNORECASE)
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_MAX_ID = 2**53

MessageId = int | str | None


@dataclass(frozen=True, slots=True)
class RpcRejection:
    """The error that answers an invalid message. `id` is the request's id, or None if it is unknown."""

    id: MessageId
    code: int
    message: str

    def encode_answer(self) -> bytes:
        """Encodes the answer as JSON."""
        error = {"code": self.code, "message": self.message}
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}).encode()


@dataclass(frozen=True, slots=True)
class RpcMessage:
    """A well-formed request, notification (without `id`) or response to us (without `method`)."""

    data: dict[str, Any]
    method: str | None
    id: MessageId


class FrameReader:
    """Reads the bodies of messages from a stream."""

    def __init__(self, source: StdinReader) -> None:
        self._source = source
        self._is_out_of_sync = False

    async def read_next(self) -> bytes | RpcRejection | None:
        """Returns the next body; None at the end.

        Invalid headers give one rejection; the reader then skips everything up to the next valid header.
        """
        length: int | None = None
        saw_headers = False
        while line := await self._source.readline():
            if line.strip():
                saw_headers = True
                # not only at the line's start: the header may follow the body of a message whose length was wrong
                if (found := _LENGTH_HEADER.search(line)) and int(found[1]) <= MAX_MESSAGE_BYTES:
                    length = int(found[1])
                continue
            if length is not None:
                self._is_out_of_sync = False
                return await self._source.readexactly(length)
            if saw_headers and not self._is_out_of_sync:
                self._is_out_of_sync = True
                return RpcRejection(None, PARSE_ERROR, "A message has no Content-Length that can be used.")
            saw_headers = False
        return None


def parse_message(body: bytes) -> RpcMessage | RpcRejection | None:
    """Parses a body. Returns the message, or a rejection if it is invalid; None if it is invalid but has no answer.

    Lone surrogates, which cannot be encoded, are replaced by U+FFFD.
    """
    try:
        data = json.loads(body)
        if _SURROGATE_ESCAPE.search(body):
            data = _replace_surrogates(data)
    except (ValueError, RecursionError):
        return RpcRejection(None, PARSE_ERROR, "A message is not valid JSON in UTF-8.")
    if not isinstance(data, dict):
        return RpcRejection(None, INVALID_REQUEST, "A message must be an object; batches are not part of the protocol.")
    message_id = data.get("id")
    valid_id = message_id if _is_valid_id(message_id) else None
    if "method" not in data:
        if "id" in data and ("result" in data or "error" in data):
            return None if valid_id is None else RpcMessage(data, None, valid_id)  # a response is never answered
        return RpcRejection(valid_id, INVALID_REQUEST, "A message needs a method.")
    method = data["method"]
    if "id" in data and valid_id is None:
        return RpcRejection(None, INVALID_REQUEST, "The id of a request must be a string or a whole number.")
    if not isinstance(method, str) or data.get("jsonrpc") != "2.0":
        return RpcRejection(valid_id, INVALID_REQUEST, 'A message needs "jsonrpc": "2.0" and a method by its name.')
    if not isinstance(data.get("params"), dict | list | None):
        return (
            RpcRejection(valid_id, INVALID_PARAMS, "Parameters must be an object or an array.")
            if valid_id is not None
            else None
        )
    return RpcMessage(data, method, valid_id)


def check_lifecycle(message: RpcMessage, *, initialized: bool, shut_down: bool) -> RpcRejection | None:
    """Rejects a message that is not allowed before initialization or after shutdown; None if it is allowed."""
    if message.method is None or message.method == "exit":
        return None
    if shut_down:
        return RpcRejection(message.id, INVALID_REQUEST, "The server was shut down.")
    if message.method == "initialize":
        if not initialized and message.id is not None:
            return None
        return RpcRejection(message.id, INVALID_REQUEST, "The server is initialized once, by a request.")
    return None if initialized else RpcRejection(message.id, NOT_INITIALIZED, "The server is not initialized yet.")


def _is_valid_id(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, str) or (isinstance(value, int) and abs(value) <= _MAX_ID)


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_replace_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(one) for key, one in value.items()}
    return value
