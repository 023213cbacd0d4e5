"""Two branches answer one question, each its own way: both answers stand after the merge until the person decides."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lerim.memory.references.reference_map import ReferenceMap
from lerim.review import acts, merge_conflict, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Git, added, maintained
from terminal import answer

QUESTION = "Where do we store the build cache?"
ANSWERS = ("Store the build cache in Redis", "Store the build cache in SQLite")


@pytest.fixture
def two(place: ReviewPaths, git: Git) -> tuple[str, str, str]:
    """A question and what two branches made of it, after the merge; their ids."""
    root = place.project.root
    asked = added(place, QUESTION, "Nobody knows.", "question").stem
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Asked")
    names: list[str] = []
    for branch, title in zip(("one", "two"), ANSWERS, strict=True):
        git(root, "checkout", "-q", "-b", branch, "main")
        names.append(Path(acts.promote_question(place, asked, title, "Decided at last.").path or "").stem)
        git(root, "add", "-A", ".")
        git(root, "commit", "-q", "-m", branch)
    done = subprocess.run(["git", "merge", "-q", "one"], cwd=root, capture_output=True, check=False)
    assert done.returncode == 1, "both wrote who answered the question"
    merge_conflict(place, root / ".lerim" / "memory" / "archived" / "questions" / f"{asked}.md")
    git(root, "add", "-A", ".")
    git(root, "commit", "-q", "-m", "Merged")
    return asked, names[0], names[1]


def status(place: ReviewPaths) -> list[dict[str, str]]:
    problems = answer("status", "--repo", str(place.project.root))["problems"]
    return [one for one in problems if one["code"] == "two-answers"]


def test_both_answers_and_their_links_are_kept_and_the_person_is_told(
    place: ReviewPaths, two: tuple[str, str, str]
) -> None:
    asked, one, other = two
    acts.repair_links(place)
    store = place.store()
    assert store.load_by_id(asked).status == "resolved"
    assert {store.load_by_id(name).status for name in (one, other)} == {"active"}
    assert store.load_by_id(one).record.resolves == store.load_by_id(other).record.resolves == (asked,)
    [problem] = status(place)
    assert all(title in problem["message"] for title in ANSWERS) and asked in problem["message"]
    live = ReferenceMap(place.project.memory_dir)
    live.scan()
    assert [one.code for one in live.problems] == ["two-answers"]
    assert [one.code for one in maintained(place).problems] == ["two-answers"]


def test_maintaining_proposes_that_the_later_answer_stays(place: ReviewPaths, two: tuple[str, str, str]) -> None:
    asked, one, other = two
    [proposal] = maintained(place).proposals
    kept = proposal.target
    [ended] = proposal.ends
    assert (proposal.action, {kept, ended}) == ("merge", {one, other})
    assert proposal.flags == ["two-answers"] and all(title in proposal.reason for title in ANSWERS)
    before = place.store().load_by_id(kept or "").record
    assert queue.accept_candidate(place, proposal.id, quotes="shared").ok
    after = place.store().load_by_id(kept or "").record
    assert (after.title, after.body, after.resolves, after.supersedes) == (
        *(before.title, before.body, (asked,)),
        (ended,),
    )
    assert place.store().load_by_id(ended).status == "superseded"
    assert place.store().load_by_id(ended).record.resolves == (asked,)
    assert status(place) == [] and maintained(place).proposals == []
    assert queue.undo_last(place).ok and len(status(place)) == 1


@pytest.mark.parametrize("how", ["archive", "unlink"])
def test_an_automatic_review_leaves_it_to_the_person_and_one_answer_that_is_put_away_or_answers_no_more_ends_it(
    place: ReviewPaths, two: tuple[str, str, str], how: str
) -> None:
    maintained(place, settings='[review]\nmode = "auto"\n')
    assert [one.action for one in queue.list_pending(place)[0]] == ["merge"]
    assert {place.store().load_by_id(name).status for name in two[1:]} == {"active"}
    if how == "archive":
        acts.archive_memory(place, two[1])
    else:
        path = place.store().load_by_id(two[1]).path
        path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("resolves")))
    assert status(place) == []
    maintained(place)
    assert queue.list_pending(place)[0] == []
