"""When the daemon looks at the agents' stores, and when it tries again what did not work.

Intervals are measured with a monotonic clock, so that setting the clock changes none of them. That clock stands still
while the machine sleeps; a wall clock that moved further shows that it did, and the stores are looked at then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf


@dataclass(frozen=True, slots=True)
class Timings:
    """Intervals in seconds.

    `quiet`: how long nothing may change before the stores are looked at, and `longest_wait` how long at most that is
    put off by further changes. `settle`: how long after a session has settled it is looked at. `tick`: the
    longest sleep. `jump`: how far the wall clock must have moved beyond the monotonic one to show that the machine
    slept. `retry` and `longest_retry`: the first and the longest wait after a failure.
    """

    quiet: float = 60.0
    longest_wait: float = 90.0
    settle: float = 1.0
    tick: float = 900.0
    jump: float = 120.0
    retry: float = 120.0
    longest_retry: float = 7200.0


@dataclass(slots=True)
class Schedule:
    """The times of the next steps. `now` is always the monotonic clock."""

    timings: Timings
    last_tick: tuple[float, float] | None = None
    """The monotonic and the wall clock at the last tick."""
    _look_at: float | None = None
    _settle_look_at: float | None = None
    _first_change: float | None = None
    _failures: dict[str, int] = field(default_factory=dict)
    _not_before: dict[str, float] = field(default_factory=dict)

    def note_change(self, now: float) -> None:
        """Something in a store changed: look at it when it has been quiet for a while."""
        if self._first_change is None:
            self._first_change = now
        self._look_at = min(now + self.timings.quiet, self._first_change + self.timings.longest_wait)

    def note_tick(self, now: float, wall: float) -> None:
        """Time has passed. After a sleep of the machine, the stores are looked at."""
        if self.last_tick is not None:
            passed, passed_on_wall = now - self.last_tick[0], wall - self.last_tick[1]
            if passed_on_wall - passed > self.timings.jump:
                self._look_at = now
        self.last_tick = now, wall

    def is_look_due(self, now: float) -> bool:
        """Returns whether to look at the stores now."""
        return self._next_look_at <= now

    def is_quiet(self) -> bool:
        """Returns whether nothing changed since the stores were looked at."""
        return self._first_change is None

    def note_looked(self, now: float, settles_in: float | None) -> None:
        """The stores were looked at. `settles_in`: in how many seconds the first session that is still being written
        settles, None if there is none."""
        self._first_change = None
        self._look_at = None
        self._settle_look_at = None if settles_in is None else now + max(settles_in, 0.0) + self.timings.settle

    def look_again(self, now: float, seconds: float) -> None:
        """Looks at the stores after this time, if not earlier."""
        at = now + seconds
        self._look_at = at if self._look_at is None else min(self._look_at, at)

    def may_run(self, key: str, now: float) -> bool:
        """Returns whether a project may be worked on, or has to wait after a failure."""
        return self._not_before.get(key, now) <= now

    def note_success(self, key: str) -> None:
        """Works on a project succeeded."""
        self._failures.pop(key, None)
        self._not_before.pop(key, None)

    def note_failure(self, key: str, now: float) -> float:
        """Works on a project failed, or another process was at work. Returns the seconds until the next try, which
        double each time."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        seconds = min(self.timings.retry * 2.0 ** min(failures - 1, 20), self.timings.longest_retry)
        self._not_before[key] = now + seconds
        self.look_again(now, seconds)
        return seconds

    def seconds_until_next(self, now: float) -> float:
        """Returns how long to sleep if nothing changes."""
        return max(0.0, min(self._next_look_at - now, self.timings.tick))

    @property
    def _next_look_at(self) -> float:
        return min(inf if at is None else at for at in (self._look_at, self._settle_look_at))
