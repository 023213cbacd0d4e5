"""The timer that comes back for what an agent has not finished saying."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


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
