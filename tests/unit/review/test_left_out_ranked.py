"""What only the ranker found is taken back once a model has read its turn, and nothing that a person wrote is lost."""

from __future__ import annotations

import pytest

from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, proposed, waiting

TURN = "0a1b2c3d4e5f"
SOURCE = "claude:s1"


def test_it_is_taken_back_and_listed_as_left_out_and_the_models_words_of_its_turn_are_proposed(
    place: ReviewPaths, make: Make
) -> None:
    one = proposed(place, make())
    for source, turn in (("claude:s2", TURN), (SOURCE, "other"), ("codex:s1", TURN)):
        assert queue.leave_out_ranked(place, source, {turn}) == [], "it is of another session or turn"
    [(taken, dropped)] = queue.leave_out_ranked(place, SOURCE, {TURN})
    assert (taken, dropped.reason) == (one.id, "model-read")
    assert waiting(place) == []
    assert [item.title for item in queue.list_left_out(place)[0]] == [one.record.title]
    proposed(place, make(signal="model"))
    assert waiting(place) == ["Use uv, not pip"]


@pytest.mark.parametrize("by", ["the review", "an editor"])
def test_what_a_person_changed_stays_to_the_byte(place: ReviewPaths, make: Make, by: str) -> None:
    one = proposed(place, make())
    if by == "the review":
        queue.edit_candidate(place, one.id, queue.CandidateEdit(title="Mine"))
    else:
        one.path.write_text(one.text.replace("Installs go", "In my words installs go"), encoding="utf-8")
    before = one.path.read_bytes()
    assert queue.leave_out_ranked(place, SOURCE, {TURN}) == []
    assert queue.withdraw_candidates(place, TURN, "taken back later") == []
    assert not queue.withdraw_candidate(place, one.id, "taken back later")
    assert one.path.read_bytes() == before
