"""What an agent says after Lerim gave it to the agent is no evidence and no candidate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence, Speaker
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from proposals import CANDIDATE
from reviews import accepted

KNOWN = replace(
    CANDIDATE, title="Amounts are integer cents", body="Amounts in `src/app.py` are integer cents, not floats."
)


def said_by(who: Speaker, title: str, body: str = "") -> Candidate:
    """A claim of another session."""
    quote = Evidence(f"{title}, as decided", "bbbbbbbbbbbb", who)
    return replace(KNOWN, title=title, body=body, session="other", turn="bbbbbbbbbbbb", evidence=(quote,))


@pytest.fixture
def known(place: ReviewPaths) -> Path:
    return accepted(place, KNOWN)


def test_what_only_the_agent_says_again_is_neither_proposed_nor_evidence_as_what_a_person_or_a_tool_says_is(
    place: ReviewPaths, known: Path
) -> None:
    before = place.store().load(known)[0]
    for title in (
        "Amounts are integer cents",
        "Amounts in `src/app.py` are kept as integer cents",
        "Integer cents, not floats",
        "The project's memory says: integer cents",
    ):
        done = queue.propose_candidate(place, said_by("assistant", title, KNOWN.body))
        assert isinstance(done, queue.AlreadyKnown) and "Only the agent said it" in done.reason
        assert (done.id, done.gained_evidence) == (before.record.id, False)
    assert place.store().load(known)[0].record == before.record
    for who in ("user", "tool"):
        done = queue.propose_candidate(place, said_by(who, KNOWN.title, KNOWN.body))
        assert isinstance(done, queue.AlreadyKnown) and "Only the agent" not in done.reason
    assert len(place.store().load(known)[0].record.evidence) > 1
    assert queue.list_pending(place)[0] == []


def test_what_an_agent_adds_to_a_memory_is_proposed(place: ReviewPaths, known: Path) -> None:
    for title in (
        "Amounts in `src/rates.py` are integer cents",
        "Amounts are integer cents since version 2.4",
        "Exchange rates are read from the central bank once a day",
    ):
        candidate = replace(said_by("assistant", title), turn=title)
        assert isinstance(queue.propose_candidate(place, candidate), queue.CandidateProposed)
