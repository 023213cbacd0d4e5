"""`lerim backfill`: the past of a repository, day by day, against a project that was synced on each of its days."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from desk import Desk
from killer import Killer
from lerim.jobs.sync_context import SyncOptions
from lerim.models import consent
from lerim.project import hold_project_lock
from long import times
from paid_service import paid_service
from sixty_days import RULES, START, Life
from terminal import answer, run

DAYS = 6
WORKED = (0, 1, 2, 4)
"""The days with sessions."""
SETTINGS = '[review]\nmode = "auto"\n[maintain]\ngrace_days = 1\ndecay_days = 4\narchive_below = 0.5\n'


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")


def live(desk: Desk, evening: Callable[[Life], object] = lambda _: None) -> None:
    """Six days of sessions, one of which goes on for two days."""
    desk.home.root.mkdir(mode=0o700, exist_ok=True)
    desk.home.config.write_text(SETTINGS, encoding="utf-8")
    life = Life(desk)
    for life.day in range(DAYS):
        if life.day % 2 == 0:
            life.learn(RULES[life.day // 2])
        if life.day % 3 == 1:
            life.choose("src/app.py", ("structlog", "pathlib")[life.day // 3], ("print", "os.path")[life.day // 3])
        evening(life)


def forget(desk: Desk) -> None:
    """Nothing was ever synced here."""
    shutil.rmtree(desk.repo / ".lerim")
    shutil.rmtree(desk.home.root)
    desk.home.root.mkdir(mode=0o700)
    desk.home.config.write_text(SETTINGS, encoding="utf-8")


def backfill(desk: Desk, *more: str, code: int = 0) -> Any:
    return answer("backfill", "--repo", str(desk.repo), "--accept-above", "0.5", *more, code=code)


def remembered(desk: Desk) -> dict[str, str]:
    """Every memory file and summary, and every journal entry."""
    root = desk.repo / ".lerim" / "memory"
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.md"))}


def date(day: int) -> str:
    return str((START + timedelta(days=day)).date())


def titles(desk: Desk, day: int) -> list[str]:
    listed = answer("memory", "list", "--as-of", date(day), "--repo", str(desk.repo))["memories"]
    return sorted(one["title"] for one in listed)


def test_a_backfill_makes_the_memory_that_a_sync_on_each_day_would_have_made(desk: Desk) -> None:
    seen: dict[int, list[str]] = {}

    def evening(life: Life) -> None:
        desk.sync(SyncOptions(model="none", accept_above=0.5, quotes="shared"), clock=lambda: life.now)
        seen[life.day] = desk.memories()

    live(desk, evening)
    daily = [name for name in remembered(desk) if not name.startswith("summaries/")]
    forget(desk)
    desk.home.config.write_text(SETTINGS.partition("[maintain]")[0], encoding="utf-8")
    report = backfill(desk, "--quotes", "shared")
    assert report["state"] == "done" and report["problems"] == []
    assert [day["day"] for day in report["days"]] == [date(at) for at in WORKED]
    assert [name for name in remembered(desk) if not name.startswith("summaries/")] == daily
    assert {day: titles(desk, day) for day in seen} == seen
    assert len({str(one) for one in seen.values()}) > 2


def test_the_days_and_the_price_are_told_before_anything_is_written(desk: Desk) -> None:
    live(desk)
    plan = backfill(desk, "--dry-run")
    assert (len(plan["days"]), plan["waits"]["sessions"], plan["done_through"]) == (len(WORKED), 5, "")
    assert not (desk.repo / ".lerim").exists()
    desk.home.config.write_text('[roles.extract]\nprovider = "openrouter"\n', encoding="utf-8")
    os.environ["OPENROUTER_API_KEY"] = "k"
    priced = backfill(desk, "--dry-run")["waits"]
    assert priced["sessions"] == 5 and priced["tokens"] > 0 and priced["cost"] > 0
    refused = backfill(desk, code=2)["error"]
    assert "--yes" in refused["todo"] and not (desk.repo / ".lerim").exists()
    shown = run("backfill", "--dry-run", "--repo", str(desk.repo)).stdout
    assert "5 sessions wait for openrouter" in shown
    listed = [line.partition(": ") for line in shown.splitlines() if line.startswith("  ")]
    assert sum(len(days.split(", ")) for _, _, days in listed) == len(plan["days"])


def test_nobody_is_asked_about_a_price_that_was_not_shown(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    live(desk)
    desk.home.config.write_text('[roles.extract]\nprovider = "openrouter"\n', encoding="utf-8")
    monkeypatch.setenv("OPENROUTER_API_KEY", "k")
    monkeypatch.setattr("lerim.cli.terminal.output.can_ask", lambda: True)
    asked = run("backfill", "--repo", str(desk.repo), typed="n\n")
    assert asked.exit_code != 0 and "Start, and approve the cost?" in asked.stderr
    assert "5 sessions wait for openrouter" in asked.stdout
    refused = run("backfill", "--repo", str(desk.repo), "--json", typed="y\n")
    assert refused.exit_code == 2 and "Start, and approve" not in refused.stderr
    assert consent.load_known_models(desk.home)[0].allowed == frozenset()


def test_a_backfill_goes_on_where_the_last_one_ended_and_does_nothing_twice(desk: Desk, isolated: Path) -> None:
    live(desk)
    (isolated / "2026-02-01.md").write_text("Talked about billing", encoding="utf-8")
    notes = f'{SETTINGS}[journal]\nsources = ["{isolated}/2026-02-01.md"]\n'
    desk.home.config.write_text(notes, encoding="utf-8")
    until = date(2)
    first = backfill(desk, "--until", until, "--write")
    assert [day["day"] for day in first["days"]][-1] == until
    assert {day["journal"] for day in first["days"]} == {"written"}
    before = remembered(desk)
    assert "Talked about billing" in before["journal/2026/02/01.md"]
    assert backfill(desk, "--until", until)["days"] == []
    assert remembered(desk) == before
    rest = backfill(desk, "--write")["days"]
    assert rest[0]["day"] > until and len(rest) + len(first["days"]) == len(WORKED)
    assert backfill(desk)["days"] == []
    parts = remembered(desk)
    forget(desk)
    desk.home.config.write_text(notes, encoding="utf-8")
    backfill(desk, "--write")
    assert remembered(desk) == parts


def test_a_session_of_two_days_is_read_up_to_the_end_of_each_day(desk: Desk) -> None:
    life = Life(desk, day=0)
    life.learn(RULES[0])
    [path] = desk.projects.glob("*/*.jsonl")
    first = path.read_text(encoding="utf-8")
    later = first.replace("2026-02-01", "2026-02-03").replace(RULES[0], RULES[1])
    later = later.replace('"uuid":"', '"uuid":"f').replace('"id":"', '"id":"f')
    path.write_text(first + later, encoding="utf-8")
    report = backfill(desk, "--until", "2026-02-01")
    assert [day["candidates"] for day in report["days"]] == [1]
    assert RULES[1].split(",")[0] not in str(remembered(desk))
    assert [day["candidates"] for day in backfill(desk)["days"]] == [1]
    assert titles(desk, 0) != titles(desk, 2) and len(titles(desk, 2)) == 2


def test_a_model_is_asked_in_the_order_of_days_within_the_budget(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    live(desk)
    with paid_service(desk, monkeypatch, settings=SETTINGS) as service:
        stopped = backfill(desk, "--yes", "--budget", "0.0075", code=3)
        assert (stopped["state"], stopped["next_day"]) == ("partial", stopped["days"][-1]["day"])
        assert "the budget is used up" in stopped["message"]
        assert 0 < stopped["usage"]["cost"] <= 0.0075 and len(stopped["days"]) < len(WORKED)
        rest = backfill(desk, "--budget", "1")
        assert (rest["state"], rest["days"][0]["day"]) == ("done", stopped["next_day"])
        asked = [str(one.body) for one in service.asked]
    assert [rule for text in asked for rule in RULES if rule[:30] in text] == list(RULES)
    assert len(asked) == 5


def test_nobody_works_on_the_project_between_two_days(desk: Desk) -> None:
    live(desk)
    with hold_project_lock(desk.home, desk.place.project.key):
        assert backfill(desk, code=4)["error"]["code"] == "busy"
    assert backfill(desk)["state"] == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_backfill_ends_like_one_that_was_not(desk: Desk) -> None:
    live(desk)
    killer = Killer(7)
    killer.run("backfill", lambda: backfill(desk, "--write"))  # which says how long it takes unharmed
    unbroken = remembered(desk)
    assert len(unbroken) > 2 * len(WORKED) and any(name.startswith("journal/") for name in unbroken)
    rounds = 0
    while rounds < times(1) or not killer.killed:  # an instant may come after the end
        forget(desk)
        killer.run("backfill", lambda: backfill(desk, "--write"))
        assert backfill(desk, "--write")["state"] == "done"
        assert remembered(desk) == unbroken
        rounds += 1
        assert rounds < times(1) + 20, "no instant came before the end"
