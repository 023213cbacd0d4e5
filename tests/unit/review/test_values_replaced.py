"""An accepted update leaves no sentence of the old text that gives the value it replaced; what says more stays."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lerim.extraction.candidate import Candidate
from lerim.memory.kept import joined
from lerim.review import queue
from lerim.review.place import Place

Make = Callable[..., Candidate]


@pytest.mark.parametrize(
    ("old", "title", "new"),
    [
        ("Uploads are retried 2 times.", "Retry uploads 3 times", "The archive bucket throttles."),
        ("Uploads are retried 2 times.", "Retries", "Uploads to the archive bucket are retried 3 times by `up.py`."),
        ("They are retried twice.", "Retry uploads 3 times", "The archive bucket throttles."),
        ("The timeout is 30 seconds.", "Set the timeout of uploads to 60s", "The server is slow."),
        ("It listens on port 8080.", "Listen on port 9090", "The server is behind a proxy."),
        ("Retry 2 times on a 503.", "Retry uploads 3 times on a 503", "It clears up."),
        ("- retried 2 times", "Retry uploads 3 times", "It clears up."),
    ],
)
def test_a_sentence_with_the_old_value_alone_goes(old: str, title: str, new: str) -> None:
    assert joined(f"{old}\n\nAda knows why.", title, new) == f"{new}\n\nAda knows why."


@pytest.mark.parametrize(
    ("old", "title", "new"),
    [
        ("Downloads are retried 2 times.", "Retry uploads 3 times", "Uploads are retried 3 times."),
        ("It is retried 2 times, then Ada is told.", "Retry uploads 3 times", "The bucket throttles."),
        ("Each worker has 2 threads.", "Start 3 workers", "Each worker has its own queue."),
        ("Each worker has 2 threads.", "Start 3 workers with threads", "Each worker has 3 queues."),
        ("The pause is 5 seconds.", "Retry uploads 3 times", "The pause between them grows."),
        ("Uploads must be retried 2 times.", "Retry uploads 3 times", "Uploads may be retried 3 times."),
        ("Uploads are never retried 2 times.", "Downloads", "Reports are uploaded 3 times."),
    ],
)
def test_a_sentence_that_says_more_or_something_else_stays(old: str, title: str, new: str) -> None:
    assert joined(old, title, new) == f"{new}\n\n{old}"


def test_an_accepted_update_of_a_value_says_it_once(place: Place, make: Make) -> None:
    first = queue.propose(place, make("Retry uploads 2 times", "Uploads are retried 2 times. The bucket throttles."))
    assert isinstance(first, queue.Proposed)
    path = Path(queue.accept(place, first.proposal.id, quotes="shared").path or "")
    later = queue.propose(place, make("Retry uploads 3 times", "Two were too few.", turn="t2", minutes=5))
    assert isinstance(later, queue.Proposed) and later.proposal.action == "update"
    assert queue.accept(place, later.proposal.id).ok
    record = place.store().load(path)[0].record
    assert (record.title, record.body) == ("Retry uploads 3 times", "Two were too few.\n\nThe bucket throttles.")
