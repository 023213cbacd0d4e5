"""When the daemon looks at the stores: hours pass in a moment, on clocks of the test."""

from __future__ import annotations

from lerim.web.daemon.schedule import Schedule, Timings

TIMINGS = Timings(quiet=60, longest_wait=90, settle=1, tick=900, jump=120, retry=120, longest_retry=7200)


def looks(
    schedule: Schedule, *, until: float, changes: tuple[float, ...] = (), settles_in: float | None = None
) -> list[float]:
    """The times at which the daemon would look, if it sleeps as long as the schedule says."""
    now, found, pending = 0.0, [], sorted(changes)
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


def test_it_looks_once_when_a_burst_of_changes_is_over() -> None:
    assert looks(Schedule(TIMINGS), until=3600, changes=(10, 11, 30)) == [90]


def test_a_session_that_never_rests_puts_it_off_for_a_minute_and_a_half_at_most() -> None:
    busy = tuple(float(second) for second in range(0, 2000, 30))
    assert looks(Schedule(TIMINGS), until=2000, changes=busy)[:2] == [90, 210]


def test_it_looks_again_when_an_unfinished_session_has_settled() -> None:
    assert looks(Schedule(TIMINGS), until=3600, changes=(0,), settles_in=30) == [60, 91]


def test_another_session_s_changes_do_not_put_off_the_look_at_one_that_settles() -> None:
    assert looks(Schedule(TIMINGS), until=3600, changes=(0, 85), settles_in=30) == [60, 91]


def test_nothing_happens_without_a_change() -> None:
    assert looks(Schedule(TIMINGS), until=86_400) == []


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
