"""Atomic actions: an action changes some files and the state of one claim, completely or not at all.

The ledger records an action before it starts and after it ends. If the process is killed in between, the next holder
of the review lock recovers it. A file that differs from what the action expects is never overwritten.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lerim import files
from lerim.errors import LerimError, NotFoundError, Problem, StaleError
from lerim.memory import MAX_FILE_BYTES, HeaderValue, record
from lerim.review.candidates import Proposal, parse_candidate, redacted_diff
from lerim.review.compare import RecordedAnswer
from lerim.review.ledger import Action, ActionKind, ClaimState, FileChange, JudgmentKind, Ledger
from lerim.review.review_paths import ReviewPaths

MAX_ANY_FILE = 4 * MAX_FILE_BYTES
_UNFINISHED = "An action was interrupted and could not be finished: {} The next action tries again."


@contextmanager
def locked_ledger(paths: ReviewPaths) -> Iterator[Ledger]:
    """Opens the project's ledger under the review lock, and recovers the actions that a killed process left unfinished.

    An action that cannot be recovered stays unfinished and is tried again next time. `require_finished` raises its
    error, and `queue.list_pending` lists it as a problem.
    """
    with paths.lock(), paths.open_ledger() as ledger:
        files.sweep_leftovers(paths.written_folders())
        stuck: list[Problem] = []
        for action in ledger.unfinished_actions():
            try:
                _recover(paths, ledger, action)
            except LerimError as error:
                stuck.append(Problem("unfinished", error.where, _UNFINISHED.format(error.explanation)))
        ledger.save_stuck_problems(stuck)
        ledger.commit()
        yield ledger


def require_finished(paths: ReviewPaths, ledger: Ledger, concerned: Callable[[Action], bool]) -> None:
    """Recovers the unfinished actions that match `concerned`. Raises the error that prevents this."""
    for action in ledger.unfinished_actions():
        if concerned(action):
            _recover(paths, ledger, action)


def perform_action(
    paths: ReviewPaths,
    ledger: Ledger,
    kind: ActionKind,
    label: str,
    candidate: str,
    states: tuple[ClaimState, ClaimState],
    changes: Sequence[FileChange],
    memory: str = "",
    judged: JudgmentKind | None = None,
    answered: RecordedAnswer | None = None,
    now: datetime | None = None,
    bulk: str = "",
) -> Action:
    """Changes the files, then the claim's state, and records how to undo both.

    `states` are the claim's state before and after. `judged` is the decision about the candidate that the ranking
    learns from, `answered` the person's answer about memories near it; undoing the action deletes both. `now` is the
    time of the action; the default is the current time. Actions with the same `bulk` id are undone together.

    Raises StaleError if a file does not have the text that its change starts from, MemoryError_ if it cannot be
    written; in both cases nothing was changed.
    """
    now = now or datetime.now(UTC)
    action = Action(
        *(make_action_id(bulk), kind, label, candidate, memory, *states),
        stage="started",
        time=now.isoformat(timespec="seconds"),
        changes=tuple(changes),
    )
    _check(changes)
    ledger.record_start(action)
    if judged is not None:
        ledger.judgments.add(action.id, candidate, judged, now)
    if answered is not None:
        ledger.choices.add(action.id, answered)
    ledger.commit()
    try:
        _apply(paths, changes)
    except LerimError:
        ledger.set_stage(action, "reverting")
        with contextlib.suppress(LerimError):
            _recover(paths, ledger, replace(action, stage="reverting"))
        ledger.commit()
        raise
    _finish(ledger, action)
    return action


def make_action_id(bulk: str = "") -> str:
    """Returns an id for a new action. The id of an action in a bulk begins with the id of the bulk and a dot."""
    return f"{bulk}.{secrets.token_hex(6)}" if bulk else secrets.token_hex(6)


def undo_action(paths: ReviewPaths, ledger: Ledger, action: Action) -> None:
    """Restores every file of the action. Raises StaleError, with the diff, if one of them has changed since."""
    backwards = _backwards(action.changes)
    _check(backwards)
    ledger.set_stage(action, "undoing")
    ledger.commit()
    try:
        _apply(paths, backwards)
    except LerimError:
        with contextlib.suppress(LerimError):
            _take_back(paths, backwards)
            ledger.set_stage(action, "done")
        ledger.commit()
        raise
    _finish_undo(ledger, action)


def write_candidate(paths: ReviewPaths, ledger: Ledger, candidate_id: str, text: str) -> Proposal:
    """Writes the file of a new candidate that was registered in the ledger. If the process is killed in between, the
    claim can be proposed again. Raises MemoryError_, BoundaryError."""
    ledger.commit()
    paths.make_state_folder()
    path = paths.candidate_path(candidate_id)
    files.make_folder(path.parent, anchor=paths.state_anchor)
    files.create_file(path, text, anchor=paths.state_anchor)
    return parse_candidate(text, path, paths.store())


def rewrite_candidate(
    paths: ReviewPaths, ledger: Ledger, proposal: Proposal, changes: Mapping[str, HeaderValue]
) -> None:
    """Changes keys of a waiting candidate's file. It does not count as edited by a person, and earlier edits can still
    be undone.

    Raises StaleError if a person saved the file since the proposal was read, MemoryError_.
    """
    # `proposal.text` may contain an edit that is not saved yet
    text = record.update_record_text(proposal.text, changes, where=str(proposal.path))
    files.replace_file(proposal.path, text, anchor=paths.state_anchor, before=proposal.saved_text)
    ledger.record_rewrite(proposal.id, str(proposal.path), proposal.saved_text, text)
    ledger.commit()


def _backwards(changes: Sequence[FileChange]) -> list[FileChange]:
    return [change.inverse() for change in reversed(changes)]


def _recover(paths: ReviewPaths, ledger: Ledger, action: Action) -> None:
    """Finishes or reverts an interrupted action. Raises LerimError if that fails; the action then stays unfinished."""
    if action.stage == "reverting":
        _take_back(paths, action.changes)
        ledger.discard_action(action)
        ledger.commit()
        return
    undoing = action.stage == "undoing"
    changes = _backwards(action.changes) if undoing else list(action.changes)
    for number, change in enumerate(changes):
        try:
            _apply(paths, [change])
        except StaleError:
            # Somebody changed this file in the meantime. It stays as it is, and the candidate waits again.
            _take_back(paths, changes[:number])
            ledger.set_stage(action, "done") if undoing else ledger.discard_action(action)
            ledger.commit()
            return
    _finish_undo(ledger, action) if undoing else _finish(ledger, action)


def _finish(ledger: Ledger, action: Action) -> None:
    if action.candidate:
        ledger.set_state(action.candidate, action.state_after, action.memory)
    ledger.set_stage(action, "done")
    ledger.commit()


def _finish_undo(ledger: Ledger, action: Action) -> None:
    if action.candidate:
        ledger.set_state(action.candidate, action.state_before)
    ledger.set_stage(action, "undone")
    ledger.judgments.delete(action.id)
    ledger.choices.delete(action.id)
    ledger.commit()


def _check(changes: Sequence[FileChange]) -> None:
    for change in changes:
        now = read_current_text(change)
        if now != change.before:
            raise _stale(change, now)


def _take_back(paths: ReviewPaths, changes: Sequence[FileChange]) -> None:
    """Reverts the changes that were already made, the last one first. Files that have changed since stay as they
    are."""
    for change in reversed(changes):
        if read_current_text(change) == change.after:
            _apply(paths, [change.inverse()])


def _stale(change: FileChange, now: str | None) -> StaleError:
    name = Path(change.path).name
    return StaleError(
        f"{name} was {'changed' if now is not None else 'removed'} in the meantime; nothing was overwritten.",
        where=change.path,
        todo="Keep the file as it is, or change it by hand.",
        diff=redacted_diff(change.before or "", now or "", name),
    )


def _apply(paths: ReviewPaths, changes: Sequence[FileChange]) -> None:
    for change in changes:
        now = read_current_text(change)
        if now == change.after:
            continue
        if now != change.before:
            raise _stale(change, now)
        try:
            _write(paths, change)
        except StaleError as error:
            raise _stale(change, read_current_text(change)) from error


def _write(paths: ReviewPaths, change: FileChange) -> None:
    path, anchor = Path(change.path), Path(change.anchor)
    if change.after is None:
        files.remove_file(path, anchor=anchor, before=change.before)
        return
    mode = 0o666
    if change.home == "memory":
        paths.store().make_folder(path.parent)
    elif change.home == "global":
        mode = 0o600
        paths.personal().store().make_folder(path.parent)
    elif change.home == "review":
        paths.make_state_folder()
        files.make_folder(path.parent, anchor=anchor)
    else:
        mode = 0o600
        paths.make_private_folder()
        files.make_folder(path.parent, 0o700)
    if change.before is not None:
        files.replace_file(path, change.after, mode, anchor=anchor, before=change.before)
    elif not files.create_file(path, change.after, mode, anchor=anchor):
        raise _stale(change, read_current_text(change))


def read_current_text(change: FileChange) -> str | None:
    """Returns the current text of the changed file; None if it does not exist. Raises MemoryError_, BoundaryError."""
    try:
        return files.read_text(Path(change.path), MAX_ANY_FILE, Path(change.anchor))
    except NotFoundError:
        return None
