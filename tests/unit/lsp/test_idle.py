"""The idle clock, with a loop whose time the test sets, and the decision it leads to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lerim.jobs.sync_due import SETTLED_AFTER_NS, is_sync_due, snapshot_stores
from lerim.lsp.window.idle import IdleClock
from lerim.sessions.model import Transcript


class Timer:
    def __init__(self, when: float, call: Callable[[], None]) -> None:
        self.when, self.call, self.dead = when, call, False

    def cancel(self) -> None:
        self.dead = True


class Loop:
    """As much of an event loop as a clock needs: time passes when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(when, call))
        return self.timers[-1]

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while ready := [timer for timer in self.timers if not timer.dead and timer.when <= end]:
            timer = min(ready, key=lambda one: one.when)
            timer.dead = True
            self.now = max(self.now, timer.when)
            timer.call()
        self.now = end


def clock(seconds: float = 30.0) -> tuple[Loop, IdleClock, list[float]]:
    loop = Loop()
    fired: list[float] = []
    return loop, IdleClock(loop, seconds, lambda: fired.append(loop.now)), fired  # type: ignore[arg-type]


def test_every_touch_puts_it_off() -> None:
    loop, idle, fired = clock()
    for _ in range(10):
        loop.advance(20)
        idle.touch()
    assert fired == []
    loop.advance(29)
    assert fired == []
    loop.advance(1)
    assert len(fired) == 1


def test_it_fires_once_and_again_only_after_another_touch() -> None:
    loop, idle, fired = clock()
    loop.advance(1000)
    assert fired == [130.0]
    for _ in range(100):
        idle.touch()
    assert len(loop.timers) == 2, "a touch makes no new timer while one waits"
    loop.advance(500)
    assert len(fired) == 2


def test_zero_turns_it_off_and_a_change_turns_it_on() -> None:
    loop, idle, fired = clock(0)
    idle.touch()
    loop.advance(1000)
    assert fired == []
    idle.set_seconds(10)
    loop.advance(10)
    assert len(fired) == 1
    idle.set_seconds(0)
    idle.touch()
    loop.advance(1000)
    assert len(fired) == 1


def test_a_session_that_has_settled_is_due_although_its_file_is_the_same() -> None:
    now = SETTLED_AFTER_NS * 10
    files = [Transcript("claude", Path("/t/a.jsonl"), "a", 1, now, 1)]
    before = snapshot_stores(files, [], now + 1)
    assert not is_sync_due(snapshot_stores(files, [], now + 2), before, lambda: True)
    assert is_sync_due(snapshot_stores(files, [], now + SETTLED_AFTER_NS), before, bool)
