"""Doing and undoing: one action changes some files and one claim's state, wholly or not at all.

What will be done is written down first, then done in order, then ticked off. A kill in between is made good by
whoever holds the review lock next; nothing is written over a file that is not what the action saw.
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
from lerim.review.candidates import Proposal, redacted_diff
from lerim.review.comparing import RecordedAnswer
from lerim.review.ledger import Action, ActionKind, ClaimState, FileChange, JudgmentKind, Ledger, open_ledger
from lerim.review.review_paths import ReviewPaths

MAX_ANY_FILE = 4 * MAX_FILE_BYTES
_UNFINISHED = "An action was interrupted and could not be finished: {} The next action tries again."


@contextmanager
def locked_ledger(place: ReviewPaths) -> Iterator[Ledger]:
    """The project's ledger under the review lock, with whatever a killed process left undone made good.

    What cannot be made good stays unfinished, is tried again next time, and is told: `require_finished` and `pending`
    say it.
    """
    with place.lock(), open_ledger(place.private, place.moves) as book:
        files.sweep_leftovers(place.folders())
        stuck: list[Problem] = []
        for action in book.unfinished():
            try:
                _recover(place, book, action)
            except LerimError as error:
                stuck.append(Problem("unfinished", error.where, _UNFINISHED.format(error.explanation)))
        book.keep_stuck(stuck)
        book.commit()
        yield book


def require_finished(place: ReviewPaths, book: Ledger, concerned: Callable[[Action], bool]) -> None:
    """Raises what keeps one of these actions from its end, if one of them has not come to it."""
    for action in book.unfinished():
        if concerned(action):
            _recover(place, book, action)


def perform_action(
    place: ReviewPaths,
    book: Ledger,
    kind: ActionKind,
    label: str,
    candidate: str,
    states: tuple[ClaimState, ClaimState],
    changes: Sequence[FileChange],
    memory: str = "",
    judged: JudgmentKind | None = None,
    answered: RecordedAnswer | None = None,
) -> Action:
    """Change the files and the claim's state, in this order, and remember how to undo it. `judged` is what the person
    decided about the candidate by it, `answered` what they chose for memories near it; both count as long as this is
    not undone.

    Raises StaleError if a file is not what its change starts from, MemoryError_ if it cannot be written; then nothing
    was changed.
    """
    now = datetime.now(UTC)
    time = now.isoformat(timespec="seconds")
    action = Action(
        *(secrets.token_hex(6), kind, label, candidate, memory, *states),
        stage="started",
        time=time,
        changes=tuple(changes),
    )
    _check(changes)
    book.start(action)
    if judged is not None:
        book.judgments.keep(action.id, candidate, judged, now)
    if answered is not None:
        book.choices.keep(action.id, answered)
    book.commit()
    try:
        _apply(place, changes)
    except LerimError:
        book.set_stage(action, "reverting")
        with contextlib.suppress(LerimError):
            _recover(place, book, replace(action, stage="reverting"))
        book.commit()
        raise
    _finish(book, action)
    return action


def undo_action(place: ReviewPaths, book: Ledger, action: Action) -> None:
    """Put every file of the action back as it was. Raises StaleError, with the difference, if one changed since."""
    backwards = _backwards(action.changes)
    _check(backwards)
    book.set_stage(action, "undoing")
    book.commit()
    try:
        _apply(place, backwards)
    except LerimError:
        with contextlib.suppress(LerimError):
            _take_back(place, backwards)
            book.set_stage(action, "done")
        book.commit()
        raise
    _finish_undo(book, action)


def rewrite_candidate(
    place: ReviewPaths, book: Ledger, proposal: Proposal, changes: Mapping[str, HeaderValue], body: str | None = None
) -> None:
    """Change keys of a waiting candidate's file, or its text; it stays ours, and edits of it can still be undone.

    Raises StaleError if a person saved the file since the proposal was read, MemoryError_.
    """
    text = record.update_record_text(
        proposal.text, changes, body, str(proposal.path)
    )  # with an edit that came with the accept
    files.replace_file(proposal.path, text, anchor=place.state_anchor, before=proposal.saved)
    book.rewrote(proposal.id, str(proposal.path), proposal.saved, text)
    book.commit()


def _backwards(changes: Sequence[FileChange]) -> list[FileChange]:
    return [change.reversed() for change in reversed(changes)]


def _recover(place: ReviewPaths, book: Ledger, action: Action) -> None:
    """Take an unfinished action to its end. Raises what stands in its way; the action then stays unfinished."""
    if action.stage == "reverting":
        _take_back(place, action.changes)
        book.forget(action)
        book.commit()
        return
    undoing = action.stage == "undoing"
    changes = _backwards(action.changes) if undoing else list(action.changes)
    for number, change in enumerate(changes):
        try:
            _apply(place, [change])
        except StaleError:
            # Somebody changed this file meanwhile. It stays as it is, and so does the candidate, to be decided again.
            _take_back(place, changes[:number])
            book.set_stage(action, "done") if undoing else book.forget(action)
            book.commit()
            return
    _finish_undo(book, action) if undoing else _finish(book, action)


def _finish(book: Ledger, action: Action) -> None:
    if action.candidate:
        book.set_state(action.candidate, action.becomes, action.memory)
    book.set_stage(action, "done")
    book.commit()


def _finish_undo(book: Ledger, action: Action) -> None:
    if action.candidate:
        book.set_state(action.candidate, action.was)
    book.set_stage(action, "undone")
    book.judgments.take_back(action.id)
    book.choices.take_back(action.id)
    book.commit()


def _check(changes: Sequence[FileChange]) -> None:
    for change in changes:
        now = read_current_text(change)
        if now != change.before:
            raise _stale(change, now)


def _take_back(place: ReviewPaths, changes: Sequence[FileChange]) -> None:
    """Undo each of these changes that was done, the last first. A file that is otherwise now stays as it is."""
    for change in reversed(changes):
        if read_current_text(change) == change.after:
            _apply(place, [change.reversed()])


def _stale(change: FileChange, now: str | None) -> StaleError:
    name = Path(change.path).name
    return StaleError(
        f"{name} was {'changed' if now is not None else 'removed'} in the meantime; nothing was overwritten.",
        where=change.path,
        todo="Keep the file as it is, or change it by hand.",
        diff=redacted_diff(change.before or "", now or "", name),
    )


def _apply(place: ReviewPaths, changes: Sequence[FileChange]) -> None:
    for change in changes:
        now = read_current_text(change)
        if now == change.after:
            continue
        if now != change.before:
            raise _stale(change, now)
        try:
            _write(place, change)
        except StaleError as error:
            raise _stale(change, read_current_text(change)) from error


def _write(place: ReviewPaths, change: FileChange) -> None:
    path, anchor = Path(change.path), Path(change.anchor)
    if change.after is None:
        files.remove_file(path, anchor=anchor, before=change.before)
        return
    mode = 0o666
    if change.home == "memory":
        place.store().make_folder(path.parent)
    elif change.home == "global":
        mode = 0o600
        place.personal().store().make_folder(path.parent)
    elif change.home == "review":
        place.make_state()
        files.make_folder(path.parent, anchor=anchor)
    else:
        mode = 0o600
        place.make_private()
        files.make_folder(path.parent, 0o700)
    if change.before is not None:
        files.replace_file(path, change.after, mode, anchor=anchor, before=change.before)
    elif not files.create_file(path, change.after, mode, anchor=anchor):
        raise _stale(change, read_current_text(change))


def read_current_text(change: FileChange) -> str | None:
    """The text of the change's file now, None where it is gone. Raises MemoryError_, BoundaryError."""
    try:
        return files.read_text(Path(change.path), MAX_ANY_FILE, Path(change.anchor))
    except NotFoundError:
        return None
