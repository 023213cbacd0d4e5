"""Parses server-sent events, in which a streamed answer arrives."""

from __future__ import annotations

from collections.abc import Iterator

MOST_EVENT = 1_000_000
"""The most bytes in one event; a service that sends more is not working properly."""


class EventStream:
    """Takes bytes in pieces of any size and returns the data of each complete event."""

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
        if len(self._rest) + sum(map(len, self._data)) > MOST_EVENT:
            raise ValueError("an event without end")

    def end(self) -> Iterator[bytes]:
        """Yields the data collected so far, at the end of an event or of the stream."""
        data, self._data = b"\n".join(self._data), []
        if data:
            yield data
