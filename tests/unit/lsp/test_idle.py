"""The idle clock, with a loop whose time the test sets, and the decision it leads to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from lerim.jobs.sync_due import is_sync_due, snapshot_stores
from lerim.lsp.features.syncing import LOOK_DELAY_SECONDS, note_changed_files
from lerim.lsp.server import create_server
from lerim.lsp.window.settings import EditorOptions, EditorSettings
from lerim.lsp.window.timers import IdleClock, LookTimer
from lerim.paths import Home
from lerim.sessions.model import Transcript
from lerim.sessions.settling import SETTLE_SECONDS


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


def test_one_timer_comes_back_at_the_earliest_time() -> None:
    loop, fired = Loop(), []
    timer = LookTimer(loop, lambda: fired.append(loop.now))  # type: ignore[arg-type]
    for seconds in (60, 90, 30):
        timer.look_in(seconds)
    loop.advance(1000)
    assert fired == [130.0]


def test_a_change_in_an_agent_s_store_is_looked_at_within_a_minute_unless_idle_syncs_are_off(tmp_path: Path) -> None:
    loop, fired = Loop(), []
    sidecar = create_server(Home(tmp_path), {})
    sidecar.look_timer = LookTimer(loop, lambda: fired.append(loop.now))  # type: ignore[arg-type]
    sidecar.store_folders = (f"{tmp_path / 'projects'}{os.sep}",)
    session = tmp_path / "projects" / "repo" / "session.jsonl"
    note_changed_files(sidecar, [tmp_path / "elsewhere.md"])
    assert not loop.timers
    for _ in range(30):  # an agent at work writes all the time, and does not put the look off
        note_changed_files(sidecar, [session])
        loop.advance(5)
    assert fired == [100 + LOOK_DELAY_SECONDS, 100 + 2 * LOOK_DELAY_SECONDS]
    sidecar.look_timer.stop()
    sidecar.options = EditorOptions(trusted=True, settings=EditorSettings(idle_seconds=0))
    note_changed_files(sidecar, [session])
    loop.advance(1000)
    assert len(fired) == 2


def test_a_session_that_has_settled_is_due_although_its_file_is_the_same() -> None:
    now, settling = 10**18, round(SETTLE_SECONDS * 1e9)
    files = [Transcript("claude", Path("/t/a.jsonl"), "a", 1, now, 1)]
    before = snapshot_stores(files, [], now + 1)
    assert not is_sync_due(snapshot_stores(files, [], now + 2), before, lambda: True)
    assert is_sync_due(snapshot_stores(files, [], now + settling), before, bool)
    assert before.settles_in == SETTLE_SECONDS
