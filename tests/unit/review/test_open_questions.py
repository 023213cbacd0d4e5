"""A question waits, is kept and is recognised like any other memory."""

from collections.abc import Callable
from pathlib import Path

from lerim.extraction.candidate import Candidate
from lerim.memory.record import parse_record
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths

Make = Callable[..., Candidate]
ASKED = {
    "primitive": "question",
    "title": "Extract the quota check, or not?",
    "body": "Nobody answered.",
    "signal": "reply",
}


def accepted(place: ReviewPaths, candidate: Candidate) -> Path:
    outcome = queue.propose_candidate(place, candidate)
    assert isinstance(outcome, queue.CandidateProposed), outcome
    result = queue.accept_candidate(place, outcome.proposal.id, quotes="shared")
    assert result.ok and result.path
    return Path(result.path)


def test_a_question_becomes_a_file_of_its_own_folder(place: ReviewPaths, make: Make) -> None:
    path = accepted(place, make(**ASKED))
    assert path.parent == place.project.root / ".lerim/memory/questions"
    memory = parse_record(path.read_text(), path)
    assert (memory.primitive, memory.kind, memory.title) == ("question", None, "Extract the quota check, or not?")


def test_a_question_asked_again_is_known_and_a_decision_of_the_same_words_is_not(
    place: ReviewPaths, make: Make
) -> None:
    accepted(place, make(**ASKED))
    assert isinstance(queue.propose_candidate(place, make(**ASKED, turn="later")), queue.AlreadyKnown)
    decided = make(title="Extract the quota check", body="It is shared by `api` and `cli`.", turn="decided")
    assert isinstance(queue.propose_candidate(place, decided), queue.CandidateProposed)


def test_a_rejected_question_stays_rejected(place: ReviewPaths, make: Make) -> None:
    outcome = queue.propose_candidate(place, make(**ASKED))
    assert isinstance(outcome, queue.CandidateProposed)
    queue.reject_candidate(place, outcome.proposal.id)
    assert not isinstance(queue.propose_candidate(place, make(**ASKED, turn="later")), queue.CandidateProposed)
