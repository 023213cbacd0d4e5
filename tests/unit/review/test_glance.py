"""What waits, without reading it."""

from __future__ import annotations

from lerim.review import pending_count, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, proposed


def test_the_candidates_of_ours_that_wait_are_counted_and_every_change_of_one_changes_the_stamp(
    place: ReviewPaths, make: Make
) -> None:
    assert (pending_count.count_pending(place), pending_count.pending_stamp(place)) == (0, 0)
    found = proposed(place, make())
    stamps = [pending_count.pending_stamp(place)]
    queue.edit_candidate(place, found.id, queue.CandidateEdit("Use uv", "Not pip.", ()))
    stamps.append(pending_count.pending_stamp(place))
    assert pending_count.count_pending(place) == 1
    assert pending_count.pending_stamp(place) == stamps[-1] != stamps[0]
    (place.review / "20260101-foreign.md").write_text("not ours", encoding="utf-8")
    (place.review / ".20260101-hidden.md").write_text("a draft", encoding="utf-8")
    assert pending_count.count_pending(place) == 1
    found.path.symlink_to(found.path.rename(place.review / "kept"))
    assert pending_count.count_pending(place) == 0
    (place.review / "kept").replace(found.path)
    place.review.rename(place.review.with_name("elsewhere"))
    place.review.symlink_to("elsewhere")
    assert (pending_count.count_pending(place), pending_count.pending_stamp(place)) == (0, 0), "a link holds nothing"
    place.review.unlink()
    place.review.with_name("elsewhere").rename(place.review)
    queue.reject_candidate(place, found.id)
    assert pending_count.count_pending(place) == 0
