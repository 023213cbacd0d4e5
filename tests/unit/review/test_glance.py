"""What waits, without reading it."""

from __future__ import annotations

from lerim.review import pending_count, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, proposed


def test_it_counts_the_candidates_of_ours_that_wait(place: ReviewPaths, make: Make) -> None:
    assert (pending_count.count_pending(place), pending_count.pending_stamp(place)) == (0, 0)
    found = proposed(place, make())
    assert pending_count.count_pending(place) == 1
    (place.review / "20260101-foreign.md").write_text("not ours", encoding="utf-8")
    (place.review / ".20260101-hidden.md").write_text("a draft", encoding="utf-8")
    (place.review / "20260102-link.md").symlink_to(found.path)
    assert pending_count.count_pending(place) == 1
    queue.reject_candidate(place, found.id)
    assert pending_count.count_pending(place) == 0


def test_its_stamp_changes_with_every_change_of_a_candidate_and_with_nothing_else(
    place: ReviewPaths, make: Make
) -> None:
    seen = [pending_count.pending_stamp(place)]
    found = proposed(place, make())
    seen.append(pending_count.pending_stamp(place))
    queue.edit_candidate(place, found.id, queue.CandidateEdit("Use uv", "Not pip.", ()))
    seen.append(pending_count.pending_stamp(place))
    assert pending_count.pending_stamp(place) == seen[-1]
    queue.accept_candidate(place, found.id, quotes="shared")
    assert pending_count.pending_stamp(place) == 0
    assert len(set(seen)) == 3


def test_a_review_folder_that_is_a_link_holds_nothing(place: ReviewPaths, make: Make) -> None:
    queue.propose_candidate(place, make())
    place.review.rename(place.review.with_name("elsewhere"))
    place.review.symlink_to("elsewhere")
    assert (pending_count.count_pending(place), pending_count.pending_stamp(place)) == (0, 0)
