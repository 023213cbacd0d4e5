"""A disk that is full or closed at any write of a step: the step is refused or done, and nobody's words are lost."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lerim.errors import LerimError
from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from long import LONG
from reviews import Make, proposed, waiting
from rights import bound

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
DONE, REFUSED = 0, 3
EVERY = (
    0,
    1,
    64,
    256,
    700,
    1024,
    2048,
    4096,
    8192,
    16384,
    20480,
    24576,
    28672,
    32768,
    40960,
    49152,
    65536,
    1 << 20,
)
LIMITS = EVERY if LONG else EVERY[1::4]
InLittleSpace = Callable[..., int]


def in_little_space() -> Iterator[tuple[int, InLittleSpace]]:
    """For each limit a number, and what runs work in a child whose writes fail beyond so many bytes of a file: DONE,
    or REFUSED for an error of ours."""
    import resource
    import signal

    codes = set()
    for number, limit in enumerate(LIMITS):

        def run(work: Callable[..., object], *given: object, limit: int = limit, **named: object) -> int:
            pid = os.fork()
            if pid:
                codes.add(code := os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                return code
            try:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                work(*given, **named)
                os._exit(DONE)
            except LerimError as error:
                os._exit(REFUSED if error.where and error.todo else 1)
            except BaseException:
                os._exit(1)

        yield number, run
    assert codes == {DONE, REFUSED}


def leftovers(place: ReviewPaths) -> list[Path]:
    return [path for folder in (place.project.lerim_dir, place.private) for path in folder.rglob("*.tmp")]


def numbered(make: Make, number: int, **more: object) -> Candidate:
    return make(f"Name it number{number}", f"`f{number}.py`", f"t{number}", **more)


@forks
@pytest.mark.parametrize("quotes", ["shared", "local"])
def test_an_accept_without_space_is_refused_and_works_with_it(
    place: ReviewPaths, make: Make, quotes: queue.QuoteChoice
) -> None:
    for number, run in in_little_space():
        said = (Evidence("no: use it", f"t{number}", "user"), Evidence("x" * 200, f"t{number}", "user"))
        one = proposed(place, numbered(make, number, evidence=said))
        code = run(queue.accept_candidate, place, one.id, quotes=quotes)
        memory = place.store().path_of(one.id)
        assert one.path.exists() or memory is not None
        assert code != DONE or (waiting(place) == [] and memory is not None)
        assert queue.accept_candidate(place, one.id, quotes=quotes).ok
        assert place.store().load_by_id(one.id).record.evidence == said
        assert not one.path.exists() and leftovers(place) == []


@forks
def test_a_change_without_space_leaves_the_memory_whole(place: ReviewPaths, make: Make) -> None:
    body = "Installs go through `uv pip sync --jobs 5 requirements.lock`."
    memory = Path(queue.accept_candidate(place, proposed(place, make(body=body)).id, quotes="local").path or "")
    for number, run in in_little_space():
        memory.write_text(memory.read_text().partition("My line")[0] + f"My line {number}.\n")
        mine = memory.read_bytes()
        one = proposed(place, make(body=body.replace("5", str(10 + number)), turn=f"t{number}", minutes=5 + number))
        choice = queue.NeighbourChoice("changes", memory.stem)
        code = run(queue.accept_candidate, place, one.id, choice=choice)
        assert f"My line {number}." in memory.read_text()
        assert code == REFUSED or memory.read_bytes() != mine
        assert queue.accept_candidate(place, one.id, choice=choice).ok
        assert f"--jobs {10 + number} " in memory.read_text() and f"My line {number}." in memory.read_text()
        assert waiting(place) == [] and leftovers(place) == []


@forks
@pytest.mark.parametrize("step", ["edit", "reject", "undo"])
def test_the_other_steps_without_space_are_refused_or_done(place: ReviewPaths, make: Make, step: str) -> None:
    words = queue.CandidateEdit("My title", "My words. " * 100, ())
    for number, run in in_little_space():
        one = proposed(place, numbered(make, number))
        done = queue.accept_candidate(place, one.id, words, quotes="shared") if step == "undo" else None
        kept = Path(done.path or "").read_bytes() if done else b""
        if step == "edit":
            code = run(queue.edit_candidate, place, one.id, words)
        else:
            code = run(queue.undo_last, place) if done else run(queue.reject_candidate, place, one.id)
        memory = place.store().path_of(one.id)
        assert one.path.exists() or memory is not None or step == "reject"
        if code == REFUSED and step == "edit":
            assert waiting(place) == [one.record.title]
        if done:
            assert code == DONE or memory is None or memory.read_bytes() == kept
            queue.undo_last(place, done.action)
            assert waiting(place) == ["My title"] and place.store().path_of(one.id) is None
        queue.reject_candidate(place, one.id)
        assert waiting(place) == [] and leftovers(place) == []


@forks
def test_a_proposal_without_space_is_made_by_the_next_sync(place: ReviewPaths, make: Make) -> None:
    queue.reject_candidate(place, proposed(place, make()).id)
    for number, run in in_little_space():
        one = numbered(make, number)
        run(queue.propose_candidate, place, one)
        queue.propose_candidate(place, one)
        assert waiting(place).count(f"Name it number{number}") == 1


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
        assert waiting(place) == ["Name it"]
    finally:
        folders[closed].chmod(0o755)
    assert queue.accept_candidate(place, one.id).ok
