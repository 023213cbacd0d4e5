"""When the daemon looks at the stores: hours pass in a moment, on clocks of the test."""

from __future__ import annotations

import pytest

from lerim.web.daemon.schedule import Schedule, Timings

TIMINGS = Timings(quiet=60, longest_wait=90, settle=1, tick=900, jump=120, retry=120, longest_retry=7200)


def looks(
    schedule: Schedule, *, until: float, changes: tuple[float, ...] = (), settles_in: float | None = None
) -> list[float]:
    """The times at which the daemon would look, if it sleeps as long as the schedule says."""
    found: list[float] = []
    now, pending = 0.0, sorted(changes)
    while True:
        wake = now + schedule.seconds_until_next(now)
        if pending and pending[0] <= wake:
            now = pending.pop(0)
            schedule.note_change(now)
            continue
        if wake > until:
            return found
        now = wake
        schedule.note_tick(now, 1_000_000 + now)
        if schedule.is_look_due(now):
            found.append(now)
            schedule.note_looked(now, settles_in if len(found) == 1 else None)


@pytest.mark.parametrize(
    ("changes", "settles_in", "at"),
    [
        pytest.param((), None, [], id="nothing happens without a change"),
        pytest.param((10, 11, 30), None, [90], id="once when a burst is over"),
        pytest.param(tuple(range(0, 240, 30)), None, [90, 210], id="every minute and a half in a busy session"),
        pytest.param((0,), 30, [60, 91], id="again when an unfinished session has settled"),
        pytest.param((0, 85), 30, [60, 91], id="another session does not put that off"),
    ],
)
def test_it_looks_when_it_is_quiet_and_when_a_session_has_settled(
    changes: tuple[float, ...], settles_in: float | None, at: list[float]
) -> None:
    assert looks(Schedule(TIMINGS), until=3600, changes=changes, settles_in=settles_in) == at


def test_it_looks_when_the_machine_wakes_up_and_not_when_the_clock_is_set_back() -> None:
    schedule = Schedule(TIMINGS)
    schedule.note_tick(0, 1_000_000)
    schedule.note_tick(900, 1_000_900)
    assert not schedule.is_look_due(900)
    schedule.note_tick(1800, 990_000)
    assert not schedule.is_look_due(1800)
    schedule.note_tick(1801, 990_001 + 8 * 3600)
    assert schedule.is_look_due(1801)


def test_failures_are_tried_again_later_and_later_and_a_success_forgets_them() -> None:
    schedule = Schedule(TIMINGS)
    waits = [schedule.note_failure("sync a", 0.0) for _ in range(9)]
    assert waits[:4] == [120, 240, 480, 960]
    assert waits[-1] == 7200
    assert not schedule.may_run("sync a", 7199)
    assert schedule.may_run("sync a", 7200)
    assert schedule.may_run("sync b", 0)
    assert schedule.seconds_until_next(0) == 120
    schedule.note_success("sync a")
    assert schedule.may_run("sync a", 0)
