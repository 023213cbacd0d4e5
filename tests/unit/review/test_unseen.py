"""What is accepted without a person, where they set the review to automatic."""

from pathlib import Path

import pytest

from lerim.memory.record import Evidence
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, proposed, suggested, titles


def test_what_nothing_speaks_against_is_accepted_and_each_step_can_be_undone(place: ReviewPaths, make: Make) -> None:
    proposed(place, make(title="Use pip, not uv", body="Installs go through `pip install -r requirements.lock`."))
    done, problems = queue.auto_accept_all(place)
    assert [result.code for _, result in done] == ["accepted"] and problems == []
    [(_, result)] = done
    assert queue.undo_last(place, result.action).ok and titles(place) == []
    assert queue.auto_accept_all(place) == ([], []) and len(queue.list_pending(place)[0]) == 1, (
        "it waits for the person"
    )


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


@pytest.mark.parametrize(
    "change",
    [
        {"flags": ("hidden-characters",)},
        {"evidence": (Evidence("Use uv, not pip", "t1", "web"),)},
        {"evidence": (Evidence("Use uv, not pip", "t1", "tool"),)},
    ],
)
def test_what_is_flagged_or_only_a_tool_or_page_says_waits(
    place: ReviewPaths, make: Make, change: dict[str, object]
) -> None:
    found = proposed(place, make(**change))
    assert queue.auto_accept(place, found) is None
    assert queue.auto_accept_all(place) == ([], []) and titles(place) == []


def test_what_a_person_edited_or_wrote_is_not_touched(place: ReviewPaths, make: Make) -> None:
    found = proposed(
        place, make(title="Use pip, not uv", body="Installs go through `pip install -r requirements.lock`.")
    )
    queue.edit_candidate(place, found.id, queue.CandidateEdit("Use pip here, not uv", found.record.body, ()))
    assert queue.auto_accept_all(place) == ([], [])
    path = Path(queue.accept_candidate(place, found.id, quotes="shared").path or "")
    proposed(place, make(title="Use uv, not pip", turn="t2", minutes=9, replaces=("pip",)))
    assert queue.auto_accept_all(place) == ([], [])  # the memory has a person's words
    assert path.exists() and len(queue.list_pending(place)[0]) == 1


def test_a_memory_somebody_wrote_in_is_theirs_from_then_on(place: ReviewPaths, make: Make) -> None:
    found = proposed(place, make())
    [(_, result)] = queue.auto_accept_all(place)[0]
    path = Path(result.path or "")
    path.write_text(path.read_text() + "\nMy line.\n")
    stored = place.store().load_by_id(found.id)
    suggested(place, "archive", (stored,))
    assert queue.auto_accept_all(place) == ([], []) and path.exists()
