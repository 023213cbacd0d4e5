"""What waits, without reading it."""

from __future__ import annotations

from collections.abc import Callable

from lerim.extraction.candidate import Candidate
from lerim.review import glance, queue
from lerim.review.place import Place

Make = Callable[..., Candidate]


def test_it_counts_the_candidates_of_ours_that_wait(place: Place, make: Make) -> None:
    assert (glance.count(place), glance.stamp(place)) == (0, 0)
    found = queue.propose(place, make())
    assert isinstance(found, queue.Proposed)
    assert glance.count(place) == 1
    (place.review / "20260101-foreign.md").write_text("not ours", encoding="utf-8")
    (place.review / ".20260101-hidden.md").write_text("a draft", encoding="utf-8")
    (place.review / "20260102-link.md").symlink_to(found.proposal.path)
    assert glance.count(place) == 1
    queue.reject(place, found.proposal.id)
    assert glance.count(place) == 0


def test_its_stamp_changes_with_every_change_of_a_candidate_and_with_nothing_else(place: Place, make: Make) -> None:
    seen = [glance.stamp(place)]
    found = queue.propose(place, make())
    assert isinstance(found, queue.Proposed)
    seen.append(glance.stamp(place))
    queue.edit(place, found.proposal.id, queue.Edit("Use uv", "Not pip.", ()))
    seen.append(glance.stamp(place))
    assert glance.stamp(place) == seen[-1]
    queue.accept(place, found.proposal.id, quotes="shared")
    assert glance.stamp(place) == 0
    assert len(set(seen)) == 3


def test_a_review_folder_that_is_a_link_holds_nothing(place: Place, make: Make) -> None:
    queue.propose(place, make())
    place.review.rename(place.review.with_name("elsewhere"))
    place.review.symlink_to("elsewhere")
    assert (glance.count(place), glance.stamp(place)) == (0, 0)
