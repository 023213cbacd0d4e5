"""Maintaining a project's memories: what is proposed, what is done, and what is left alone."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from desk import Desk
from killer import every_kill
from lerim.errors import BusyError
from lerim.jobs.maintain import MAX_WAITING_PROPOSALS, MaintainReport
from lerim.memory.record import LearningKind, MemoryRecord, Primitive, render_record
from lerim.memory.uses import Uses
from lerim.project.lock import hold_project_lock
from lerim.review import acts, queue
from lerim.sessions.catalog.catalog import Catalog
from reviews import accepted, made_candidate, maintained

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)
UPLOADS = "Uploads to the archive bucket are retried by `upload.py` with a pause between them."


def settings(desk: Desk, text: str) -> None:
    desk.home.root.mkdir(mode=0o700, exist_ok=True)
    desk.home.config.write_text(text, encoding="utf-8")


AUTO = '[review]\nmode = "auto"\n'


def said(
    desk: Desk,
    title: str,
    body: str = "",
    *,
    days: int = 1,
    primitive: Primitive = "decision",
    kind: LearningKind | None = None,
    references: tuple[str, ...] = (),
    accepted_on: datetime | None = None,
) -> str:
    """A memory a session of so many days before NOW gave, accepted then or later; its id."""
    turn = f"{abs(hash((title, body, days))):012x}"[:12]
    time = NOW - timedelta(days=days)
    kind = kind or ("pitfall" if primitive == "learning" else None)
    candidate = made_candidate(
        title, body, turn, primitive=primitive, kind=kind, references=references, tags=(), time=time
    )
    return accepted(desk.place, candidate, now=accepted_on or time).stem


def written(desk: Desk, title: str, body: str = "", *, days: int = 1, primitive: Primitive = "decision") -> Path:
    """A memory file a person wrote so many days before NOW."""
    time = NOW - timedelta(days=days)
    name = f"{time:%Y%m%d}-{'-'.join(title.lower().split())}"
    record = MemoryRecord(name, primitive, title, time, time, "manual", 0.9, (), body)
    path = desk.place.store().path_for(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_record(record), encoding="utf-8")
    os.utime(path, (time.timestamp(), time.timestamp()))
    return path


def run(desk: Desk, *, now: datetime = NOW, **more: Any) -> MaintainReport:
    return maintained(desk.place, now, **more)


def twice(desk: Desk) -> tuple[str, str]:
    """Two decisions that say the same; the second came by another way than a sync, which would have seen that."""
    words = ("Retry uploads 3 times", UPLOADS)
    return said(desk, *words, days=40), written(desk, *words, days=3).stem


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_says_the_same_is_proposed_as_one_with_the_reason_and_accepting_it_can_be_undone(desk: Desk) -> None:
    old, late = twice(desk)
    before = contents(desk.repo / ".lerim" / "memory")
    report = run(desk)
    [proposal] = report.proposals
    assert (proposal.action, proposal.maker, proposal.ends) == ("merge", "maintain", [late])
    assert "2 memories say the same" in proposal.reason
    assert report.counts == {"merged": 1}
    assert contents(desk.repo / ".lerim" / "memory") == before
    folder = Path(report.run)
    assert folder.name.startswith("maintain-20260801-120000-")
    told = json.loads((folder / "maintain_actions.json").read_text("utf-8"))
    assert [(one["action"], one["id"]) for one in told["actions"]] == [("proposed-merge", proposal.id)]
    assert told["counts"] == {"merged": 1, "proposed": 1}
    assert not (folder / "extract.json").exists()
    assert "| maintain | repo | done: 1 merged |" in desk.home.activity_log.read_text("utf-8")
    done = queue.accept_candidate(desk.place, proposal.id)
    assert done.ok
    [left] = [one for one in desk.place.store().load_all()[0] if one.status == "active"]
    assert left.record.id == old
    assert queue.undo_last(desk.place).ok
    assert contents(desk.repo / ".lerim" / "memory") == before


def test_what_waits_is_not_proposed_again_and_what_was_rejected_neither(desk: Desk) -> None:
    _, late = twice(desk)
    [first] = run(desk).proposals
    again = run(desk)
    assert (again.proposals, again.counts["waiting"]) == ([], 1)
    assert again.counts == {"waiting": 1}
    queue.reject_candidate(desk.place, first.id)
    later = run(desk)
    assert (later.proposals, later.counts) == ([], {"rejected": 1})
    assert queue.list_pending(desk.place)[0] == []
    path = desk.place.store().path_of(late)
    assert path
    path.write_text(path.read_text("utf-8") + "\nMind the quota.\n", encoding="utf-8")
    assert [one.action for one in run(desk).proposals] == ["merge"], "one of its memories changed"


def test_a_proposal_that_holds_no_more_is_taken_back(desk: Desk) -> None:
    name = said(desk, "The pool hangs without a timeout", primitive="learning", days=214)
    [one] = run(desk).proposals
    assert one.reason.startswith("It has not been used for 214 days")
    Uses(desk.place.private).record_use([name], "opened", NOW)
    report = run(desk)
    assert report.counts == {"unchanged": 1, "withdrawn": 1}
    assert [action.action for action in report.done] == ["withdrawn-archive"]
    assert queue.list_pending(desk.place)[0] == []
    later = run(desk, now=NOW + timedelta(days=200))
    assert [one.action for one in later.proposals] == ["archive"]


def test_more_proposals_than_anybody_reads_are_left_for_later(desk: Desk) -> None:
    words = ("alarm", "bridge", "cellar", "dome", "elevator", "fence", "garage", "hall", "island", "jetty", "kiosk")
    for first, second in combinations(words, 2):
        written(desk, f"The {first} hangs before the {second}", primitive="learning", days=300)
    report = run(desk)
    assert len(report.proposals) == MAX_WAITING_PROPOSALS
    assert report.counts == {"decayed": MAX_WAITING_PROPOSALS, "left": 55 - MAX_WAITING_PROPOSALS}


def test_where_the_review_is_automatic_it_is_done_at_once_and_can_be_undone(desk: Desk) -> None:
    settings(desk, AUTO)
    name = said(desk, "The pool hangs without a timeout", primitive="learning", days=214)
    before = contents(desk.repo / ".lerim" / "memory")
    report = run(desk)
    assert report.proposals == []
    [done] = report.done
    assert (done.action, done.memories) == ("accepted-archive", [name])
    told = json.loads((Path(report.run) / "maintain_actions.json").read_text("utf-8"))
    assert told["counts"] == {"accepted": 1, "decayed": 1}
    assert [one["undo"] for one in told["actions"]] == [done.undo]
    assert desk.memories() == []
    assert queue.undo_last(desk.place, done.undo).ok
    assert contents(desk.repo / ".lerim" / "memory") == before


def test_what_a_person_restored_or_took_back_is_ended_again_by_nobody_else(desk: Desk) -> None:
    settings(desk, AUTO)
    name = said(desk, "The pool hangs without a timeout", primitive="learning", days=214)
    late = datetime.now(UTC) + timedelta(days=400)
    [done] = run(desk, now=late).done
    assert queue.undo_last(desk.place, done.undo).ok
    assert run(desk, now=late).done == []
    assert desk.memories() == ["The pool hangs without a timeout"]
    [waits] = queue.list_pending(desk.place)[0]
    queue.accept_candidate(desk.place, waits.id)
    assert acts.restore_memory(desk.place, name).ok
    later = run(desk, now=late + timedelta(days=400))
    assert [one.action for one in later.done] == ["proposed-archive"]
    assert desk.memories() == ["The pool hangs without a timeout"]


def test_a_theme_ends_once_no_session_works_on_its_ground(desk: Desk) -> None:
    said(desk, "Work on the app in `src`", primitive="theme", days=50, references=("src/app.py",))
    Catalog.open(desk.home).close()
    [one] = run(desk).proposals
    assert (one.action, one.reason) == ("archive", "No session worked on its files for 50 days.")


@pytest.mark.parametrize("primitive", ["learning", "theme"])
def test_what_was_accepted_today_lives_however_old_its_session_is(desk: Desk, primitive: Primitive) -> None:
    title = "Work on the app in `src`"
    said(desk, title, primitive=primitive, days=400, references=("src/app.py",), accepted_on=NOW)
    Catalog.open(desk.home).close()
    assert run(desk).proposals == []
    assert run(desk, now=NOW + timedelta(days=30)).proposals == []
    assert len(run(desk, now=NOW + timedelta(days=300)).proposals) == 1


def test_what_cannot_be_known_of_freshness_or_be_proposed_is_told_and_keeps_nothing_else_from_being_done(
    desk: Desk,
) -> None:
    twice(desk)
    (desk.place.private / "freshness.sqlite3").write_bytes(b"no database at all" * 100)
    report = run(desk)
    assert (report.state, [one.action for one in report.proposals]) == ("partial", ["merge"])
    shutil.rmtree(desk.place.review)
    desk.place.review.write_text("no folder", encoding="utf-8")
    report = run(desk)
    assert (report.state, report.proposals) == ("partial", [])
    assert any(str(desk.place.review) in problem.path for problem in report.problems)


def test_cancelled_or_kept_from_it_by_another_process_it_takes_nothing_back_and_says_so(desk: Desk) -> None:
    twice(desk)
    run(desk)
    waits = desk.waiting()
    assert run(desk, cancelled=lambda: True).state == "cancelled"
    with hold_project_lock(desk.home, desk.place.project.key), pytest.raises(BusyError):
        run(desk)
    assert "| maintain | repo | busy:" in desk.home.activity_log.read_text("utf-8")
    assert desk.waiting() == waits != []


def test_killed_at_any_touch_of_the_disk_it_loses_nothing_and_the_next_run_ends_it(desk: Desk) -> None:
    settings(desk, AUTO)
    names = {"The pool hangs without a timeout", "Imports of `shop` make a circle"}
    for title in names:
        said(desk, title, primitive="learning", days=214)
    for kill in every_kill(every=11):
        kill(run, desk)
        assert {one.record.title for one in desk.place.store().load_all(archived=True)[0]} == names
    assert run(desk).state == "done"
    assert desk.memories() == []
    assert queue.list_pending(desk.place)[0] == []
