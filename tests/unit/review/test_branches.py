"""What was accepted on another branch: the memories of the branch that is open are what counts."""

from collections.abc import Callable
from pathlib import Path

from lerim.extraction.candidate import Candidate
from lerim.review import acts, queue
from lerim.review.place import Place

Make = Callable[..., Candidate]
Git = Callable[..., object]


def accepted(place: Place, candidate: Candidate) -> Path:
    found = queue.propose(place, candidate)
    assert isinstance(found, queue.Proposed), found
    result = queue.accept(place, found.proposal.id, quotes="shared")
    assert result.ok and result.path
    return Path(result.path)


def on_another_branch(place: Place, git: Git, candidate: Candidate) -> Path:
    """Accept a candidate on a branch, and go back to where it is not."""
    root = place.project.root
    git(root, "checkout", "-q", "-b", "other")
    path = accepted(place, candidate)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "A memory")
    git(root, "checkout", "-q", "-")
    assert not path.exists()
    return path


def test_what_was_accepted_on_another_branch_is_proposed_here_when_it_is_said_again(
    place: Place, make: Make, git: Git
) -> None:
    there = on_another_branch(place, git, make())
    here = accepted(place, make(turn="111111111111", minutes=5))
    assert here.exists() and here != there
    again = queue.propose(place, make(turn="222222222222", minutes=9))
    assert isinstance(again, queue.AlreadyKnown) and again.id == here.stem


def test_a_contrary_claim_is_judged_by_the_memories_that_are_here(place: Place, make: Make, git: Git) -> None:
    there = on_another_branch(place, git, make(minutes=60, replaces=("pip",)))
    old = make("Use pip, not uv", "Installs go through `pip`.", turn="333333333333", replaces=("uv",))
    assert isinstance(queue.propose(place, old), queue.Proposed)
    git(place.project.root, "checkout", "-q", "-f", "other")
    result = queue.accept(place, queue.pending(place)[0][0].id, quotes="shared")
    assert result.code == "outdated" and there.exists()
    assert isinstance(queue.propose(place, old), queue.AlreadyKnown)
    git(place.project.root, "checkout", "-q", "-")
    assert isinstance(queue.propose(place, old), queue.Proposed), "what it gave way to is not here"


def test_what_was_rejected_is_rejected_on_every_branch(place: Place, make: Make, git: Git) -> None:
    found = queue.propose(place, make())
    assert isinstance(found, queue.Proposed)
    queue.reject(place, found.proposal.id)
    git(place.project.root, "checkout", "-q", "-b", "other")
    assert isinstance(queue.propose(place, make(turn="111111111111", minutes=5)), queue.Blocked)


def test_what_lies_in_the_archive_here_counts(place: Place, make: Make) -> None:
    path = accepted(place, make())
    assert acts.archive(place, path.stem).ok
    assert isinstance(queue.propose(place, make(turn="111111111111", minutes=-5)), queue.AlreadyKnown)


def test_the_turn_a_person_decided_on_does_not_bring_back_a_file_they_deleted(place: Place, make: Make) -> None:
    accepted(place, make()).unlink()
    assert isinstance(queue.propose(place, make()), queue.AlreadyKnown)
