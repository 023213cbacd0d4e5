"""The idle clock: one timer that fires once when the person has been away for a while, and what is looked at then."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lerim.sessions import Database, Transcript

SETTLED_AFTER = 15 * 60 * 1_000_000_000
"""Nanoseconds after its last write at which a session's last exchange is no longer held back (design §3)."""


class IdleClock:
    """Calls `idle` once, `seconds` after the last `touch`; the next time only after another touch. 0 turns it off.

    A touch costs one clock reading: the timer is moved when it fires, not at each key stroke.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, idle: Callable[[], object]) -> None:
        self._loop = loop
        self.seconds = seconds
        self._idle = idle
        self._last = loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._arm()

    def touch(self) -> None:
        """The person did something."""
        self._last = self._loop.time()
        if self._timer is None:
            self._arm()

    def change(self, seconds: float) -> None:
        """A new length from the settings, counted from now."""
        self.stop()
        self.seconds = seconds
        self.touch()

    def stop(self) -> None:
        """No more calls until `touch` or `change`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        if self.seconds > 0:
            self._timer = self._loop.call_at(self._last + self.seconds, self._fire)

    def _fire(self) -> None:
        self._timer = None
        if self._loop.time() < self._last + self.seconds:
            self._arm()
        else:
            self._idle()


@dataclass(frozen=True, slots=True)
class StoreSnapshot:
    """What one stat pass saw: `digest` over every transcript's and database's stamp, and which had been written to just
    before."""

    digest: bytes
    unsettled: frozenset[str]


def snapshot_stores(transcripts: Iterable[Transcript], databases: Iterable[Database], now_ns: int) -> StoreSnapshot:
    """The state of the agents' stores by stat alone."""
    digest = hashlib.blake2b(digest_size=16)
    unsettled: set[str] = set()
    seen = [(str(one.path), repr(one.stamp), one.mtime_ns) for one in transcripts]
    seen += [(str(one.path), repr(one.stamp), max(one.stamp[1], one.stamp[3])) for one in databases]
    for path, stamp, written in sorted(seen):
        digest.update(f"{path}\0{stamp}\n".encode("utf-8", "surrogatepass"))
        if now_ns - written < SETTLED_AFTER:
            unsettled.add(path)
    return StoreSnapshot(digest.digest(), frozenset(unsettled))


def is_sync_due(now: StoreSnapshot, before: StoreSnapshot | None, behind: Callable[[], bool]) -> bool:
    """Whether a job would find something: one session whose last exchange was held back has settled, or something
    changed since the last look that left nothing undone (`before`) and the catalog is `behind`, asked only then."""
    if before is not None and before.unsettled - now.unsettled:
        return True
    if before is not None and before.digest == now.digest:
        return False
    return behind()
