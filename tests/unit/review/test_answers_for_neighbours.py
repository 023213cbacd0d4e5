"""What a candidate is to the memories near it: what its words suggest, what a person answers, and taking it back."""

import pytest

from lerim.errors import MemoryError_, StaleError
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from lerim.review.views import candidate_view
from reviews import Make, accepted, proposed, remembered, suggested

UV = ("Install packages with uv", "Installs go through `uv pip sync requirements.lock`.")


def files(place: ReviewPaths) -> dict[str, bytes]:
    """Everything that accepting may change, but what counts uses."""
    memory, review, quotes = place.project.memory_dir, place.review, place.private / "quotes"
    return {str(one): one.read_bytes() for root in (memory, review, quotes) for one in root.rglob("*") if one.is_file()}


def test_only_the_same_text_is_nothing_new_and_any_other_an_addition_that_shows_its_neighbour(
    place: ReviewPaths, make: Make
) -> None:
    path = accepted(place, make(*UV))
    before = path.read_bytes()
    for title, body in (UV, ("install packages with **uv**.", UV[1]), (f"  {UV[0].upper()}!", f"{UV[1]}\n")):
        again = queue.propose_candidate(place, make(title, body, turn=f"t{title}", minutes=5))
        assert isinstance(again, queue.AlreadyKnown) and again.id == path.stem
    assert path.read_bytes() == before
    said = [one.turn for one in place.store().load_by_id(path.stem).record.evidence]
    assert said == ["0a1b2c3d4e5f", f"t{UV[0]}", "tinstall packages with **uv**."], "three at most"
    for title, body in (
        ("Never install packages with uv", UV[1]),
        (UV[0], "Installs go through `uv pip sync dev.lock`."),
        (UV[0], "Installs go through `UV pip sync requirements.lock`."),
        ("Install packages with pip", UV[1]),
    ):
        found = proposed(place, make(title, body, turn=f"{title} {body}", minutes=5))
        assert (found.action, found.targets) == ("add", ())
        view = candidate_view(found)
        assert [one.id for one in view.neighbours] == [path.stem] and 0 < view.neighbours[0].similarity <= 1
        assert view.suggested is None


def test_what_the_agent_did_about_them_makes_no_claims_similar(place: ReviewPaths, make: Make) -> None:
    accepted(place, make("Weights are whole grams", "The agent changed `src/weights.py`; `pytest -q` then passed."))
    done = "The agent changed `src/worker.py` and `src/store.py`; `pytest -q` then passed."
    assert candidate_view(proposed(place, make("Use WAL mode", done, turn="t2", minutes=5))).neighbours == []


@pytest.mark.parametrize(
    ("title", "more"),
    [
        ("Install packages with uv instead of pip", {}),
        ("Install packages with uv", {"replaces": ("pip",)}),
        ("Install packages with uv", {"body": "We switched from pip to uv."}),
        ("We no longer use pip for packages", {}),
        ("Packages: pip is replaced by uv", {}),
        ("Switch from pip to uv for packages", {}),
    ],
)
def test_what_says_that_something_is_given_up_suggests_to_replace_the_memory_that_names_it(
    place: ReviewPaths, make: Make, title: str, more: dict[str, object]
) -> None:
    old = accepted(place, make("Install packages with pip", ""))
    found = proposed(place, make(title, **{"body": "", "turn": "t2", "minutes": 5, **more}))
    view = candidate_view(found).suggested
    assert view is not None and (view.answer, view.memory, view.by) == ("replaces", old.stem, "claim")
    assert "pip" in view.reason
    assert queue.accept_candidate(place, found.id).ok and place.store().load_by_id(old.stem).status == "superseded"


@pytest.mark.parametrize(
    ("memory", "title", "minutes"),
    [
        ("Install packages with pip", "We do not drop pip for packages", 5),
        ("Install packages with pip", "Never replace pip for packages", 5),
        ("Install packages with pip", "Packages come from uv instead of pip", -5),
        ("Install packages with uv, not pip", "Packages come from uv instead of pip", 5),
        ("Support Windows 10 and later", "Windows 7 is no longer supported", 5),
    ],
)
def test_neither_what_is_not_given_up_nor_a_later_turn_or_a_memory_that_says_it_too_is_replaced(
    place: ReviewPaths, make: Make, memory: str, title: str, minutes: int
) -> None:
    accepted(place, make(memory, ""))
    found = proposed(place, make(title, "", turn="t2", minutes=minutes))
    assert found.action == "add" and found.neighbours


def test_only_a_question_is_answered(place: ReviewPaths, make: Make) -> None:
    decided = accepted(place, make(*UV))
    found = proposed(place, make("The tool that installs packages is uv", "It locks.", turn="t2", minutes=5))
    before = files(place)
    with pytest.raises(MemoryError_, match="not a question"):
        queue.accept_candidate(place, found.id, choice=queue.NeighbourChoice("answers", decided.stem))
    assert files(place) == before


@pytest.mark.parametrize("answer", ["same", "replaces", "changes", "answers", "keep"])
def test_each_answer_does_what_it_says_and_is_taken_back_exactly(
    place: ReviewPaths, make: Make, answer: queue.NeighbourAnswer
) -> None:
    asked = make("Which tool installs packages?", "", primitive="question")
    old = accepted(place, asked if answer == "answers" else make(UV[0], ""))
    found = proposed(place, make("The tool that installs packages is uv", "It locks.", turn="t2", minutes=5))
    before = files(place)
    done = queue.accept_candidate(place, found.id, choice=queue.NeighbourChoice(answer, old.stem))
    store = place.store()
    stored = store.load_by_id(old.stem)
    assert done.ok and queue.list_pending(place)[0] == []
    match answer:
        case "same":
            assert done.code == "known" and store.path_of(found.id) is None
            assert [one.turn for one in stored.record.evidence] == ["0a1b2c3d4e5f", "t2"]
        case "changes":
            assert stored.record.title == "The tool that installs packages is uv" and "It locks." in stored.record.body
            assert store.path_of(found.id) is None
        case "replaces":
            assert (stored.status, stored.record.superseded_by) == ("superseded", found.id)
        case "answers":
            assert (stored.status, stored.record.resolved_by) == ("resolved", found.id)
        case "keep":
            assert stored.status == "active" and store.load_by_id(found.id).status == "active"
    assert queue.undo_last(place, done.action).ok and files(place) == before
    shown = queue.with_neighbours(place, queue.list_pending(place)[0])
    assert [one.stored.record.id for one in shown[0].neighbours] == [old.stem], "it can be chosen again"


@pytest.mark.parametrize("edit", [None, queue.CandidateEdit("Retry each upload 5 times")])
def test_without_another_text_a_change_keeps_the_sentences_a_person_wrote(
    place: ReviewPaths, make: Make, edit: queue.CandidateEdit | None
) -> None:
    old = accepted(place, make("Retry uploads 3 times", "Each upload is retried 3 times."))
    old.write_text(old.read_text() + "\nMy own line.\n")
    found = proposed(place, make("Retry uploads 5 times", "Each upload is retried 5 times.", turn="t2", minutes=5))
    assert queue.accept_candidate(place, found.id, edit, choice=queue.NeighbourChoice("changes", old.stem)).ok
    body = place.store().load_by_id(old.stem).record.body
    assert body.startswith("Each upload is retried 5 times.") and body.endswith("My own line.")
    assert "3 times" not in body, "Lerim wrote that sentence"


def test_a_memory_that_is_not_as_it_was_shown_is_not_touched(place: ReviewPaths, make: Make) -> None:
    old = accepted(place, make(*UV))
    found = candidate_view(proposed(place, make("Install packages with uv, frozen", "", turn="t2", minutes=5)))
    choice = queue.NeighbourChoice("replaces", old.stem, found.neighbours[0].hash)
    old.write_text(old.read_text() + "\nMy own line.\n")
    before = files(place)
    with pytest.raises(StaleError):
        queue.accept_candidate(place, found.id, choice=choice)
    assert files(place) == before


def test_a_pair_that_was_answered_is_not_shown_again(place: ReviewPaths, make: Make) -> None:
    old = accepted(place, make(*UV))
    beside = make("Install packages with uv in CI too", "", turn="t2", minutes=5)
    kept = accepted(place, beside)
    assert queue.pairs_kept_apart(place) == {frozenset((old.stem, kept.stem))}
    other = proposed(place, make("In CI install with conda, not uv", "", turn="t2", minutes=5))
    assert {one.stored.path for one in other.neighbours} == {old, kept}, "another claim of that turn"
    queue.accept_candidate(place, other.id, choice=queue.NeighbourChoice("replaces", kept.stem))
    again = proposed(place, make(beside.title, "", turn="t3", minutes=30))
    assert [one.stored.record.id for one in again.neighbours] == [other.id]


def test_a_model_suggests_and_never_decides(place: ReviewPaths, make: Make) -> None:
    old = accepted(place, make(*UV))
    found = proposed(place, make("Packages are installed with uv", "", turn="t2", minutes=5))
    queue.suggest_answer(place, found.id, "same", old.stem, "Both name uv.")
    [waiting] = queue.list_pending(place)[0]
    view = candidate_view(waiting).suggested
    assert view is not None and (view.answer, view.memory, view.reason, view.by) == (
        *("same", old.stem),
        *("Both name uv.", "model"),
    )
    assert queue.auto_accept(place, waiting) is None, "it is not accepted automatically"
    assert queue.accept_candidate(place, found.id, choice=queue.NeighbourChoice("keep")).code == "accepted"


def test_there_is_nothing_to_choose_for_what_maintaining_proposes(place: ReviewPaths, make: Make) -> None:
    archiving = suggested(place, "archive", (remembered(place, make(*UV)),))
    with pytest.raises(MemoryError_):
        queue.accept_candidate(place, archiving.id, choice=queue.NeighbourChoice("keep"))
