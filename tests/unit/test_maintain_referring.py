"""Places that moved: what is proposed follows them, however often they move and whatever was said of the last one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desk import Desk
from lerim.jobs.maintain import MaintainReport
from lerim.review import queue
from reviews import maintained

Git = Callable[..., str]


@pytest.fixture
def name(desk: Desk) -> str:
    done = queue.add_memory(desk.place, "decision", "The config is read once", "At start.", references=("src/app.py",))
    return Path(done.path or "").stem


def moved(desk: Desk, git: Git, before: str, now: str) -> None:
    (desk.repo / now).parent.mkdir(exist_ok=True)
    git(desk.repo, "mv", before, now)
    git(desk.repo, "commit", "-q", "-m", f"To {now}")


def run(desk: Desk, **options: Any) -> MaintainReport:
    return maintained(desk.place, **options)


def waiting(desk: Desk) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.action, one.record.references) for one in queue.list_pending(desk.place)[0]]


def test_a_new_place_is_proposed_though_the_one_before_was_rejected(desk: Desk, name: str, git: Git) -> None:
    moved(desk, git, "src/app.py", "lib/app.py")
    [proposal] = run(desk).proposals
    assert (proposal.action, proposal.references) == ("refer", ["lib/app.py"])
    queue.reject_candidate(desk.place, proposal.id)
    assert run(desk).counts.get("rejected") == 1 and waiting(desk) == []
    moved(desk, git, "lib/app.py", "core/app.py")
    assert [one.references for one in run(desk, dry_run=True).proposals] == [["core/app.py"]]
    [proposal] = run(desk).proposals
    assert proposal.references == ["core/app.py"]
    assert queue.accept_candidate(desk.place, proposal.id, quotes="shared").ok
    assert desk.place.store().load_by_id(name).record.references == ("core/app.py",)
    assert run(desk).proposals == []
