"""What was accepted on another branch: the memories of the branch that is open are what counts."""

from pathlib import Path

import pytest

from lerim.extraction.candidate import Candidate
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from reviews import Git, Make, proposed


def accepted(place: ReviewPaths, candidate: Candidate, changed: Path | None = None) -> Path:
    choice = queue.NeighbourChoice("changes", changed.stem) if changed else None
    done = queue.accept_candidate(place, proposed(place, candidate).id, quotes="shared", choice=choice)
    return Path(done.path or "")


def on_another_branch(place: ReviewPaths, git: Git, candidate: Candidate, changed: Path | None = None) -> Path:
    """Accept a candidate on a branch, and go back to where its text is not; `changed` is what it changes."""
    root = place.project.root
    git(root, "checkout", "-q", "-b", "other")
    path = accepted(place, candidate, changed)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "A memory")
    git(root, "checkout", "-q", "-")
    assert path == changed or not path.exists()
    return path


def test_what_was_accepted_on_another_branch_is_proposed_here_when_it_is_said_again(
    place: ReviewPaths, make: Make, git: Git
) -> None:
    there = on_another_branch(place, git, make())
    here = accepted(place, make(turn="111111111111", minutes=5))
    assert here.exists() and here != there
    again = queue.propose_candidate(place, make(turn="222222222222", minutes=9))
    assert isinstance(again, queue.AlreadyKnown) and again.id == here.stem


def test_what_was_rejected_is_so_on_every_branch_and_a_turn_that_was_accepted_brings_back_no_deleted_file(
    place: ReviewPaths, make: Make, git: Git
) -> None:
    queue.reject_candidate(place, proposed(place, make()).id)
    log = make("Log to stderr", "It is quieter.", "222222222222")
    accepted(place, log).unlink()
    git(place.project.root, "checkout", "-q", "-b", "other")
    assert isinstance(queue.propose_candidate(place, make(turn="111111111111", minutes=5)), queue.ClaimBlocked)
    assert isinstance(queue.propose_candidate(place, log), queue.AlreadyKnown)


LONGER = "Installs go through `uv pip sync requirements.lock`. CI runs `uv pip check` after each of them."


@pytest.fixture
def updated_elsewhere(place: ReviewPaths, make: Make, git: Git) -> Path:
    """A memory of this branch, which a later turn changed on another one."""
    root = place.project.root
    path = accepted(place, make())
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "A memory")
    before = path.read_bytes()
    assert on_another_branch(place, git, make(body=LONGER, turn="444444444444", minutes=60), changed=path) == path
    assert path.read_bytes() == before
    return path


def test_a_claim_older_than_an_update_of_another_branch_is_judged_by_the_text_that_is_here(
    place: ReviewPaths, make: Make, updated_elsewhere: Path
) -> None:
    contrary = make("Use pip, not uv", "Installs go through `pip`.", turn="555555555555", minutes=30, replaces=("uv",))
    assert [one.id for one in proposed(place, contrary).targets] == [updated_elsewhere.stem]
