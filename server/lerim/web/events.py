"""Streams of server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final

from starlette.responses import Response, StreamingResponse

from lerim.errors import LerimError
from lerim.files import encode_writable_json
from lerim.redaction import redact_json
from lerim.views import make_error_output

KEEP_ALIVE_SECONDS = 15.0
_END: Final = object()


def event_response(events: AsyncGenerator[object]) -> Response:
    """Returns a stream of these events, each as one JSON object; an error that ends it is the last event."""
    return StreamingResponse(_encode_events(events), media_type="text/event-stream")


async def _encode_events(events: AsyncGenerator[object]) -> AsyncGenerator[bytes]:
    """Yields the events, and a comment when there was none for a while, so that a closed connection is noticed."""
    pending: asyncio.Task[object] | None = None
    try:
        while True:
            pending = pending or asyncio.create_task(_next_event(events))
            done, _ = await asyncio.wait({pending}, timeout=KEEP_ALIVE_SECONDS)
            if not done:
                yield b": waiting\n\n"
                continue
            event, pending = pending.result(), None
            if event is _END:
                return
            yield encode_event(event)
    finally:
        if pending is not None:
            pending.cancel()
            with suppress(asyncio.CancelledError):
                await pending
        await events.aclose()


async def _next_event(events: AsyncGenerator[object]) -> object:
    """Returns the next event, the error that ended the stream, or `_END`."""
    try:
        return await anext(events)
    except StopAsyncIteration:
        return _END
    except LerimError as error:
        return make_error_output(error)


def encode_event(event: object) -> bytes:
    """Returns an event as it is sent: one line of JSON, without secrets."""
    return f"data: {redact_json(encode_writable_json(event).decode())}\n\n".encode("utf-8", "backslashreplace")
