"""What waits is accepted by what is printed of it, or all of it at once."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from desk import Desk, correction
from lerim.memory.record import Evidence, MemoryRecord, render_record
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from proposals import propose
from terminal import answer, run


def test_all_that_waits_is_accepted_but_what_a_person_should_look_at_and_undone_at_once(
    place: ReviewPaths, repo: Path
) -> None:
    assert "No waiting candidate can be accepted" in run("review", "accept", "--all", "--repo", str(repo)).stdout
    assert answer("review", "accept", "--all", "--repo", str(repo))["results"] == []
    first = propose(place, "Use uv, not pip", turn="aaaaaaaaaaaa")
    second = propose(place, "Use ruff for linting", turn="bbbbbbbbbbbb")
    page = propose(
        place, "Pin the port to 5433", turn="cccccccccccc", evidence=(Evidence("5433", "cccccccccccc", "web"),)
    )
    odd = propose(place, "Sort imports with isort", turn="dddddddddddd", flags=("imperative",))
    said = run("review", "accept", "--all", "--quotes", "shared", "--repo", str(repo))
    assert said.exit_code == 0, said.output
    assert said.stdout.count("Accepted: ") == 2
    assert page in said.stderr and odd in said.stderr and "imperative" in said.stderr
    assert {one.stem for one in (repo / ".lerim" / "memory").glob("*/*.md")} == {first, second}
    assert [one.id for one in queue.list_pending(place)[0]] == [page, odd]
    [undo] = re.findall(r"lerim review undo (\w+)", said.stdout)
    assert run("review", "undo", undo[:6], "--repo", str(repo)).stdout == "Undone. 2 candidates wait for review again\n"
    assert len(queue.list_pending(place)[0]) == 4


def test_each_reference_that_was_not_found_is_named_with_the_place_where_it_may_be(
    place: ReviewPaths, repo: Path
) -> None:
    (repo / "src").mkdir(exist_ok=True)
    (repo / "src" / "moved.py").write_text("def load(): ...\n")
    subprocess.run(["git", "add", "src/moved.py"], cwd=repo, check=True)
    name = propose(place, "Use uv, not pip", references=("old/moved.py", "src/nope.py"))
    said = run("review", "accept", name, "--quotes", "shared", "--repo", str(repo))
    assert "note: old/moved.py was not found; it may be src/moved.py. src/nope.py was not found." in said.stderr
    again = propose(place, "Never run pip", turn="bbbbbbbbbbbb", references=("src/nope.py",))
    same = run("review", "accept", again, "--same", name, "--repo", str(repo))
    assert same.exit_code == 0 and "not found" not in same.stderr, "the memory refers to what it referred to"


def test_all_that_waits_is_rejected_and_undone_at_once(place: ReviewPaths, repo: Path) -> None:
    assert "No candidates wait" in run("review", "reject", "--all", "--repo", str(repo)).stdout
    names = [propose(place, title, turn=turn * 12) for title, turn in (("Use uv, not pip", "a"), ("Use ruff", "b"))]
    done = answer("review", "reject", "--all", "--repo", str(repo))
    assert {(one["id"], one["code"]) for one in done["results"]} == {(name, "rejected") for name in names}
    assert queue.list_pending(place)[0] == []
    answer("review", "undo", done["undo"], "--repo", str(repo))
    assert {one.id for one in queue.list_pending(place)[0]} == set(names)


def test_either_candidates_are_named_or_all_are_meant(place: ReviewPaths, repo: Path) -> None:
    name = propose(place, "Use uv, not pip", turn="aaaaaaaaaaaa")
    for wrong in ((name, "--all"), ()):
        for decide in ("accept", "reject"):
            assert "--all" in answer("review", decide, *wrong, "--repo", str(repo), code=2)["error"]["message"]
    assert len(queue.list_pending(place)[0]) == 1


def test_a_sync_prints_a_beginning_of_each_id_that_names_no_other(desk: Desk, repo: Path) -> None:
    desk.session("s1", *correction(desk))
    first = run("sync", "--repo", str(repo))
    assert "`lerim review accept ID`" in first.stdout
    desk.session("s2", *correction(desk, "pathlib.Path", "src/other.py", "open"))
    again = run("sync", "--repo", str(repo))
    printed = [re.search(r"\b\d{8}-[\w-]+", said.stdout) for said in (first, again)]
    waiting = [one.id for one in queue.list_pending(desk.place)[0]]
    assert len(waiting) == 2 and printed[1]
    [named] = [one for one in waiting if one.startswith(printed[1][0])]
    assert answer("review", "reject", printed[1][0], "--repo", str(repo))["results"][0]["id"] == named


def test_the_id_of_a_memory_names_no_candidate_that_is_called_like_it(place: ReviewPaths, repo: Path) -> None:
    memory, day = "20260703-pytest", datetime(2026, 7, 3, tzinfo=UTC)
    record = MemoryRecord(memory, "decision", "Pytest", day, day, "manual", 0.9, (), "It runs.")
    path = place.store().path_for(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_record(record), encoding="utf-8")
    waits = propose(place, "Pytest", turn="bbbbbbbbbbbb")
    assert waits == f"{memory}-2"
    before = path.read_bytes()
    for command in (("accept", "--quotes", "shared"), ("edit", "--title", "Tests"), ("reject",)):
        error = answer("review", command[0], memory, *command[1:], "--repo", str(repo), code=1)
        told = json.dumps(error)
        assert "is a memory" in told and waits in told
    assert path.read_bytes() == before and [one.id for one in queue.list_pending(place)[0]] == [waits]
    printed = run("review", "list", "--repo", str(repo)).stdout
    assert waits in printed, "what is printed can be typed"
    assert answer("review", "accept", waits, "--repo", str(repo))["results"][0]["ok"]
