"""Sends one HTTP request to a model service, with a deadline, a size limit and immediate cancellation, without
redirects or netrc.

The request runs in its own thread, because a library call that waits for a server cannot be interrupted. When the
deadline passes, the thread is abandoned; it ends when its socket does.
"""

from __future__ import annotations

import queue
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import requests  # noqa: TID251 - the one place that opens a connection
from urllib3.exceptions import HTTPError, NewConnectionError

MOST_BYTES = 8_000_000
CONNECT_SECONDS = 15.0
MOST_EVENT_BYTES = 1_000_000
"""Maximum number of bytes in one event; a service that sends more is not working properly."""
_PIECE_BYTES = 65_536
_EITHER_HEADER = 32
"""Makes zlib accept both gzip and zlib headers."""

CHECK_SECONDS = 0.05
"""Seconds between checks for cancellation."""


class WireError(Exception):
    """No complete answer arrived. The message is for people and contains no header or body."""


class TooSlowError(WireError):
    """The deadline passed."""


class TooLargeError(WireError):
    """The answer is larger than MOST_BYTES."""


class WireStoppedError(WireError):
    """The person cancelled."""


class UnreachedError(WireError):
    """No connection was made, so nothing was sent."""


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """The service's reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_stream(self) -> bool:
        """Whether the answer is a stream of events."""
        return 200 <= self.status < 300 and self.headers.get("content-type", "").startswith("text/event-stream")


@dataclass(slots=True)
class _Exchange:
    """A request in progress. `pieces` are the pieces of a stream, then None at the end, whether it succeeded or not."""

    pieces: queue.SimpleQueue[bytes | None] = field(default_factory=queue.SimpleQueue)
    stop: threading.Event = field(default_factory=threading.Event)
    reply: ServiceReply | None = None
    error: WireError | None = None


def post_json(
    url: str,
    body: bytes,
    key_headers: Mapping[str, str],
    *,
    seconds: float,
    cancelled: Callable[[], bool],
    local: bool = False,
    on_piece: Callable[[bytes], None] | None = None,
) -> ServiceReply:
    """Posts JSON and returns the whole reply, whatever its status.

    `key_headers` are the headers that contain the key. `local`: the service is on this machine, so no proxy is used.
    `on_piece` receives the pieces of an event stream as they arrive, in the calling thread. Raises a WireError:
    TooSlowError, TooLargeError, WireStoppedError, UnreachedError, or WireError itself if the connection broke off.
    """
    exchange = _Exchange()
    deadline = time.monotonic() + seconds
    arguments = (exchange, url, body, key_headers, seconds, local)
    threading.Thread(target=_send, args=arguments, daemon=True, name="model").start()
    try:
        while (piece := _next_piece(exchange)) is not None:
            if cancelled():
                raise WireStoppedError("cancelled")
            if time.monotonic() > deadline:
                raise TooSlowError(f"it did not answer within {seconds:g} seconds")
            if piece and on_piece is not None:
                on_piece(piece)
    finally:
        exchange.stop.set()
    if exchange.reply is None:
        raise exchange.error or WireError("the connection failed")
    return exchange.reply


def _next_piece(exchange: _Exchange) -> bytes | None:
    """Returns the next piece, b"" if none arrived for a moment, None at the end."""
    try:
        return exchange.pieces.get(timeout=CHECK_SECONDS)
    except queue.Empty:
        return b""


def wait_unless_cancelled(seconds: float, cancelled: Callable[[], bool]) -> None:
    """Waits for this many seconds. Raises WireStoppedError if the person cancels meanwhile."""
    end = time.monotonic() + seconds
    waiting = threading.Event()
    while (remaining := end - time.monotonic()) > 0:
        if cancelled():
            raise WireStoppedError("cancelled")
        waiting.wait(min(CHECK_SECONDS, remaining))


def _send(
    exchange: _Exchange, url: str, body: bytes, key_headers: Mapping[str, str], seconds: float, local: bool
) -> None:
    try:
        exchange.reply = _receive_reply(exchange, url, body, key_headers, seconds, local)
    except WireError as error:
        exchange.error = error
    except requests.exceptions.SSLError:
        exchange.error = UnreachedError("its certificate is not valid here")
    except (requests.exceptions.ConnectTimeout, requests.exceptions.ProxyError) as error:
        exchange.error = UnreachedError(f"it cannot be reached ({type(error).__name__})")
    except requests.exceptions.Timeout:
        exchange.error = TooSlowError(f"it did not answer within {seconds:g} seconds")
    except (requests.exceptions.RequestException, OSError, ValueError) as error:
        # The library's message may quote what was sent; the exception's type does not.
        failed = f"the connection failed ({type(error).__name__})"
        exchange.error = UnreachedError("it cannot be reached") if _is_unreached(error) else WireError(failed)
    finally:
        exchange.pieces.put(None)


def _is_unreached(error: Exception) -> bool:
    """Returns whether nothing was sent, because the connection was refused or the host was not found."""
    cause = error.args[0] if error.args else None
    return isinstance(getattr(cause, "reason", None), NewConnectionError)


def _receive_reply(
    exchange: _Exchange, url: str, body: bytes, key_headers: Mapping[str, str], seconds: float, local: bool
) -> ServiceReply:
    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        # Passed as `auth`, because otherwise a ~/.netrc entry for the host would replace the key.
        request.headers.update(key_headers)
        return request

    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    with requests.Session() as session:
        session.trust_env = not local
        with session.post(
            url,
            data=body,
            headers=headers,
            auth=sign,
            stream=True,
            allow_redirects=False,
            timeout=(min(CONNECT_SECONDS, seconds), seconds),
        ) as response:
            parts: list[bytes] = []
            size = 0
            reply = ServiceReply(response.status_code, response.headers, b"")
            for chunk in _decompress(response):
                size += len(chunk)
                if size > MOST_BYTES:
                    raise TooLargeError(f"its answer is larger than {MOST_BYTES // 1_000_000} MB")
                if exchange.stop.is_set():
                    raise WireStoppedError("cancelled")
                parts.append(chunk)
                if reply.is_stream:
                    exchange.pieces.put(chunk)
            return replace(reply, body=b"".join(parts))


def _decompress(response: requests.Response) -> Iterator[bytes]:
    """Yields the body as it arrives, in pieces of limited size. An uncompressed body was requested. If it is
    compressed anyway, a few bytes can expand to gigabytes, and nested compression to even more."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        yield from _read_raw(response)
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise WireError("its answer is compressed in a way that was not requested")
    decompressor = zlib.decompressobj(zlib.MAX_WBITS | _EITHER_HEADER)
    try:
        for received in _read_raw(response):
            piece = decompressor.decompress(received, _PIECE_BYTES)
            while piece:
                yield piece
                piece = decompressor.decompress(decompressor.unconsumed_tail, _PIECE_BYTES)
    except zlib.error as error:
        raise WireError("its answer is not compressed in the way it says") from error


def _read_raw(response: requests.Response) -> Iterator[bytes]:
    """Yields the bytes as they arrive. `iter_content` would wait for as many as requested, and decompress without a
    limit."""
    try:
        while chunk := response.raw.read1(_PIECE_BYTES, decode_content=False):
            yield chunk
    except HTTPError as error:
        raise WireError(f"the connection failed ({type(error).__name__})") from error


class EventStream:
    """Parses server-sent events, in which a streamed answer arrives: takes bytes in pieces of any size and returns the
    data of each complete event."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yields the data of the events that end in this piece. Raises ValueError if an event is too long."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in (one.removesuffix(b"\r") for one in lines):
            if not line:
                yield from self.end()
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
        if len(self._rest) + sum(map(len, self._data)) > MOST_EVENT_BYTES:
            raise ValueError("an event without end")

    def end(self) -> Iterator[bytes]:
        """Yields the data collected so far, at the end of an event or of the stream."""
        data, self._data = b"\n".join(self._data), []
        if data:
            yield data
