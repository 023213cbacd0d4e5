"""What a person does to an accepted memory by hand: each act does what it says, touches no other byte, and can be taken
back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from by_hand import DECISION, NAME, files_of, over, put
from lerim.errors import MemoryError_, NotFoundError
from lerim.memory.record import Primitive, parse_record
from lerim.memory.uses import Uses
from lerim.memory.views import memory_view
from lerim.review import CandidateEdit, acts, merge_conflict, queue
from lerim.review.candidates import ACCEPTED_CONFIDENCE
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def question(place: ReviewPaths, name: str = "20260801-which") -> str:
    put(place, DECISION.replace("Use uv", "Which installer?"), "questions", name)
    return name


def theme(place: ReviewPaths) -> str:
    put(place, folder="themes")
    return NAME


def decision(place: ReviewPaths) -> str:
    put(place)
    return NAME


ACTS: dict[str, tuple[Callable[[ReviewPaths], str], Callable[[ReviewPaths, str], ReviewResult]]] = {
    "change": (
        decision,
        lambda place, one: acts.edit_memory(place, one, CandidateEdit("Use uv, never pip", "Fast.", ("new",))),
    ),
    "archive": (decision, acts.archive_memory),
    "restore": (over, acts.restore_memory),
    "kind": (decision, lambda place, one: acts.change_kind(place, one, "learning", "pitfall")),
    "delete": (theme, acts.delete_theme),
    "promote": (question, lambda place, one: acts.promote_question(place, one, "Use uv", "Because it is fast.")),
    "globalize": (decision, acts.globalize_memory),
    "verify": (decision, acts.verify_memory),
    "feedback": (decision, lambda place, one: acts.give_feedback(place, one, "wrong")),
}


@pytest.mark.parametrize("name", ACTS)
def test_every_act_is_one_action_and_its_undo_brings_back_every_byte_but_none_is_done_to_what_is_not_there(
    place: ReviewPaths, name: str
) -> None:
    prepare, act = ACTS[name]
    which = prepare(place)
    before = files_of(place)
    with pytest.raises(NotFoundError, match="20260101-nobody"):
        act(place, "20260101-nobody")
    assert files_of(place) == before
    result = act(place, which)
    assert (result.ok, result.code) == (True, name) and result.action
    assert files_of(place) != before
    assert place.store().find_files(archived=True)[1] == [], (
        "no id is there twice, nothing lies where it does not belong"
    )
    undone = queue.undo_last(place)
    assert (undone.ok, undone.action) == (True, result.action)
    assert files_of(place) == before


def test_an_edit_changes_the_lines_it_must_and_is_as_sure_as_a_person(place: ReviewPaths) -> None:
    path = put(place)
    acts.edit_memory(place, NAME, CandidateEdit("Use uv, never pip", DECISION.split("---\n")[2], ("packaging",)))
    before, after = DECISION.splitlines(), path.read_text().splitlines()
    changed = [line for line in before if line not in after]
    assert [line.split(":")[0] for line in changed] == ["title", "updated", "confidence"]
    record = parse_record(path.read_text(), path)
    assert (record.title, record.confidence) == ("Use uv, never pip", 0.95)
    assert record.updated.year > 2025 and record.body == parse_record(DECISION, path).body


def test_new_tags_alone_make_a_memory_no_surer_and_no_newer_and_still_true_makes_it_as_sure_as_accepting(
    place: ReviewPaths,
) -> None:
    path = put(place)
    assert acts.edit_memory(place, NAME, CandidateEdit(tags=("ci",), references=("./src\\app.py",))).ok
    old, new = parse_record(DECISION, path), parse_record(path.read_text(), path)
    assert (new.tags, new.references) == (("ci",), ("src/app.py",))
    assert (new.title, new.body, new.confidence, new.updated) == (old.title, old.body, old.confidence, old.updated)
    acts.give_feedback(place, NAME, "outdated")
    for _ in range(2):
        assert acts.verify_memory(place, NAME).ok
        assert parse_record(path.read_text(), path).confidence == ACCEPTED_CONFIDENCE


def test_what_is_sent_back_as_it_was_shown_changes_nothing(place: ReviewPaths) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = put(place, DECISION.replace("It is fast.", f"It is fast, {secret}").replace("\n", "\r\n"))
    shown = path.read_bytes()
    view = memory_view(place.store().load_by_id(NAME))
    assert secret not in view.body
    same = CandidateEdit(view.title, view.body.replace("\r\n", "\n"), tuple(view.tags))
    assert acts.edit_memory(place, NAME, same).code == "unchanged"
    assert path.read_bytes() == shown
    assert acts.edit_memory(place, NAME, CandidateEdit("x", "One.\n\nTwo.", ())).ok
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")


def test_a_memory_of_another_kind_keeps_its_id(place: ReviewPaths) -> None:
    put(place)
    assert acts.change_kind(place, NAME, "learning").ok
    stored = place.store().load_by_id(NAME)
    assert (stored.record.primitive, stored.record.kind, stored.path.parent.name) == (
        "learning",
        "insight",
        "learnings",
    )
    assert acts.change_kind(place, NAME, "learning", "pitfall").ok
    assert acts.change_kind(place, NAME, "learning").code == "unchanged"
    acts.change_kind(place, NAME, "question")
    acts.change_kind(place, NAME, "decision")
    assert acts.change_kind(place, NAME, "learning").ok
    assert place.store().load_by_id(NAME).record.kind == "pitfall", "it has the kind again that it had"
    acts.archive_memory(place, NAME)
    assert acts.change_kind(place, NAME, "theme").ok
    stored = place.store().load_by_id(NAME)
    assert (stored.record.kind, stored.status, stored.path.parent.name) == (None, "archived", "themes")
    with pytest.raises(MemoryError_, match="no kind"):
        acts.change_kind(place, NAME, "decision", "pitfall")


@pytest.mark.parametrize("primitive", ["decision", "learning", "theme"])
def test_nothing_but_a_question_is_ever_resolved(place: ReviewPaths, primitive: Primitive) -> None:
    asked = question(place)
    answer = Path(acts.promote_question(place, asked, "Use uv").path or "").stem
    before = files_of(place)
    with pytest.raises(MemoryError_, match=f"It is resolved, which a {primitive} cannot be") as refused:
        acts.change_kind(place, asked, primitive)
    assert "Restore it first" in refused.value.todo and files_of(place) == before
    assert acts.archive_memory(place, asked).message == "It is resolved already."
    acts.restore_memory(place, asked)
    assert acts.change_kind(place, asked, primitive).code == "kind"
    acts.archive_memory(place, answer)
    assert acts.change_kind(place, answer, "question").code == "kind"


def test_a_question_becomes_the_decision_that_resolves_it(place: ReviewPaths) -> None:
    name = question(place)
    made = Path(acts.promote_question(place, name, "Use uv", "Because it is fast.").path or "")
    new, old = place.store().load_by_id(made.stem), place.store().load_by_id(name)
    assert (new.record.primitive, new.record.resolves, new.record.source) == ("decision", (name,), "manual")
    assert (new.record.title, new.record.references) == ("Use uv", ("src/app.py#load", "README.md"))
    assert (old.status, old.record.resolved_by) == ("resolved", new.record.id)
    assert acts.repair_links(place).count == 0
    for one in (name, made.stem):
        with pytest.raises(MemoryError_, match="not an open question"):
            acts.promote_question(place, one)
    with pytest.raises(MemoryError_, match="needs a title"):
        acts.promote_question(place, question(place, "20260801-other"), "\u3000 \n")


def test_a_global_copy_stands_alone_and_the_projects_own_stays(place: ReviewPaths) -> None:
    path = put(place, DECISION.replace("source:", "related: [20260701-x]\nsource:"))
    before = path.read_bytes()
    copy = Path(acts.globalize_memory(place, NAME).path or "")
    record = place.personal().store().load_by_id(NAME).record
    assert copy.is_relative_to(place.home.memory) and path.read_bytes() == before
    assert (record.title, record.references, record.related) == ("Use uv", (), ())
    assert "reviewer: Ada" in copy.read_text()
    assert acts.globalize_memory(place, NAME).code == "already"
    assert (place.home.root / ".gitignore").read_text(encoding="utf-8") == "*\n"
    copy.write_text(copy.read_text().replace("fast", "slow"))
    second = Path(acts.globalize_memory(place, NAME).path or "")
    assert second != copy and place.personal().store().load_by_id(second.stem).record.body == record.body
    assert acts.globalize_memory(place, NAME).code == "already", "a third copy would say the same"


def test_a_moved_memory_is_the_persons_alone_until_it_is_undone(place: ReviewPaths) -> None:
    path = put(place)
    before = path.read_bytes()
    moved = acts.globalize_memory(place, NAME, move=True)
    assert (moved.code, path.exists()) == ("globalize", False) and "Moved" in moved.message
    assert place.personal().store().load_by_id(NAME).record.title == "Use uv"
    assert acts.undo_last(place).ok
    assert path.read_bytes() == before and place.personal().store().path_of(NAME) is None
    acts.globalize_memory(place, NAME)
    assert acts.globalize_memory(place, NAME, move=True).code == "globalize" and not path.exists()
    assert [one.record.id for one in place.personal().store().load_all()[0]] == [NAME], "the copy is not copied again"
    put(place, DECISION.replace("source:", "supersedes: [20260701-x]\nsource:"))
    with pytest.raises(MemoryError_, match="so it stays here"):
        acts.globalize_memory(place, NAME, move=True)


def test_what_people_think_moves_the_confidence_by_the_rule(place: ReviewPaths) -> None:
    path = put(place)
    done = acts.give_feedback(place, NAME, "outdated")
    assert parse_record(path.read_text(), path).confidence == 0.3
    assert done.message == "Marked as outdated: Use uv (confidence 60 %, now 30 %)"
    assert acts.undo_last(place).message == "Undone. It is no longer marked as outdated: Use uv"
    assert Uses(place.private).find_unwanted() == {}
    acts.give_feedback(place, NAME, "outdated")
    assert list(Uses(place.private).find_unwanted()) == [NAME]
    acts.edit_memory(place, NAME, CandidateEdit(body="uv is fast, and reads the lock file."))
    assert Uses(place.private).find_unwanted() == {}, "who changes it keeps it"
    acts.undo_last(place)
    acts.give_feedback(place, NAME, "useful")
    assert parse_record(path.read_text(), path).confidence == pytest.approx(0.5333)
    assert Uses(place.private).last_feedback()[NAME][0] == "useful"


def test_an_id_that_two_files_have_is_not_acted_on_and_one_memory_of_a_decision_and_a_learning_has_no_kind(
    place: ReviewPaths,
) -> None:
    put(place)
    put(place, DECISION.replace("source:", "kind: insight\nsource:").replace("10:00", "11:00"), "learnings")
    before = files_of(place)
    with pytest.raises(MemoryError_, match="Two files"):
        acts.archive_memory(place, NAME)
    assert files_of(place) == before
    kept = merge_conflict(place, place.store().paths_of(NAME)[0])
    assert kept.result is not None and kept.result.ok
    left = place.store().load_by_id(NAME)
    assert ("kind:" in left.path.read_text()) == (left.record.primitive == "learning")
    assert place.store().load_all(archived=True)[1] == []
