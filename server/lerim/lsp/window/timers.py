"""The timers of a window: the idle clock, and the timer that comes back for what an agent has not finished saying."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


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

    @property
    def is_waiting(self) -> bool:
        """Whether the person was active, and `on_idle` will be called when that is over."""
        return self._timer is not None

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


class LookTimer:
    """Calls `on_due` once at the earliest of the times it was set to. There is at most one timer, and none without a
    reason: nothing polls."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_due: Callable[[], object]) -> None:
        self._loop = loop
        self._on_due = on_due
        self._timer: asyncio.TimerHandle | None = None
        self._due_at = 0.0

    def look_in(self, seconds: float) -> None:
        """Calls `on_due` after this time, unless it will be called earlier anyway."""
        at = self._loop.time() + max(seconds, 0.0)
        if self._timer is None or at < self._due_at:
            self.stop()
            self._due_at = at
            self._timer = self._loop.call_at(at, self._handle_timer)

    def stop(self) -> None:
        """Forgets the time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _handle_timer(self) -> None:
        self._timer = None
        self._on_due()
