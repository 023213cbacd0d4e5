"""A disk that is full or closed at any write of a step: the step is refused or done, and nobody's words are lost."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lerim.errors import LerimError
from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from long import LONG
from rights import bound

Make = Callable[..., Candidate]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
DONE, REFUSED = 0, 3
LIMITS = (0, 1, 64, 256, 700, 1024, 2048, 4096, 8192, 16384, 20480, 24576, 28672, 32768, 40960, 49152, 65536, 1 << 20)
LIMITS = LIMITS if LONG else LIMITS[1::2]


def in_full_child(work: Callable[[], object], limit: int) -> int:
    """Run `work` in a child whose writes fail beyond `limit` bytes of a file; DONE, or REFUSED for an error of ours."""
    import resource
    import signal

    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        work()
        os._exit(DONE)
    except LerimError as error:
        os._exit(REFUSED if error.where and error.todo else 1)
    except BaseException:
        os._exit(1)


def proposed(place: ReviewPaths, candidate: Candidate) -> queue.Proposal:
    outcome = queue.propose_candidate(place, candidate)
    assert isinstance(outcome, queue.CandidateProposed), outcome
    return outcome.proposal


def leftovers(place: ReviewPaths) -> list[Path]:
    return [path for folder in (place.project.lerim_dir, place.private) for path in folder.rglob("*.tmp")]


def waiting(place: ReviewPaths) -> list[str]:
    found, problems, _ = queue.list_pending(place)
    assert problems == []
    return [one.id for one in found]


@forks
@pytest.mark.parametrize("quotes", ["shared", "local"])
def test_an_accept_without_space_is_refused_and_works_with_it(
    place: ReviewPaths, make: Make, quotes: queue.QuoteChoice
) -> None:
    outcomes = set()
    for number, limit in enumerate(LIMITS):
        said = (Evidence("no: use it", f"t{number}", "user"), Evidence("x" * 200, f"t{number}", "user"))
        candidate = make(title=f"Name it number{number}", body=f"`f{number}.py`", turn=f"t{number}", evidence=said)
        one = proposed(place, candidate)
        code = in_full_child(lambda found=one.id: queue.accept_candidate(place, found, quotes=quotes), limit)  # type: ignore[misc]
        outcomes.add(code)
        memory = place.store().path_of(one.id)
        assert one.path.exists() or memory is not None
        if code == DONE:
            assert waiting(place) == [] and memory is not None
        assert queue.accept_candidate(place, one.id, quotes=quotes).ok
        assert place.store().load_by_id(one.id).record.evidence == said
        assert not one.path.exists() and leftovers(place) == []
    assert outcomes == {DONE, REFUSED}


@forks
def test_a_change_without_space_leaves_the_memory_whole(place: ReviewPaths, make: Make) -> None:
    outcomes = set()
    body = "Installs go through `uv pip sync --jobs 5 requirements.lock`."
    memory = Path(queue.accept_candidate(place, proposed(place, make(body=body)).id, quotes="local").path or "")
    for number, limit in enumerate(LIMITS):
        memory.write_text(memory.read_text().partition("My line")[0] + f"My line {number}.\n")
        mine = memory.read_bytes()
        newer = body.replace("5", str(10 + number))
        one = proposed(place, make(body=newer, turn=f"t{number}", minutes=5 + number))
        choice = queue.NeighbourChoice("changes", memory.stem)
        code = in_full_child(lambda found=one.id, to=choice: queue.accept_candidate(place, found, choice=to), limit)  # type: ignore[misc]
        outcomes.add(code)
        assert f"My line {number}." in memory.read_text()
        if memory.read_bytes() == mine:
            assert code == REFUSED
        assert queue.accept_candidate(place, one.id, choice=choice).ok
        assert f"--jobs {10 + number} " in memory.read_text() and f"My line {number}." in memory.read_text()
        assert waiting(place) == [] and leftovers(place) == []
    assert outcomes == {DONE, REFUSED}


@forks
@pytest.mark.parametrize("step", ["edit", "reject", "undo"])
def test_the_other_steps_without_space_are_refused_or_done(place: ReviewPaths, make: Make, step: str) -> None:
    outcomes = set()
    for number, limit in enumerate(LIMITS):
        one = proposed(place, make(title=f"Name it number{number}", body=f"`f{number}.py`", turn=f"t{number}"))
        words = queue.CandidateEdit("My title", "My words. " * 100, ())
        done = queue.accept_candidate(place, one.id, words, quotes="shared") if step == "undo" else None
        kept = Path(done.path or "").read_bytes() if done else one.path.read_bytes()

        def act(found: str = one.id, words: queue.CandidateEdit = words) -> object:
            if step == "edit":
                return queue.edit_candidate(place, found, words)
            return queue.reject_candidate(place, found) if step == "reject" else queue.undo_last(place)

        code = in_full_child(act, limit)
        outcomes.add(code)
        memory = place.store().path_of(one.id)
        assert one.path.exists() or memory is not None or step == "reject"
        if code == REFUSED and step == "edit":
            assert waiting(place) == [one.id]
        if code == REFUSED and step == "undo" and memory is not None:
            assert memory.read_bytes() == kept
        if step == "undo":
            queue.undo_last(place, done.action if done else None)
            assert waiting(place) == [one.id] and place.store().path_of(one.id) is None
        queue.reject_candidate(place, one.id)
        assert waiting(place) == [] and leftovers(place) == []
    assert outcomes == {DONE, REFUSED}


@forks
def test_a_proposal_without_space_is_made_by_the_next_sync(place: ReviewPaths, make: Make) -> None:
    queue.reject_candidate(place, proposed(place, make()).id)
    outcomes = set()
    for number, limit in enumerate(LIMITS):
        one = make(title=f"Name it number{number}", body=f"`f{number}.py`", turn=f"t{number}")
        outcomes.add(in_full_child(lambda one=one: queue.propose_candidate(place, one), limit))  # type: ignore[misc]
        queue.propose_candidate(place, one)
        assert [found.record.title for found in queue.list_pending(place)[0]].count(one.title) == 1
    assert outcomes == {DONE, REFUSED} and len(waiting(place)) == len(LIMITS)


@pytest.mark.parametrize("closed", ["memory", "review", "private"])
def test_in_a_closed_folder_a_step_is_refused_and_changes_nothing(place: ReviewPaths, make: Make, closed: str) -> None:
    first = Path(queue.accept_candidate(place, proposed(place, make()).id, quotes="local").path or "")
    one = proposed(place, make(title="Name it", body="`f.py`", turn="t1"))
    folders = {"memory": first.parent, "review": place.review, "private": place.private / "quotes"}
    before = one.path.read_bytes()
    folders[closed].chmod(0o555)
    try:
        with bound(), pytest.raises(LerimError) as caught:
            queue.accept_candidate(place, one.id)
        assert caught.value.where and caught.value.todo
        assert one.path.read_bytes() == before
        assert place.store().path_of(one.id) is None and not place.store().quotes.path_for(one.id).exists()
        assert waiting(place) == [one.id]
    finally:
        folders[closed].chmod(0o755)
    assert queue.accept_candidate(place, one.id).ok
