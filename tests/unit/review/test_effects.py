"""What accepting each kind of proposal does to the files, and that one undo takes all of it back."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lerim.errors import StaleError
from lerim.memory.local_quotes import QuoteChoice
from lerim.memory.record import Evidence
from lerim.review import acts, queue
from lerim.review.review_paths import ReviewPaths
from reviews import Make, proposed, remembered, suggested

QUESTION = {"primitive": "question", "kind": None, "signal": "reply"}


def files(place: ReviewPaths) -> dict[str, str]:
    folder = place.project.memory_dir
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.md")}


def accepted_and_undone(
    place: ReviewPaths, proposal: queue.Proposal, check: Callable[[dict[str, str]], None], told: str = ""
) -> None:
    before, waiting = files(place), proposal.path.read_text("utf-8")
    done = queue.accept_candidate(place, proposal.id)
    assert done.ok and done.code == "accepted" and done.path and Path(done.path).exists()
    assert not proposal.path.exists()
    check(files(place))
    assert done.message == (told or f"Accepted: {proposal.record.title}")
    undone = queue.undo_last(place, done.action)
    assert undone.ok and undone.message == f"Undone. It waits for review again: {done.message.partition(': ')[2]}"
    assert files(place) == before and proposal.path.read_text("utf-8") == waiting
    assert queue.accept_candidate(place, proposal.id).ok
    check(files(place))


def test_a_claim_that_replaces_another_ends_it_and_both_name_each_other(place: ReviewPaths, make: Make) -> None:
    old = remembered(
        place, make(title="Use pip, not uv", body="Installs go through `pip install -r requirements.lock`.")
    )
    new = proposed(place, make(title="Use uv, not pip", turn="t2", minutes=9, replaces=("pip",)))
    assert (new.action, new.target, new.ends) == ("supersede", old.record.id, (old.record.id,))

    def check(now: dict[str, str]) -> None:
        ended = place.store().load_by_id(old.record.id)
        assert (ended.status, ended.record.superseded_by) == ("superseded", new.id)
        assert ended.path == place.project.memory_dir / "archived" / "decisions" / old.path.name
        assert place.store().load_by_id(new.id).record.supersedes == (old.record.id,)
        assert len(now) == 2

    accepted_and_undone(place, new, check, "Accepted: Use uv, not pip (replaces “Use pip, not uv”)")


def test_merging_keeps_one_memory_with_the_evidence_of_all(place: ReviewPaths, make: Make) -> None:
    one = remembered(place, make(title="Cache keys hold the tenant", body="See `src/cache.py`.", tags=("a",)))
    two = remembered(place, make(title="Pin the port to 5433", body="In `compose.yml`.", turn="t2", tags=("b",)))
    both = (*one.record.evidence, *two.record.evidence)
    words = replace(one.record, title="Cache keys hold the tenant's id", tags=("a", "b"), evidence=both)
    merge = suggested(place, "merge", (one, two), words)
    assert merge.ends == (two.record.id,) and "tenant's id" in merge.diff

    def check(now: dict[str, str]) -> None:
        kept = place.store().load_by_id(one.record.id)
        assert (kept.status, kept.record.title, kept.record.created) == ("active", words.title, one.record.created)
        assert kept.record.supersedes == (two.record.id,)
        assert {item.turn for item in kept.record.evidence} == {"0a1b2c3d4e5f", "t2"}
        assert set(kept.record.tags) == {"a", "b"}
        assert place.store().load_by_id(two.record.id).record.superseded_by == one.record.id

    accepted_and_undone(place, merge, check, "Merged: Cache keys hold the tenant's id")


def test_several_learnings_become_one_that_names_them(place: ReviewPaths, make: Make) -> None:
    sources = tuple(
        remembered(place, make(title=title, body="Seen.", turn=title[:4], primitive="learning", kind="insight"))
        for title in ("Ports clash on CI", "Windows paths break globs", "Locks outlive their process")
    )
    words: dict[str, Any] = {
        "title": "Tests meet the machine",
        "body": "Three ways.",
        "created": sources[2].record.created,
    }
    insight = replace(sources[0].record, supersedes=(), **words)
    group = suggested(place, "consolidate", sources, insight)
    assert set(group.ends) == {one.record.id for one in sources} and not group.diff

    def check(now: dict[str, str]) -> None:
        [active] = [one for one in place.store().load_all()[0] if one.status == "active"]
        assert active.record.title == "Tests meet the machine"
        assert set(active.record.supersedes) == set(group.ends)
        assert all(place.store().load_by_id(old).record.superseded_by == active.record.id for old in group.ends)

    accepted_and_undone(place, group, check, "Combined: Tests meet the machine")


def test_archiving_moves_the_file_and_changes_nothing_in_it(place: ReviewPaths, make: Make) -> None:
    old = remembered(place, make())
    archive = suggested(place, "archive", (old,))
    text = old.path.read_text()

    def check(now: dict[str, str]) -> None:
        assert now == {f"archived/decisions/{old.path.name}": text}

    accepted_and_undone(place, archive, check, "Archived: Use uv, not pip")


def test_references_alone_change_when_a_file_was_moved(place: ReviewPaths, make: Make) -> None:
    old = remembered(place, make(references=("src/a.py", "src/b.py#run")))
    old.path.write_text(old.path.read_text().replace("tags:", "mine: kept\ntags:"))
    old = place.store().load(old.path)[0]
    refer = suggested(place, "refer", (old,), replace(old.record, references=("src/new.py", "src/b.py#run")))
    assert refer.ends == () and "+  - src/new.py" in refer.diff

    def check(now: dict[str, str]) -> None:
        assert old.path.read_text() == text.replace("src/a.py", "src/new.py")

    text = old.path.read_text()
    accepted_and_undone(place, refer, check, "Refers to src/new.py: Use uv, not pip")


def test_a_question_is_closed_by_a_memory_that_is_there(place: ReviewPaths, make: Make) -> None:
    question = remembered(place, make(title="Which port does the database use?", body="Unclear.", **QUESTION))
    answer = remembered(place, make(title="Keep money as cents", body="In `src/money.py`.", turn="t2", minutes=5))
    close = suggested(place, "close", (question, answer), answer.record)
    assert close.ends == (question.record.id,) and "+resolves:" in close.diff

    def check(now: dict[str, str]) -> None:
        assert place.store().load_by_id(answer.record.id).record.resolves == (question.record.id,)
        assert place.store().load_by_id(question.record.id).record.resolved_by == answer.record.id

    accepted_and_undone(place, close, check, "Answered: Which port does the database use?")


def test_a_preview_writes_nothing_and_a_suggestion_that_was_rejected_waits_for_another_text(
    place: ReviewPaths, make: Make
) -> None:
    old = remembered(place, make())
    suggestion = queue.Suggestion("archive", old.record, (old,), "Nobody used it.")
    before = sorted(place.project.root.rglob("*"))
    shown = queue.preview_suggestion(place, suggestion)
    assert (shown.action, shown.reason, shown.ends) == ("archive", "Nobody used it.", (old.record.id,))
    assert sorted(place.project.root.rglob("*")) == before and queue.list_pending(place)[0] == []
    first = queue.propose_suggestion(place, suggestion)
    assert isinstance(first, queue.CandidateProposed)
    assert isinstance(queue.propose_suggestion(place, suggestion), queue.AlreadyKnown)
    queue.reject_candidate(place, first.proposal.id)
    assert queue.propose_suggestion(place, suggestion) == queue.ClaimBlocked(first.proposal.id, 1)
    old.path.write_text(old.path.read_text() + "My line.\n")
    old = place.store().load(old.path)[0]
    assert isinstance(queue.propose_suggestion(place, replace(suggestion, targets=(old,))), queue.CandidateProposed)


def test_what_was_taken_back_may_be_suggested_again(place: ReviewPaths, make: Make) -> None:
    old = remembered(place, make())
    first = suggested(place, "archive", (old,))
    assert queue.withdraw_candidate(place, first.id, "It was used.")
    assert not queue.withdraw_candidate(place, first.id, "It was used.")
    second = suggested(place, "archive", (old,))
    assert second.id != first.id
    second.path.write_text(second.text.replace("action: archive", "action: mine"))
    assert acts.give_feedback(place, old.record.id, "useful").ok, "a file that a person broke is no obstacle"


@pytest.mark.parametrize("action", ["archive", "merge"])
def test_a_suggestion_is_shown_again_when_a_memory_changed_and_goes_when_it_is_gone(
    place: ReviewPaths, make: Make, action: str
) -> None:
    one = remembered(place, make())
    two = remembered(place, make(title="Pin the port to 5433", body="In `compose.yml`.", turn="t2"))
    targets = (one, two) if action == "merge" else (one,)
    waits = suggested(place, action, targets)
    one.path.write_text(one.path.read_text() + "My line.\n")
    with pytest.raises(StaleError):
        queue.accept_candidate(place, waits.id)
    assert one.path.read_text().endswith("My line.\n")
    one.path.unlink()
    with pytest.raises(StaleError):
        queue.accept_candidate(place, waits.id)
    assert queue.list_pending(place)[0] == []


def test_quotes_that_stay_here_are_in_no_file_of_a_merge(place: ReviewPaths, make: Make) -> None:
    first = queue.accept_candidate(place, proposed(place, make()).id, quotes="local")
    second = queue.accept_candidate(
        place, proposed(place, make(title="Pin the port to 5433", body="`a.py`", turn="t2")).id
    )
    assert first.path and second.path
    one, two = (place.store().load(Path(path))[0] for path in (first.path, second.path))
    both = replace(one.record, evidence=(*one.record.evidence, *two.record.evidence))
    assert queue.accept_candidate(place, suggested(place, "merge", (one, two), both).id).ok
    assert not any("no: " in text for text in files(place).values())
    kept = place.store().load_by_id(one.record.id).record
    assert {item.quote for item in kept.evidence} == {"no: Use uv, not pip", "no: Pin the port to 5433"}
    assert all(isinstance(item, Evidence) for item in kept.evidence)


def test_what_a_memory_replies_to_is_in_no_file_if_quotes_stay_here(place: ReviewPaths, make: Make) -> None:
    choices: tuple[tuple[str, QuoteChoice | None], ...] = (("t1", "local"), ("t2", None))
    for turn, quotes in choices:
        body = f"It must stay off. In reply to: “The uploader retries {turn}.” The agent changed `a.py`."
        queue.accept_candidate(place, proposed(place, make("It must stay off", body, turn)).id, quotes=quotes)
    assert "It must stay off. The agent changed `a.py`." in "".join(files(place).values())
    assert not any("uploader" in text for text in files(place).values())


def test_the_error_and_the_cause_that_a_memory_tells_of_are_in_no_file_if_quotes_stay_here(
    place: ReviewPaths, make: Make
) -> None:
    passed = "The same command passed after `a.py` was changed."
    bodies = (
        f"`pytest` failed 2 times with “TypeError: no “a” and 3.”. {passed} "
        "Said of the cause then: “The issue is that `parse` returns “a”.”",
        "`npm ci` failed with “TypeError: no lock” after `lock` was written into `a.json`. It passed without it.",
        "`pytest` met “TypeError: never again” in more than one session, and each of them spent time on it.",
        f"`make` failed with “TypeError: no file “a”. Ask TypeError”. {passed}",
        f"`tox` failed with “TypeError: no file “a and much mo…”. {passed}",
    )
    for number, body in enumerate(bodies):
        proposal = proposed(place, make(f"What failed with part {number}", body, f"t{number}"))
        queue.accept_candidate(place, proposal.id, quotes="local")
    told = "\n".join(files(place).values())
    assert "TypeError" not in told and "The issue" not in told
    assert f"`pytest` failed 2 times. {passed}\n" in told
    assert f"`make` failed. {passed}\n" in told and f"`tox` failed. {passed}\n" in told
    assert "`npm ci` failed after `lock` was written into `a.json`. It passed without it." in told
    assert "`pytest` met the same error in more than one session, and each of them" in told
