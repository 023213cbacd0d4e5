"""A store that the version before made, which compared claims by itself, opens unchanged (tests/recorded/README.md)."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from lerim.extraction.candidate import Candidate
from lerim.review import queue
from lerim.review.ledger.ledger import ClaimState, open_ledger
from lerim.review.review_paths import ReviewPaths
from lerim.review.views import candidate_view

Make = Callable[..., Candidate]
RECORDED = Path(__file__).resolve().parents[2] / "recorded" / "store_of_november"


@pytest.fixture
def old_store(place: ReviewPaths) -> ReviewPaths:
    """A copy of the recorded store; its steps name the files of the copy."""
    shutil.copytree(RECORDED / "project", place.state, dirs_exist_ok=True)
    shutil.copytree(RECORDED / "private", place.private, dirs_exist_ok=True)
    with sqlite3.connect(place.private / "review.sqlite3") as book:
        for before, now in (
            ("/store/project", place.state),
            ("/store/private", place.private),
            ('"/store"', f'"{place.project.root}"'),
        ):
            book.execute("UPDATE actions SET changes=replace(changes, ?, ?)", (before, str(now)))
    return place


def test_what_waits_is_listed_with_the_old_decisions_as_suggestions(old_store: ReviewPaths) -> None:
    found, problems, _ = queue.list_pending(old_store)
    assert problems == []
    views = {one.record.title: candidate_view(one) for one in queue.with_neighbours(old_store, found)}
    answers = {title: view.suggested.answer if view.suggested else None for title, view in views.items()}
    assert answers == {
        "Use spaces in the Makefile, not tabs": None,
        "Retry uploads five times": "changes",
        "Format Python with ruff, not black": "replaces",
        "The cache lives in Redis": "answers",
        "Packages come from uv and its lock file": "changes",
        "Logs of the command go to stderr and a file": "changes",
    }
    assert all(view.neighbours for title, view in views.items() if answers[title])


def test_what_was_decided_before_is_remembered(old_store: ReviewPaths, make: Make) -> None:
    rejected = make("Write every commit message in capitals", "", turn="t1")
    assert isinstance(queue.propose_candidate(old_store, rejected), queue.ClaimBlocked)
    said = make("Log to stderr", "The command writes its log to stderr.", turn="t2", minutes=60)
    known = queue.propose_candidate(old_store, said)
    assert isinstance(known, queue.AlreadyKnown) and known.gained_evidence
    outdated = make("Use tabs in the Makefile", "Use tabs for indentation in the Makefile.", turn="t3", minutes=-5)
    assert isinstance(queue.propose_candidate(old_store, outdated), queue.AlreadyKnown)
    with open_ledger(old_store.private) as book:
        assert {one.state for one in book.claims()} == {*get_args(ClaimState)}


@pytest.mark.parametrize("answer", ["same", "replaces", "changes", "keep"])
def test_a_candidate_is_accepted_with_a_choice_and_undone(
    old_store: ReviewPaths, answer: queue.NeighbourAnswer
) -> None:
    memory = "20260801-install-packages-with-uv-not-pip"
    name = "20260801-packages-come-from-uv-and-its-lock-file"
    before = {one: one.read_bytes() for one in sorted(old_store.state.rglob("*.md"))}
    done = queue.accept_candidate(old_store, name, choice=queue.NeighbourChoice(answer, memory))
    assert done.ok and name not in [one.id for one in queue.list_pending(old_store)[0]]
    assert queue.undo_last(old_store, done.action).ok
    assert {one: one.read_bytes() for one in sorted(old_store.state.rglob("*.md"))} == before


def test_old_steps_can_still_be_undone(old_store: ReviewPaths) -> None:
    message = queue.undo_last(old_store).message
    assert message == "Undone. It waits for review again: Write every commit message in capitals"
    [step] = [one for one in queue.list_steps(old_store) if one.label == "Accepted: Retry uploads three times"]
    assert queue.undo_last(old_store, step.action).ok
    assert "Retry uploads three times" in [one.record.title for one in queue.list_pending(old_store)[0]]
