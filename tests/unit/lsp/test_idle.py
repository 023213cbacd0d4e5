"""The idle clock, with a loop whose time the test sets, and the decision it leads to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lerim.lsp.window.idle import SETTLED_AFTER_NS, IdleClock, is_sync_due, snapshot_stores
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


def test_it_fires_once_when_nothing_happens() -> None:
    loop, _, fired = clock()
    loop.advance(1000)
    assert fired == [130.0]


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


def test_it_fires_again_only_after_another_touch() -> None:
    loop, idle, fired = clock()
    loop.advance(500)
    idle.touch()
    loop.advance(500)
    assert len(fired) == 2


def test_a_touch_makes_no_new_timer_while_one_waits() -> None:
    loop, idle, _ = clock()
    for _ in range(100):
        idle.touch()
    assert len(loop.timers) == 1


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


def transcript(name: str, size: int = 1, mtime: int = 0) -> Transcript:
    return Transcript("claude", Path(f"/t/{name}.jsonl"), name, size, mtime, 1)


NOW = SETTLED_AFTER_NS * 10


def unasked() -> bool:
    raise AssertionError("the catalog was asked although nothing changed")


def test_nothing_is_due_while_every_stamp_is_the_same() -> None:
    files = [transcript("a"), transcript("b")]
    before = snapshot_stores(files, [], NOW)
    assert not is_sync_due(snapshot_stores(reversed(files), [], NOW + 1), before, unasked)


def test_a_changed_transcript_is_due_unless_the_catalog_has_it() -> None:
    before, now = snapshot_stores([transcript("a", 1)], [], NOW), snapshot_stores([transcript("a", 2)], [], NOW)
    assert is_sync_due(now, before, lambda: True)
    assert not is_sync_due(now, before, lambda: False)


def test_at_the_first_look_the_catalog_decides() -> None:
    files = [transcript("a")]
    assert is_sync_due(snapshot_stores(files, [], NOW), None, lambda: True)
    assert not is_sync_due(snapshot_stores(files, [], NOW), None, lambda: False)


def test_a_session_that_has_settled_is_due_although_its_file_is_the_same() -> None:
    files = [transcript("a", mtime=NOW)]
    before = snapshot_stores(files, [], NOW + 1)
    assert not is_sync_due(snapshot_stores(files, [], NOW + 2), before, unasked)
    assert is_sync_due(snapshot_stores(files, [], NOW + SETTLED_AFTER_NS), before, unasked)
