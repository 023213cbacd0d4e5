"""Taking back what was done: the last step, or one that is named."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import Literal

import msgspec

from lerim import files
from lerim.errors import LerimError, StaleError
from lerim.memory import Uses
from lerim.review import actions
from lerim.review.accepting import note_kept, withdraw_archiving
from lerim.review.acts.conflict_merge import find_merged_file
from lerim.review.ledger import Action, Ledger, open_ledger
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths

LISTED = 20


class StepView(msgspec.Struct, frozen=True):
    """Something that was done. `state`: `done`; `changed` where a file of it is otherwise by now, or merged for git, so
    that it cannot be taken back; `undone`."""

    action: str
    label: str
    time: str
    state: Literal["done", "changed", "undone"]


def undo_last(place: ReviewPaths, action: str | None = None) -> ReviewResult:
    """Take back a step, by its id or a beginning that no other has; the last one by default.

    Raises StaleError, with the difference, if its files changed; plain undo then goes on to the step before it, until
    its files are again as it left them.
    """
    with actions.locked_ledger(place) as book:
        action = book.named(action) if action else None
        actions.require_finished(place, book, lambda one: one.id == action if action else one.stage == "undoing")
        found = book.action(action) if action else _last(place, book)
        if found is None:
            known = "There is no such action; `lerim review undo --list` shows the last ones."
            message = known if action else "There is nothing to undo."
            return ReviewResult(False, "nothing", message)
        if found.stage == "undone":
            return ReviewResult(True, "already", "It was undone before.", found.id)
        try:
            _check_merged(place, found)
            actions.undo_action(place, book, found)
        except StaleError as error:
            book.pass_over(found)
            book.commit()
            raise StaleError(
                f"“{found.label}” cannot be undone: {error.message}",
                where=error.where,
                todo=f"{error.todo} The next undo takes the action before it; `lerim review undo {found.id}` tries "
                "this one again.",
                diff=error.diff,
            ) from error
        if found.kind == "feedback":
            Uses(place.private).delete_last_feedback(found.memory)
            for change in found.changes:
                withdraw_archiving(place, book, found.memory, text=files.hash_text(change.after or ""))
        elif found.memory:
            note_kept(place, found.memory)
        path = next((change.path for change in found.changes if change.before is not None), None)
        return ReviewResult(True, "undone", f"Undone: {found.label}", found.id, path)


def undo_auto_accept(place: ReviewPaths, book: Ledger, turn: str) -> None:
    """Undo what was accepted unseen of a claim that rests on this turn (its id), for who holds the ledger: its
    candidate waits again. What was changed since stays as it is. Raises MemoryError_."""
    claims = {one.id for one in book.claims("accepted") if one.source.rpartition("#")[2] == turn}
    for step in list(book.steps("done")) if claims else ():
        if step.kind == "settle" and step.candidate in claims:
            with suppress(StaleError):
                actions.undo_action(place, book, step)


def find_undoable(place: ReviewPaths) -> Action | None:
    """What plain `undo_last` would take back."""
    if files.is_absent(place.private / "review.sqlite3"):
        return None
    with open_ledger(place.private, place.moves) as book:
        return _last(place, book)


def list_steps(place: ReviewPaths) -> list[StepView]:
    """The last steps, the newest first. Raises MemoryError_ where the ledger cannot be used."""
    if files.is_absent(place.private / "review.sqlite3"):
        return []
    with open_ledger(place.private, place.moves) as book:
        return [_view(place, one) for one in islice(book.steps("done", "undone"), LISTED)]


def _view(place: ReviewPaths, one: Action) -> StepView:
    if one.stage == "undone":
        return StepView(one.id, one.label, one.time, "undone")
    return StepView(one.id, one.label, one.time, "changed" if _changed(place, one) else "done")


def _check_merged(place: ReviewPaths, action: Action) -> None:
    """Raises StaleError where taking a step back would write git's conflict markers into a file git has as merged."""
    merged = find_merged_file(place, action.changes)
    if merged is not None:
        message = f"git has merged it, and undoing would write the conflict markers into {merged.name} again."
        raise StaleError(message, where=str(merged), todo="Change the file by hand.")


def _last(place: ReviewPaths, book: Ledger) -> Action | None:
    """The last step that was not undone; one that was passed over counts when its files are as it left them."""
    passed = set(book.passed())
    return next((one for one in book.steps("done") if one.id not in passed or not _changed(place, one)), None)


def _changed(place: ReviewPaths, action: Action) -> bool:
    """Whether a file of a step is not as it left it, or cannot be read, or git has it as merged by now."""
    try:
        return find_merged_file(place, action.changes) is not None or any(
            actions.read_current_text(change) != change.after for change in action.changes
        )
    except LerimError:
        return True
