"""Server-sent events: the lines of an answer that comes in pieces."""

from __future__ import annotations

from collections.abc import Iterator

MOST_EVENT = 1_000_000
"""Bytes of one event; a service that sends more of one makes no sense."""


class EventStream:
    """Takes bytes as they come, in pieces of any size, and gives the data of each event that is complete."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of the events that end in this piece. Raises ValueError where one has no end."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in (one.removesuffix(b"\r") for one in lines):
            if not line:
                yield from self.end()
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
        if len(self._rest) + sum(map(len, self._data)) > MOST_EVENT:
            raise ValueError("an event without end")

    def end(self) -> Iterator[bytes]:
        """What is left at the end of the stream, or of an event."""
        data, self._data = b"\n".join(self._data), []
        if data:
            yield data
