"""The idle clock, a timer that fires when the person has been inactive, and the check whether a sync is due then."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lerim.sessions import Database, Transcript

SETTLED_AFTER_NS = 15 * 60 * 1_000_000_000
"""Nanoseconds after the last write to a session until its last exchange is no longer held back (design §3)."""


class IdleClock:
    """Calls `on_idle` once, `seconds` after the last `touch`, and again only after another touch. 0 turns it off.

    A touch costs one clock reading: the timer is moved when it fires, not at each keystroke.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, on_idle: Callable[[], object]) -> None:
        self._loop = loop
        self.seconds = seconds
        self._on_idle = on_idle
        self._last = loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._start_timer()

    def touch(self) -> None:
        """Restarts the idle period because the person was active."""
        self._last = self._loop.time()
        if self._timer is None:
            self._start_timer()

    def set_seconds(self, seconds: float) -> None:
        """Changes the length of the idle period and restarts it now."""
        self.stop()
        self.seconds = seconds
        self.touch()

    def stop(self) -> None:
        """Stops the timer until `touch` or `set_seconds`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_timer(self) -> None:
        if self.seconds > 0:
            self._timer = self._loop.call_at(self._last + self.seconds, self._handle_timer)

    def _handle_timer(self) -> None:
        self._timer = None
        if self._loop.time() < self._last + self.seconds:
            self._start_timer()
        else:
            self._on_idle()


@dataclass(frozen=True, slots=True)
class StoreSnapshot:
    """The result of one stat pass over the agents' stores: a `digest` over the stamps of all transcripts and databases,
    and the paths that were written to recently (`unsettled`)."""

    digest: bytes
    unsettled: frozenset[str]


def snapshot_stores(transcripts: Iterable[Transcript], databases: Iterable[Database], now_ns: int) -> StoreSnapshot:
    """Makes a snapshot of the agents' stores by stat alone; `now_ns` is the time in nanoseconds."""
    digest = hashlib.blake2b(digest_size=16)
    unsettled: set[str] = set()
    seen = [(str(one.path), repr(one.stamp), one.mtime_ns) for one in transcripts]
    seen += [(str(one.path), repr(one.stamp), max(one.stamp[1], one.stamp[3])) for one in databases]
    for path, stamp, written in sorted(seen):
        digest.update(f"{path}\0{stamp}\n".encode("utf-8", "surrogatepass"))
        if now_ns - written < SETTLED_AFTER_NS:
            unsettled.add(path)
    return StoreSnapshot(digest.digest(), frozenset(unsettled))


def is_sync_due(current: StoreSnapshot, previous: StoreSnapshot | None, is_catalog_behind: Callable[[], bool]) -> bool:
    """Whether a sync would find something.

    Either a session whose last exchange was held back has settled, or something changed since the last complete sync
    (`previous`) and the catalog is behind, which is only checked then.
    """
    if previous is not None and previous.unsettled - current.unsettled:
        return True
    if previous is not None and previous.digest == current.digest:
        return False
    return is_catalog_behind()
