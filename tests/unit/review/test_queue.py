"""Candidates come in, wait, and become memories or not."""

import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from lerim.errors import LerimError, NotFoundError, StaleError
from lerim.memory.record import parse_record
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, accepted, added, proposed


def accept(place: ReviewPaths, candidate_id: str) -> Path:
    result = queue.accept_candidate(place, candidate_id, quotes="shared")
    assert result.ok and result.path
    return Path(result.path)


def test_a_candidate_waits_as_a_file_and_becomes_a_memory_file(place: ReviewPaths, make: Make) -> None:
    candidate = make()
    proposal = proposed(place, candidate)
    assert proposal.path == place.project.root / ".lerim/review/20260801-use-uv-not-pip.md"
    found, problems, blocked = queue.list_pending(place)
    assert ([one.id for one in found], problems, blocked) == ([proposal.id], [], 0)
    again = queue.propose_candidate(place, make(turn="another"))
    assert isinstance(again, queue.AlreadyKnown) and again.id == proposal.id
    path = accept(place, proposal.id)
    assert path == place.project.root / ".lerim/memory/decisions/20260801-use-uv-not-pip.md"
    memory = parse_record(path.read_text(), path)
    assert (memory.title, memory.body, memory.source) == (candidate.title, candidate.body, candidate.source)
    assert memory.evidence[:1] == candidate.evidence
    assert not proposal.path.exists()
    assert queue.list_pending(place)[0] == []


def test_the_first_accept_asks_about_quotes_and_does_nothing(place: ReviewPaths, make: Make) -> None:
    proposal = proposed(place, make())
    result = queue.accept_candidate(place, proposal.id)
    assert result.ask_quotes and not result.ok
    assert proposal.path.exists() and not place.project.memory_dir.exists()
    with pytest.raises(LerimError):
        queue.accept_candidate(place, proposal.id, queue.CandidateEdit("", "", ()), quotes="shared")
    assert place.store().quotes.read_choice() is None, "a refused accept leaves the choice open"
    assert queue.accept_candidate(place, proposal.id, quotes="local").ok
    second = proposed(place, make(title="Run `make check`", body="It is `make check` here.", turn="other"))
    assert queue.accept_candidate(place, second.id).ok


def test_rejecting_a_claim_rejects_neither_its_opposite_nor_what_lay_beside_it_and_keeps_no_word_of_it(
    place: ReviewPaths, make: Make
) -> None:
    queue.reject_candidate(place, proposed(place, make(title="Zanzibar, not Kilimanjaro", body="In `setup.py`.")).id)
    queue.undo_last(place)
    queue.reject_candidate(place, "20260801-zanzibar-not-kilimanjaro")
    with sqlite3.connect(place.private / "review.sqlite3") as book:
        row = book.execute("SELECT text, words FROM claims").fetchone()
    assert b"zanzibar" not in b"".join(row).lower()
    proposed(place, make(title="Kilimanjaro, not Zanzibar", body="In `setup.py`.", turn="t2"))
    first = proposed(place, make(title="Set retries to 3", body="In `setup.py`.", turn="t3"))
    shutil.rmtree(place.review)
    assert proposed(place, make(title="Set retries to 3", body="In `setup.py`.", turn="t3")).id == first.id


def test_a_change_of_an_accepted_memory_is_proposed_as_a_difference(place: ReviewPaths, make: Make) -> None:
    path = accepted(place, make())
    newer = make(body="Installs go through `uv pip sync --frozen requirements.lock`.", turn="t2", minutes=5)
    proposal = queue.suggest_answer(place, proposed(place, newer).id, "changes", path.stem, "It adds an option.")
    assert (proposal.action, proposal.target) == ("update", path.stem)
    assert "+Installs go through `uv pip sync --frozen requirements.lock`." in proposal.diff
    path.write_text(path.read_text().replace("tags:", "mine: kept  # by hand\ntags:"))
    with pytest.raises(StaleError) as caught:
        queue.accept_candidate(place, proposal.id)
    assert "+Installs go through `uv pip sync --frozen requirements.lock`." in caught.value.diff
    assert "--frozen" not in str(caught.value)
    accept(place, proposal.id)
    text = path.read_text()
    assert "mine: kept  # by hand\n" in text and "--frozen" in text
    memory = place.store().load_by_id(path.stem).record
    assert [item.turn for item in memory.evidence] == ["t2", "0a1b2c3d4e5f"]
    assert memory.updated == newer.time


@pytest.mark.parametrize("at_once", [True, False], ids=["save and accept", "save, then accept"])
def test_undoing_an_accept_keeps_the_edit_before_it_which_the_next_undo_takes_back(
    place: ReviewPaths, make: Make, at_once: bool
) -> None:
    proposal = proposed(place, make())
    edit = queue.CandidateEdit("Use uv: always", "Because `uv` locks.", ("uv",), kind="insight")
    if not at_once:
        queue.edit_candidate(place, proposal.id, edit)
    accepted = queue.accept_candidate(place, proposal.id, edit if at_once else None, quotes="shared")
    assert accepted.message == "Accepted: Use uv: always"
    undone = queue.undo_last(place)
    assert (undone.action, undone.message) == (
        accepted.action,
        "Undone. It waits for review again: Use uv: always",
    )
    waiting = queue.load_pending(place, proposal.id).record
    assert (waiting.title, waiting.body, waiting.primitive) == ("Use uv: always", "Because `uv` locks.", "learning")
    assert queue.undo_last(place).ok
    assert proposal.path.read_text(encoding="utf-8") == proposal.text


def test_a_refuted_candidate_is_withdrawn_and_stays_so(place: ReviewPaths, make: Make) -> None:
    broken = proposed(place, make("Log to stderr", "Quiet."))
    broken.path.write_text(mine := broken.text.replace("action: add", "action: mine"))
    proposal = proposed(place, make())
    assert queue.withdraw_candidates(place, "0a1b2c3d4e5f", "“no, pip after all”") == [proposal.id]
    assert queue.list_pending(place)[0] == [] and broken.path.read_text() == mine
    again = queue.propose_candidate(place, make())
    assert isinstance(again, queue.AlreadyKnown) and "pip after all" in again.reason
    assert queue.find_undoable(place) is None


def test_planted_candidates_and_links_are_ignored_and_reported(place: ReviewPaths, make: Make, tmp_path: Path) -> None:
    proposal = proposed(place, make())
    (place.review / "20260801-evil.md").write_text(proposal.path.read_text())
    secret = tmp_path / "secret.md"
    secret.write_text(proposal.path.read_text())
    proposal.path.unlink()
    proposal.path.symlink_to(secret)
    found, problems, _ = queue.list_pending(place)
    assert found == []
    assert sorted(problem.code for problem in problems) == ["candidate-unreadable", "foreign-candidate"]
    other = proposed(place, make("Log to stderr", "It is quieter.", "t2"))
    assert [one.id for one in queue.list_pending_of_file(place, "requirements.lock")] == [other.id]
    mine = added(place, "Use make")
    mine.symlink_to(mine.rename(tmp_path / "mine.md"))
    assert added(place, "Use make") != mine, "a link says nothing"


def test_a_candidate_edited_by_hand_has_the_place_and_the_file_that_its_text_says(
    place: ReviewPaths, make: Make
) -> None:
    likely = proposed(place, make())
    other = proposed(place, make("Log to stderr", "It is quieter.", "t2"))
    text = likely.path.read_text()
    edited = re.sub(r"references:\n(  ?- .*\n)+", "references: src/log.py, src/out.py\n", text)
    likely.path.write_text(re.sub(r"confidence: .*", 'confidence: "1.0"', edited))
    assert [one.id for one in queue.list_pending_of_file(place, "src/out.py")] == [likely.id]
    ordered = queue.list_pending_page(place, 0, 9, best_first=True).proposals
    assert [one.id for one in ordered] == [likely.id, other.id]


def test_a_theme_comes_after_everything_that_somebody_said(place: ReviewPaths, make: Make) -> None:
    theme = proposed(place, make("Work on installs in `src`", "Often.", "t2", 2, primitive="theme", confidence=0.9))
    said = proposed(place, make(confidence=0.4))
    ordered = queue.list_pending_page(place, 0, 9, best_first=True).proposals
    assert [one.id for one in ordered] == [said.id, theme.id]
    assert [one.id for one in queue.list_pending_of_file(place, "requirements.lock")] == [said.id, theme.id]


def test_looking_writes_nothing_not_even_for_what_does_not_wait(place: ReviewPaths) -> None:
    assert queue.list_pending(place) == ([], [], 0)
    assert queue.find_undoable(place) is None
    assert queue.withdraw_candidates(place, "t", "r") == []
    with pytest.raises(NotFoundError, match="No candidate"):
        queue.load_pending(place, "20260801-none")
    assert not place.home.root.exists() and not place.project.lerim_dir.exists()


def test_a_question_becomes_a_file_of_its_own_folder_and_is_known_or_rejected_like_any_other(
    place: ReviewPaths, make: Make
) -> None:
    asked = ("Extract the quota check, or not?", "Nobody answered.")
    question = {"primitive": "question", "signal": "reply"}
    queue.reject_candidate(place, proposed(place, make("Keep it?", turn="t0", **question)).id)
    assert isinstance(queue.propose_candidate(place, make("Keep it?", turn="t1", **question)), queue.ClaimBlocked)
    path = accepted(place, make(*asked, turn="t2", **question))
    assert path.parent == place.project.root / ".lerim/memory/questions"
    memory = parse_record(path.read_text(), path)
    assert (memory.primitive, memory.kind, memory.title) == ("question", None, asked[0])
    assert isinstance(queue.propose_candidate(place, make(*asked, turn="t3", **question)), queue.AlreadyKnown)
    proposed(place, make("Extract the quota check", "It is shared by `api` and `cli`.", turn="t4"))
