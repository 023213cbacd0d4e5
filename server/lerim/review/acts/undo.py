"""Undoes the last action, or one given by its id."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, islice
from typing import Literal

import msgspec

from lerim import files
from lerim.errors import LerimError, StaleError
from lerim.memory import Uses
from lerim.review import actions
from lerim.review.accepting import record_kept, withdraw_archiving
from lerim.review.acts.conflict_merge import find_merged_file
from lerim.review.ledger import Action, ActionKind, Ledger
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths

MAX_LISTED = 20
_FORMER_TEXT = "It has its former text again"
_AFTER_UNDO: dict[ActionKind, str] = {
    "accept": "It waits for review again",
    "settle": "It waits for review again",
    "reject": "It waits for review again",
    "propose": "It is left out again",
    "edit": _FORMER_TEXT,
    "change": _FORMER_TEXT,
    "kind": "It has its former kind again",
    "verify": "It is no longer marked as still true",
    "add": "It is removed again",
    "promote": "It is removed, and the question is open again",
    "globalize": "It is no longer among your personal memories",
    "archive": "It is active again",
    "restore": "It is inactive again",
    "delete": "It exists again",
}
"""The text for what is true after an action of each kind was undone. For feedback, the text is made from the
action's label; for other kinds that are not listed, the label is shown."""


class StepView(msgspec.Struct, frozen=True):
    """An action in the undo list. `state` is `changed` if it cannot be undone because one of its files has changed
    since or git lists it as merged."""

    action: str
    label: str
    time: str
    state: Literal["done", "changed", "undone"]


def undo_last(paths: ReviewPaths, action: str | None = None) -> ReviewResult:
    """Undoes an action, given by its id or a unique prefix of it; by default the last one.

    Raises StaleError, with the diff, if its files have changed since. From then on, undo without an id skips this
    action and takes the one before it, until the files have again the texts that the action left.
    """
    with actions.locked_ledger(paths) as ledger:
        action = ledger.complete_action_id(action) if action else None
        if action and (members := ledger.list_bulk(action)):
            return _undo_bulk(paths, ledger, action, members)
        actions.require_finished(paths, ledger, lambda one: one.id == action if action else one.stage == "undoing")
        target = ledger.find_action(action) if action else _last(paths, ledger)
        if action is None and target is not None and (bulk := _bulk_of(target)):
            return _undo_bulk(paths, ledger, bulk, ledger.list_bulk(bulk))
        if target is None:
            return ReviewResult(False, "nothing", "There is no such action." if action else "There is nothing to undo.")
        if target.stage == "undone":
            return ReviewResult(True, "already", "Already undone.", target.id)
        _undo_one(paths, ledger, target)
        path = next((change.path for change in target.changes if change.before is not None), None)
        return ReviewResult(
            True, "undone", _describe_undone(target), target.id, path, waiting=_restored_candidates([target])
        )


def _describe_undone(action: Action) -> str:
    done, _, title = action.label.partition(": ")
    now = f"It is no longer {done[:1].lower()}{done[1:]}" if action.kind == "feedback" else _AFTER_UNDO.get(action.kind)
    return f"Undone. {now}: {title}" if title and now else f"Undone: {action.label}"


def _undo_one(paths: ReviewPaths, ledger: Ledger, target: Action) -> None:
    try:
        _check_merged(paths, target)
        actions.undo_action(paths, ledger, target)
    except LerimError as error:
        if not _changed(paths, target):
            raise
        ledger.pass_over(target)
        ledger.commit()
        raise StaleError(
            f"“{target.label}” cannot be undone: {error.message}",
            where=error.where,
            todo=f"{error.todo} Undo again to take back the action before it.",
            diff=error.diff,
        ) from error
    if target.kind == "feedback":
        Uses(paths.private).delete_last_feedback(target.memory)
        for change in target.changes:
            withdraw_archiving(paths, ledger, target.memory, text=files.hash_text(change.after or ""))
    elif target.memory:
        record_kept(paths, target.memory)


def _undo_bulk(paths: ReviewPaths, ledger: Ledger, bulk: str, members: Sequence[Action]) -> ReviewResult:
    """Undoes the actions of a bulk that are done, the newest first. An action whose files have changed since does
    not stop the others. If none could be undone, the error of the first one is raised."""
    undone: list[Action] = []
    failed: list[StaleError] = []
    done = [one for one in members if one.stage == "done"]
    if not done:
        return ReviewResult(True, "already", "Already undone.", bulk)
    for member in done:
        try:
            _undo_one(paths, ledger, member)
        except StaleError as error:
            failed.append(error)
        else:
            undone.append(member)
    if failed and not undone:
        raise failed[0]
    count = len(undone)
    message = f"Undone. {count} candidate{' waits' if count == 1 else 's wait'} for review again"
    if failed:
        message += f". {failed[0].message}"
    if len(failed) > 1:
        message += f" {len(failed) - 1} more could not be undone."
    return ReviewResult(True, "undone", message, bulk, waiting=_restored_candidates(undone[::-1]))


def _bulk_of(action: Action) -> str:
    return action.id.rpartition(".")[0]


def _describe_bulk(members: Sequence[Action]) -> str:
    verb = "Rejected" if all(one.kind == "reject" for one in members) else "Accepted"
    return f"{verb} {len(members)} candidate{'' if len(members) == 1 else 's'}"


def _restored_candidates(undone: Sequence[Action]) -> tuple[str, ...]:
    return tuple(one.candidate for one in undone if one.candidate and one.state_before == "pending")


def undo_auto_accept(paths: ReviewPaths, ledger: Ledger, turn: str, title: str = "") -> None:
    """Undoes the automatic accepts of claims that come from this turn (its id) and, if a title is given, have this
    title. The caller already holds the ledger. The candidates wait again. An accept whose files were changed since
    is not undone. Raises MemoryError_."""
    claims = {one.id for one in ledger.claims("accepted") if ledger.is_claim_of(one, turn, title)}
    for step in list(ledger.list_actions("done")) if claims else ():
        if step.kind == "settle" and step.candidate in claims and not _changed(paths, step):
            with suppress(StaleError):  # changed just now
                actions.undo_action(paths, ledger, step)


def find_undoable(paths: ReviewPaths) -> Action | None:
    """Returns the action that `undo_last` without an id would undo; for a bulk, the last one with the bulk's id and
    label."""
    with paths.open_ledger_if_any() as ledger:
        last = _last(paths, ledger) if ledger is not None else None
        if ledger is None or last is None or not (bulk := _bulk_of(last)):
            return last
        return replace(
            last, id=bulk, label=_describe_bulk([one for one in ledger.list_bulk(bulk) if one.stage == "done"])
        )


def list_steps(paths: ReviewPaths) -> list[StepView]:
    """Returns the latest `MAX_LISTED` actions, the newest first; a bulk counts as one action. Raises MemoryError_."""
    with paths.open_ledger_if_any() as ledger:
        actions_done = ledger.list_actions("done", "undone") if ledger is not None else ()
        steps = groupby(actions_done, lambda one: _bulk_of(one) or one.id)
        return [_make_step(paths, name, list(members)) for name, members in islice(steps, MAX_LISTED)]


def _make_step(paths: ReviewPaths, name: str, members: Sequence[Action]) -> StepView:
    done = [one for one in members if one.stage == "done"]
    label = _describe_bulk(done or members) if _bulk_of(members[0]) else members[0].label
    if not done:
        return StepView(name, label, members[0].time, "undone")
    return StepView(name, label, members[0].time, "changed" if all(_changed(paths, one) for one in done) else "done")


def _check_merged(paths: ReviewPaths, action: Action) -> None:
    """Raises StaleError if undo would restore git's conflict markers in a file that git lists as merged."""
    merged = find_merged_file(paths, action.changes)
    if merged is not None:
        message = f"git has merged it, and undoing would write the conflict markers into {merged.name} again."
        raise StaleError(message, where=str(merged), todo="Change the file by hand.")


def _last(paths: ReviewPaths, ledger: Ledger) -> Action | None:
    """Returns the last action that is not undone. A skipped action counts again once its files are as it left them."""
    passed = set(ledger.passed_over_ids())
    return next((one for one in ledger.list_actions("done") if one.id not in passed or not _changed(paths, one)), None)


def _changed(paths: ReviewPaths, action: Action) -> bool:
    try:
        return find_merged_file(paths, action.changes) is not None or any(
            actions.read_current_text(change) != change.after for change in action.changes
        )
    except LerimError:
        return True
