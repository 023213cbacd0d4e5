"""What is accepted without a person, where they set the review to automatic."""

from pathlib import Path
from typing import Any

import pytest

from lerim.memory.record import Evidence
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, accepted, proposed, suggested, titles


def test_what_nothing_speaks_against_is_accepted_and_each_step_can_be_undone(place: ReviewPaths, make: Make) -> None:
    proposed(place, make(title="Use pip, not uv", body="Installs go through `pip install -r requirements.lock`."))
    done, problems = queue.auto_accept_all(place)
    assert [result.code for _, result in done] == ["accepted"] and problems == []
    [(_, result)] = done
    assert queue.undo_last(place, result.action).ok and titles(place) == []
    assert queue.auto_accept_all(place) == ([], []), "it waits for the person"
    assert len(queue.list_pending(place)[0]) == 1


def test_what_has_a_near_neighbour_or_replaces_a_memory_waits_for_a_person(place: ReviewPaths, make: Make) -> None:
    proposed(place, make("Use pip, not uv", "Installs go through `pip install`."))
    assert len(queue.auto_accept_all(place)[0]) == 1
    replacing = proposed(place, make(title="Use uv, not pip", turn="t2", minutes=9, replaces=("pip",)))
    beside = proposed(place, make(title="Use pip with hashes", body="", turn="t3", minutes=9))
    assert (replacing.action, beside.action) == ("supersede", "add")
    assert queue.auto_accept_all(place) == ([], []) and titles(place) == ["Use pip, not uv"]


def test_quotes_stay_here_until_the_person_chose(place: ReviewPaths, make: Make) -> None:
    found = proposed(place, make())
    queue.auto_accept_all(place)
    assert place.store().quotes.read_choice() == "local"
    stored = place.store().load_by_id(found.id)
    assert stored.record.evidence[0].quote and "no: Use uv" not in stored.path.read_text()


def test_what_is_flagged_or_only_a_tool_or_page_says_waits(place: ReviewPaths, make: Make) -> None:
    said = [(Evidence("Use uv, not pip", "t1", who),) for who in ("web", "tool")]
    changes: tuple[dict[str, Any], ...] = (
        {"flags": ("hidden-characters",)},
        {"evidence": said[0]},
        {"evidence": said[1]},
    )
    for number, change in enumerate(changes):
        found = proposed(place, make(f"Use tool {number}", f"`f{number}.py`", f"t{number}", **change))
        assert queue.auto_accept(place, found) is None
    assert queue.auto_accept_all(place) == ([], []) and titles(place) == []


@pytest.mark.parametrize("how", ["unseen", "with all others", "by a person"])
def test_only_who_looked_at_a_candidate_keeps_it_beside_its_neighbours(
    place: ReviewPaths, make: Make, how: str
) -> None:
    old = accepted(place, make("Retry uploads 3 times", "Each upload is retried 3 times."))
    near = proposed(place, make("Retry uploads 5 times", "Each upload is retried 5 times.", "t2", 5))
    assert [one.stored.path for one in near.neighbours] == [old]
    if how == "with all others":
        assert queue.decide_in_bulk(place, "accept", [near.id], "b1").decided == (near.id,)
    else:
        assert queue.accept_candidate(place, near.id, automatic=how == "unseen").ok
    assert queue.pairs_kept_apart(place) == ({frozenset((old.stem, near.id))} if how == "by a person" else set())


def test_what_a_person_edited_or_wrote_is_not_touched(place: ReviewPaths, make: Make) -> None:
    found = proposed(
        place, make(title="Use pip, not uv", body="Installs go through `pip install -r requirements.lock`.")
    )
    queue.edit_candidate(place, found.id, queue.CandidateEdit("Use pip here, not uv", found.record.body, ()))
    assert queue.auto_accept_all(place) == ([], [])
    queue.reject_candidate(place, found.id)
    found = proposed(place, make(turn="t2"))
    [(_, result)] = queue.auto_accept_all(place)[0]
    path = Path(result.path or "")
    path.write_text(path.read_text() + "\nMy line.\n")
    suggested(place, "archive", (place.store().load_by_id(found.id),))
    assert queue.auto_accept_all(place) == ([], []) and path.exists(), "it is theirs from then on"
