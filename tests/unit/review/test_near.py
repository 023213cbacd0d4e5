"""Of which memories code is not sure whether a candidate repeats, changes or replaces them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence
from lerim.review import acts, queue
from lerim.review.outcome import Proposed
from lerim.review.place import Place
from lerim.review.views import candidate_view

THEN = datetime(2026, 8, 1, tzinfo=UTC)


def proposed(place: Place, days: int, title: str, body: str) -> Proposed:
    time = THEN + timedelta(days=days)
    result = queue.propose(
        place,
        Candidate(
            primitive="decision",
            kind=None,
            title=title,
            body=body,
            confidence=0.8,
            tags=(),
            references=(),
            evidence=(Evidence(title, f"t{days}", "user"),),
            platform="claude",
            session=f"s{days}",
            turn=f"t{days}",
            time=time,
            signal="reply",
        ),
    )
    assert isinstance(result, Proposed)
    return result


def test_a_claim_in_other_words_names_the_memory_it_may_belong_to_while_that_lives(place: Place) -> None:
    first = proposed(place, 0, "`biome.json` overrides `expand` for package.json, so its arrays stay multiline", "")
    assert queue.accept(place, first.proposal.id, quotes="shared").ok
    again = proposed(place, 9, "Arrays in package.json are kept one item a line by a `biome.json` override", "")
    assert (again.proposal.action, again.proposal.targets) == ("add", ())
    assert [one.title for one in candidate_view(again.proposal).near] == [first.proposal.record.title]
    assert acts.archive(place, first.proposal.record.id).ok
    [waiting] = queue.pending(place)[0]
    assert candidate_view(waiting).near == []
