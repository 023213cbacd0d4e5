"""A claim that is met again while its candidate waits."""

from __future__ import annotations

import pytest

from lerim.memory.record import Evidence
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, proposed


def test_a_claim_that_comes_again_while_it_waits_adds_its_quote_and_its_weight(place: ReviewPaths, make: Make) -> None:
    first = proposed(place, make())
    for turn, confidence in (("t2", 0.85), ("t3", 0.9), ("t4", 0.9)):
        again = queue.propose_candidate(place, make(turn=turn, session="s2"))
        assert isinstance(again, queue.AlreadyKnown) and again.id == first.id
        assert again.gained_evidence == (turn != "t4")
        assert queue.load_pending(place, first.id).record.confidence == confidence
    waiting = queue.load_pending(place, first.id)
    assert [item.turn for item in waiting.record.evidence] == ["0a1b2c3d4e5f", "t2", "t3"]
    assert not waiting.edited and waiting.record.title == first.record.title
    assert queue.accept_candidate(place, first.id, quotes="shared").ok
    assert place.store().load_by_id(first.id).record.evidence == waiting.record.evidence


def test_the_same_turn_read_again_adds_nothing_and_what_was_flagged_or_not_said_by_the_person_no_weight(
    place: ReviewPaths, make: Make
) -> None:
    first = proposed(place, make())
    longer = make(evidence=(Evidence("no: Use uv, not pip. Please.", "0a1b2c3d4e5f", "user"),))
    for candidate in (make(), longer):
        again = queue.propose_candidate(place, candidate)
        assert isinstance(again, queue.AlreadyKnown) and not again.gained_evidence
    assert first.path.read_text() == first.text
    queue.propose_candidate(place, make(turn="t2", evidence=(Evidence("uv is used", "t2", "tool"),)))
    queue.propose_candidate(place, make(turn="t3", flags=("hidden-text",)))
    waiting = queue.load_pending(place, first.id)
    assert (waiting.record.confidence, [item.who for item in waiting.record.evidence]) == (0.8, ["user", "tool"])


@pytest.mark.parametrize("by", ["in the panel", "by hand"])
def test_what_a_person_changed_while_it_waits_stays_to_the_byte(place: ReviewPaths, make: Make, by: str) -> None:
    first = proposed(place, make())
    if by == "by hand":
        first.path.write_text(first.text.replace("tags: [packaging]", "tags: [packaging, mine] # by hand"))
        assert first.path.read_text() != first.text
    else:
        queue.edit_candidate(place, first.id, queue.CandidateEdit(first.record.title, "My words.", ()))
    before = first.path.read_bytes()
    again = queue.propose_candidate(place, make(turn="t2"))
    assert isinstance(again, queue.AlreadyKnown) and not again.gained_evidence
    assert first.path.read_bytes() == before
