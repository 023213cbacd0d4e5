"""What a memory refers to was verified once: no merge, no new place and no joining of memories says so again."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lerim.extraction.candidate import Candidate
from lerim.memory.freshness.drift import DriftChecker
from lerim.memory.record import MemoryRecord
from lerim.memory.store import StoredMemory
from lerim.paths import Home
from lerim.project.git import open_git
from lerim.project.project import locate_project
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths

Make = Callable[..., Candidate]
Git = Callable[..., str]
LOAD, SAVE = "src/app.py#load", "src/app.py#Store"
CHANGED = ("return open(path).read()", "yield from open(path)")


def standing(place: ReviewPaths) -> dict[str, tuple[str, str, str]]:
    """How each memory stands after a look with git, and once more after a second one: that changes nothing."""
    fresh = DriftChecker(place.project, place.home, open_git(place.project.root, os.environ))
    seen: list[dict[str, tuple[str, str, str]]] = []
    for _ in range(2):
        fresh.check()
        seen.append({name: (one.state, one.reference, one.moved_to) for name, one in fresh.drift_by_memory().items()})
    assert seen[0] == seen[1]
    return seen[0]


def edit(place: ReviewPaths, old: str, new: str, path: str = "src/app.py") -> None:
    file = place.project.root / path
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def memory(place: ReviewPaths, candidate: Candidate) -> StoredMemory:
    outcome = queue.propose_candidate(place, candidate)
    assert isinstance(outcome, queue.CandidateProposed), outcome
    done = queue.accept_candidate(place, outcome.proposal.id, quotes="shared")
    assert done.ok and done.path
    return place.store().load(Path(done.path))[0]


def accepted(
    place: ReviewPaths, action: str, targets: tuple[StoredMemory, ...], record: MemoryRecord
) -> tuple[str, str]:
    """The memory that came of a suggestion, and the action that made it."""
    outcome = queue.propose_suggestion(place, queue.Suggestion(action, record, targets, "Because."))  # type: ignore[arg-type]
    assert isinstance(outcome, queue.CandidateProposed), outcome
    done = queue.accept_candidate(place, outcome.proposal.id)
    assert done.ok and done.path and done.action
    return Path(done.path).stem, done.action


def learnings(place: ReviewPaths, make: Make) -> tuple[StoredMemory, ...]:
    titles = ("Ports clash on CI", "Windows paths break globs", "Locks outlive their process")
    kinds = {"primitive": "learning", "kind": "insight", "references": (LOAD,)}
    return tuple(memory(place, make(title=one, body="Seen.", turn=one[:4], **kinds)) for one in titles)


def insight(sources: tuple[StoredMemory, ...], *references: str) -> MemoryRecord:
    made = replace(sources[0].record, id="", title="Tests meet the machine", body="Three ways.", verified="")
    return replace(made, references=references)


def test_learnings_put_together_stand_as_the_worst_of_them(place: ReviewPaths, make: Make) -> None:
    sources = learnings(place, make)
    edit(place, *CHANGED)
    assert set(standing(place)) == {one.record.id for one in sources}
    together, action = accepted(place, "consolidate", sources, insight(sources, LOAD))
    assert place.store().load_by_id(together).record.verified == sources[0].record.verified
    assert standing(place) == {together: ("drifted", LOAD, "")}
    assert queue.undo_last(place, action).ok
    assert standing(place) == {one.record.id: ("drifted", LOAD, "") for one in sources}


def test_what_stands_of_learnings_put_together_is_served_before_any_look(place: ReviewPaths, make: Make) -> None:
    sources = learnings(place, make)
    edit(place, *CHANGED)
    standing(place)
    together, _ = accepted(place, "consolidate", sources, insight(sources, LOAD))
    assert DriftChecker(place.project, place.home).worst_drift(together).state == "drifted"


def test_learnings_put_together_that_were_fresh_are_fresh_until_the_code_changes(
    place: ReviewPaths, make: Make
) -> None:
    sources = learnings(place, make)
    together, _ = accepted(place, "consolidate", sources, insight(sources, LOAD))
    assert standing(place) == {}
    edit(place, *CHANGED)
    assert standing(place) == {together: ("drifted", LOAD, "")}


def test_learnings_nobody_looked_at_since_the_change_are_found_drifted_put_together(
    place: ReviewPaths, make: Make
) -> None:
    sources = learnings(place, make)
    edit(place, *CHANGED)
    together, _ = accepted(place, "consolidate", sources, insight(sources, LOAD))
    assert standing(place) == {together: ("drifted", LOAD, "")}


@pytest.mark.parametrize("verified_again", [False, True])
def test_a_merged_memory_stands_where_the_other_had_drifted(
    place: ReviewPaths, make: Make, git: Git, verified_again: bool
) -> None:
    kept = memory(place, make(title="Cache keys hold the tenant", body="See there.", references=(SAVE,)))
    other = memory(place, make(title="Pin the port to 5433", body="In `compose.yml`.", turn="t2", references=(LOAD,)))
    edit(place, *CHANGED)
    git(place.project.root, "commit", "-q", "-a", "-m", "Lines")
    if verified_again:
        acts.verify_memory(place, kept.record.id)
        kept = place.store().load_by_id(kept.record.id)
    assert standing(place) == {other.record.id: ("drifted", LOAD, "")}
    words = replace(kept.record, references=(SAVE, LOAD))
    _, action = accepted(place, "merge", (kept, other), words)
    assert standing(place) == {kept.record.id: ("drifted", LOAD, "")}
    assert queue.undo_last(place, action).ok
    assert standing(place) == {other.record.id: ("drifted", LOAD, "")}


def test_of_a_place_both_refer_to_the_worse_is_kept_and_still_true_ends_it(
    place: ReviewPaths, make: Make, git: Git
) -> None:
    other = memory(place, make(title="Pin the port to 5433", body="In `compose.yml`.", references=(LOAD,)))
    edit(place, *CHANGED)
    git(place.project.root, "commit", "-q", "-a", "-m", "Lines")
    kept = memory(place, make(title="Cache keys hold the tenant", body="See there.", turn="t2", references=(LOAD,)))
    assert standing(place) == {other.record.id: ("drifted", LOAD, "")}
    _, action = accepted(place, "merge", (kept, other), kept.record)
    assert standing(place) == {kept.record.id: ("drifted", LOAD, "")}
    assert place.store().load_by_id(kept.record.id).record.verified == other.record.verified
    assert queue.undo_last(place, action).ok
    assert standing(place) == {other.record.id: ("drifted", LOAD, "")}
    assert queue.accept_candidate(place, queue.list_pending(place)[0][0].id).ok
    acts.verify_memory(place, kept.record.id)
    assert standing(place) == {}


def moved(place: ReviewPaths, git: Git, *changes: tuple[str, str]) -> None:
    """`src/app.py`, by now a file of many functions, is `src/other.py`, with these changes."""
    root = place.project.root
    git(root, "mv", "src/app.py", "src/other.py")
    for old, new in changes:
        edit(place, old, new, "src/other.py")
    git(root, "commit", "-q", "-a", "-m", "Moved")


def filled(place: ReviewPaths, git: Git) -> None:
    more = "".join(f"\n\ndef one{at}(a):\n    return a + {at} * {at * 7}\n" for at in range(30))
    edit(place, "pass\n", f"pass\n{more}")
    git(place.project.root, "commit", "-q", "-a", "-m", "More")


OTHER = "src/other.py#load"


def test_a_memory_referred_to_where_its_changed_place_is_stays_drifted(
    place: ReviewPaths, make: Make, git: Git
) -> None:
    filled(place, git)
    one = memory(place, make(references=(LOAD,)))
    moved(place, git, CHANGED)
    assert standing(place) == {one.record.id: ("drifted", LOAD, OTHER)}
    _, action = accepted(place, "refer", (one,), replace(one.record, references=(OTHER,)))
    assert standing(place) == {one.record.id: ("drifted", OTHER, "")}
    assert queue.undo_last(place, action).ok
    assert standing(place) == {one.record.id: ("drifted", LOAD, OTHER)}


def test_a_memory_referred_to_where_its_place_is_is_fresh_until_that_changes(
    place: ReviewPaths, make: Make, git: Git
) -> None:
    filled(place, git)
    one = memory(place, make(references=(LOAD, "README.md")))
    moved(place, git)
    assert standing(place) == {one.record.id: ("fresh", LOAD, OTHER)}
    accepted(place, "refer", (one,), replace(one.record, references=(OTHER, "README.md")))
    assert standing(place) == {}
    edit(place, *CHANGED, "src/other.py")
    assert standing(place) == {one.record.id: ("drifted", OTHER, "")}


@pytest.mark.parametrize("call", ["load(path)", "json.load(path)"])
def test_a_renamed_function_is_fresh_under_its_new_name_and_drifts_there(
    place: ReviewPaths, make: Make, call: str
) -> None:
    edit(place, "open(path).read()", f"open(path).read() or {call}")
    one = memory(place, make(references=(LOAD,)))
    edit(place, "def load", "def fetch")
    fetch = "src/app.py#fetch"
    assert standing(place) == {one.record.id: ("fresh", LOAD, fetch)}
    accepted(place, "refer", (one,), replace(one.record, references=(fetch,)))
    assert standing(place) == {}
    edit(place, "open(path).read()", "open(path, 'rb').read()")
    assert standing(place) == {one.record.id: ("drifted", fetch, "")}


def test_a_clone_finds_drifted_what_was_referred_to_its_new_place_elsewhere(
    place: ReviewPaths, make: Make, git: Git, tmp_path: Path
) -> None:
    filled(place, git)
    one = memory(place, make(references=(LOAD,)))
    moved(place, git, CHANGED)
    standing(place)
    accepted(place, "refer", (one,), replace(one.record, references=(OTHER,)))
    git(place.project.root, "add", ".")
    git(place.project.root, "commit", "-q", "-m", "A memory")
    git(tmp_path, "clone", "-q", str(place.project.root), "clone")
    home = Home(tmp_path / "another")
    clone = locate_project((tmp_path / "clone").resolve(), home)
    assert clone is not None
    assert standing(ReviewPaths(clone, home)) == {one.record.id: ("drifted", OTHER, "")}


def test_a_memory_written_by_hand_is_compared_with_what_it_was_written_about(place: ReviewPaths) -> None:
    made = queue.add_memory(place, "decision", "Load reads all", "At once.", references=(LOAD,))
    question = queue.add_memory(place, "question", "Should load read all?", "Or lines?", references=(LOAD,))
    assert made.path and question.path
    decided = acts.promote_question(place, Path(question.path).stem, "Load reads lines")
    assert decided.path
    today = f"{datetime.now(UTC):%Y-%m-%d}@"
    for path in (made.path, decided.path):
        assert place.store().load(Path(path))[0].record.verified.startswith(today)
    edit(place, *CHANGED)
    assert standing(place) == {Path(path).stem: ("drifted", LOAD, "") for path in (made.path, decided.path)}


def test_still_true_is_a_step_of_its_own_that_can_be_taken_back(place: ReviewPaths, make: Make) -> None:
    one = memory(place, make(references=(LOAD,)))
    edit(place, *CHANGED)
    assert standing(place) == {one.record.id: ("drifted", LOAD, "")}
    done = acts.verify_memory(place, one.record.id)
    assert done.action and standing(place) == {}
    assert queue.undo_last(place).action == done.action
    assert standing(place) == {one.record.id: ("drifted", LOAD, "")}


def test_an_update_that_is_taken_back_leaves_the_memory_drifted(place: ReviewPaths, make: Make) -> None:
    one = memory(place, make(references=(LOAD,)))
    edit(place, *CHANGED)
    newer = "Installs go through `uv pip sync --frozen requirements.lock`."
    outcome = queue.propose_candidate(place, make(body=newer, turn="t2", minutes=9, references=(LOAD,)))
    assert isinstance(outcome, queue.CandidateProposed)
    assert queue.accept_candidate(place, outcome.proposal.id, choice=queue.NeighbourChoice("changes", one.record.id)).ok
    assert standing(place) == {}
    assert queue.undo_last(place).ok
    assert standing(place) == {one.record.id: ("drifted", LOAD, "")}


def test_a_merge_that_is_taken_back_the_same_day_leaves_the_kept_one_fresh(place: ReviewPaths, make: Make) -> None:
    other = memory(place, make(title="Pin the port to 5433", body="In `compose.yml`.", references=(LOAD,)))
    edit(place, *CHANGED)
    kept = memory(place, make(title="Cache keys hold the tenant", body="See there.", turn="t2", references=(LOAD,)))
    assert standing(place) == {other.record.id: ("drifted", LOAD, "")}
    _, action = accepted(place, "merge", (kept, other), kept.record)
    assert standing(place) == {kept.record.id: ("drifted", LOAD, "")}
    assert queue.undo_last(place, action).ok
    assert standing(place) == {other.record.id: ("drifted", LOAD, "")}


@pytest.mark.parametrize("change", [(), (CHANGED,)])
def test_still_true_of_a_place_that_moved_is_said_of_where_it_is(
    place: ReviewPaths, make: Make, git: Git, change: tuple[tuple[str, str], ...]
) -> None:
    filled(place, git)
    one = memory(place, make(references=(LOAD,)))
    moved(place, git, *change)
    assert standing(place) == {one.record.id: ("drifted" if change else "fresh", LOAD, OTHER)}
    assert acts.verify_memory(place, one.record.id).ok
    assert standing(place) == {one.record.id: ("fresh", LOAD, OTHER)}
    edit(place, "open(path)", "open(path, 'rb')", "src/other.py")
    assert standing(place) == {one.record.id: ("drifted", LOAD, OTHER)}


def test_still_true_of_a_renamed_function_is_said_of_its_new_name(place: ReviewPaths, make: Make) -> None:
    one = memory(place, make(references=(LOAD,)))
    edit(place, "def load", "def fetch")
    assert standing(place) == {one.record.id: ("fresh", LOAD, "src/app.py#fetch")}
    assert acts.verify_memory(place, one.record.id).ok
    assert standing(place) == {one.record.id: ("fresh", LOAD, "src/app.py#fetch")}
    edit(place, "open(path)", "open(path, 'rb')")
    assert standing(place) == {one.record.id: ("gone", LOAD, "")}
