"""The memories as they were: `lerim memory list --as-of` against the list that was printed on that day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from desk import Desk
from lerim.review import CandidateEdit, acts, load_memories_as_of, queue
from reviews import added, made_candidate, proposed
from sixty_days import RULES, Life
from terminal import answer, run

DAYS = 12
CHOICES = [("structlog", "print"), ("loguru", "structlog"), ("pathlib", "os.path")]


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local day is a day in UTC here."""
    monkeypatch.setenv("TZ", "UTC")


def listed(desk: Desk, *more: str) -> list[dict[str, Any]]:
    """All memories as a command prints them, without where their files are now and how the code has changed."""
    found = answer("memory", "list", "--archived", *more, "--repo", str(desk.repo))
    assert found["problems"] == []
    ours = [
        {key: value for key, value in one.items() if key not in ("path", "drift", "handle")}
        for one in found["memories"]
    ]
    return sorted(ours, key=lambda one: one["id"])


def test_the_memories_as_of_a_day_are_those_that_syncing_up_to_that_day_made(desk: Desk) -> None:
    desk.home.root.mkdir(mode=0o700)
    desk.home.config.write_text(
        '[review]\nmode = "auto"\n[maintain]\ngrace_days = 2\ndecay_days = 6\narchive_below = 0.5\n', encoding="utf-8"
    )
    life, lists = Life(desk), {}
    for life.day in range(DAYS):
        if life.day % 3 == 0:
            life.choose("src/app.py", *CHOICES[life.day // 3 % 3])
        if life.day % 4 == 1:
            life.learn(RULES[life.day // 4])
        life.evening()
        for waiting in queue.list_pending(desk.place)[0]:
            queue.accept_candidate(desk.place, waiting.id, quotes="shared", now=life.now)
        lists[life.day] = listed(desk)
    assert {one["status"] for one in lists[DAYS - 1]} >= {"active", "superseded", "archived"}
    assert len({str(one) for one in lists.values()}) > 5
    for day, then in lists.items():
        date = (life.now - timedelta(days=DAYS - 1 - day)).date()
        assert listed(desk, "--as-of", str(date)) == then, date
    assert listed(desk, "--as-of", str((life.now - timedelta(days=DAYS)).date())) == []


def test_as_of_now_is_the_present_list_whatever_was_done_to_the_memories(desk: Desk) -> None:
    first, second = added(desk.place, "Use uv").stem, added(desk.place, "Keep load small").stem
    acts.edit_memory(desk.place, first, CandidateEdit(body="It is fast, and it locks."))
    acts.archive_memory(desk.place, second, "It no longer holds.")
    question = added(desk.place, "Which port?", primitive="question").stem
    acts.promote_question(desk.place, question, title="Port 8443")
    assert listed(desk, "--as-of", str(datetime.now(UTC).date())) == listed(desk)
    assert listed(desk, "--as-of", "2020-01-01") == []
    before = load_memories_as_of(desk.place.project, desk.home, datetime(2020, 1, 1, tzinfo=UTC))
    assert before == ([], [])
    path = desk.place.store().load_by_id(first).path
    path.write_bytes(b"\xff mine")
    found, problems = load_memories_as_of(desk.place.project, desk.home, datetime(2020, 1, 1, tzinfo=UTC))
    assert (found, [one.path for one in problems]) == ([], [str(path)])


def test_a_memory_that_a_later_session_superseded_is_active_on_the_days_before_it(desk: Desk) -> None:
    old = made_candidate("Use pip for installs", "Installs go through `pip install`.", references=())
    kept = queue.accept_candidate(desk.place, proposed(desk.place, old).id, quotes="shared")
    new = made_candidate("Use uv", "Installs go through `uv`.", turn="0a1b2c3d4e60", minutes=2880, references=())
    memory = queue.NeighbourChoice("replaces", Path(kept.path or "").stem, "")
    queue.accept_candidate(desk.place, proposed(desk.place, new).id, quotes="shared", choice=memory)
    said = [(one["title"], one["status"]) for one in listed(desk, "--as-of", str(old.time.date()))]
    assert said == [("Use pip for installs", "active")]
    for path in (desk.home.root / "projects").glob("*/review.sqlite3*"):
        path.unlink()  # as on a teammate's machine
    assert [(one["title"], one["status"]) for one in listed(desk, "--as-of", str(old.time.date()))] == said
    assert {one["status"] for one in listed(desk)} == {"active", "superseded"}


def test_a_day_that_cannot_be_read_is_refused(desk: Desk) -> None:
    refused = run("memory", "list", "--as-of", "last week", "--repo", str(desk.repo))
    assert refused.exit_code == 2 and "2026-07-01" in refused.output
