"""What is said again: it counts as used, and brings back what a rule put away, but not what a person did."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lerim.extraction.candidate import Candidate
from lerim.memory import Feedback
from lerim.memory.record import render_record
from lerim.memory.uses import Uses
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, accepted, made_candidate, maintained, proposed, titles, waiting

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)
AUTO = '[review]\nmode = "auto"\nquotes = "shared"\n'
TITLE = "The pool hangs without a timeout"


def said(days: float, title: str = TITLE, body: str = "Set `POOL_TIMEOUT`.") -> Candidate:
    """What a session so many days before NOW says."""
    made = made_candidate(title, body, f"t{days}", primitive="learning", kind="pitfall", tags=(), references=())
    return replace(made, session=f"s{days}", time=NOW - timedelta(days=days))


def learned(place: ReviewPaths, days: int = 300) -> Path:
    """A learning accepted so many days before NOW."""
    return accepted(place, said(days), now=NOW - timedelta(days=days))


def looked_after(place: ReviewPaths, now: datetime = NOW, settings: str = "") -> list[str]:
    """What a maintaining proposes or does, and accepts."""
    report = maintained(place, now, settings)
    for one in report.proposals:
        assert queue.accept_candidate(place, one.id).ok
    return [one.action for one in report.done]


def test_what_nobody_used_is_proposed_again_when_it_is_said_again_and_comes_back_as_it_was(place: ReviewPaths) -> None:
    path = learned(place)
    was = place.store().load(path)[0].record
    assert looked_after(place) == ["proposed-archive"] and titles(place) == []
    proposal = proposed(place, said(-5))
    assert (proposal.action, proposal.target, proposal.ends) == ("add", was.id, ())
    assert "is restored" in proposal.reason
    before = {one: one.read_bytes() for one in place.project.memory_dir.rglob("*.md")}
    done = queue.accept_candidate(place, proposal.id)
    now = place.store().load(path)[0].record
    assert done.path == str(path) and (now.id, now.created, now.title) == (was.id, was.created, TITLE)
    assert [item.turn for item in now.evidence] == ["t-5", "t300"]
    assert [one.record.id for one in place.store().load_all(archived=True)[0]] == [was.id]
    assert looked_after(place, NOW + timedelta(days=20)) == []
    assert queue.undo_last(place, done.action).ok
    assert {one: one.read_bytes() for one in place.project.memory_dir.rglob("*.md")} == before
    assert [one.id for one in queue.list_pending(place)[0]] == [proposal.id]


def test_an_earlier_turn_brings_nothing_back_an_automatic_review_a_later_one_and_what_a_person_archived_stays_away(
    place: ReviewPaths,
) -> None:
    path = learned(place)
    assert looked_after(place, settings=AUTO) == ["accepted-archive"] and titles(place) == []
    assert isinstance(queue.propose_candidate(place, said(301)), queue.AlreadyKnown)
    queue.propose_candidate(place, said(-3))
    assert [result.code for _, result in queue.auto_accept_all(place)[0]] == ["accepted"]
    assert titles(place) == [TITLE] and queue.list_pending(place)[0] == []
    acts.archive_memory(place, path.stem)
    assert isinstance(queue.propose_candidate(place, said(-5)), queue.AlreadyKnown)
    assert titles(place) == [] and waiting(place) == []


@pytest.mark.parametrize("word", ["wrong", "outdated"])
def test_what_a_person_does_not_want_stays_away(place: ReviewPaths, word: Feedback) -> None:
    path = learned(place)
    acts.give_feedback(place, path.stem, word)
    assert looked_after(place) == ["proposed-archive"]
    assert isinstance(queue.propose_candidate(place, said(-5)), queue.AlreadyKnown)


def test_a_file_that_a_clone_wrote_today_is_as_old_as_it_says_and_never_put_away_unseen(place: ReviewPaths) -> None:
    path = learned(place)
    record = place.store().load(path)[0].record
    path.unlink()
    old = NOW - timedelta(days=400)
    cloned = record.id.replace("pool", "old-pool")
    text = render_record(record).replace(record.id, cloned).replace(f"{record.updated:%Y-%m-%d}", f"{old:%Y-%m-%d}")
    there = path.with_name(f"{cloned}.md")
    there.write_text(text.replace(f"verified: {datetime.now(UTC):%Y-%m-%d}", f"verified: {old:%Y-%m-%d}"))
    assert Uses(place.private).of_memories([cloned]) == {}
    assert [one.action for one in maintained(place, NOW, AUTO).done] == ["proposed-archive"] and there.exists()


def test_what_was_accepted_unseen_is_undone_when_the_person_takes_it_back(place: ReviewPaths, make: Make) -> None:
    proposed(place, make("Use pip, not uv", "Installs go through `pip`."))
    queue.auto_accept_all(place)
    second = proposed(place, make("Log to stderr", "Quieter.", turn="t2", minutes=9))
    queue.auto_accept_all(place)
    assert titles(place) == ["Log to stderr", "Use pip, not uv"]
    assert queue.withdraw_candidates(place, "t2", "the person then said: no") == [second.id]
    assert titles(place) == ["Use pip, not uv"] and queue.list_pending(place)[0] == []
    assert queue.auto_accept_all(place) == ([], [])


def test_what_a_person_accepted_or_changed_since_stays(place: ReviewPaths, make: Make) -> None:
    accepted(place, make())
    assert queue.withdraw_candidates(place, "0a1b2c3d4e5f", "no") == []
    proposed(place, make("Run `make lint` before a commit", "It is quick.", turn="t2", minutes=9))
    [(_, result)] = queue.auto_accept_all(place)[0]
    path = Path(result.path or "")
    path.write_text(path.read_text() + "\nMy line.\n")
    assert queue.withdraw_candidates(place, "t2", "no") == []
    assert len(titles(place)) == 2
    path.write_bytes(b"\xff mine")
    assert queue.withdraw_candidates(place, "t2", "no") == [] and path.read_bytes() == b"\xff mine"
