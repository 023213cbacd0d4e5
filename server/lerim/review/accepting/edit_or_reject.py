"""Edits and rejects waiting candidates."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime

from lerim.errors import NotFoundError, StaleError
from lerim.memory import Store
from lerim.review import actions
from lerim.review.candidates import Proposal, apply_edit, load_candidate, parse_candidate
from lerim.review.decisions import CandidateEdit
from lerim.review.ledger import Action, FileChange, Ledger, LedgerClaim
from lerim.review.proposing import SUGGESTION_PREFIX
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def edit_candidate(paths: ReviewPaths, candidate_id: str, edit: CandidateEdit, *, seen: str = "") -> ReviewResult:
    """Changes a waiting candidate's words; its confidence becomes `PERSON_CONFIDENCE`. Raises NotFoundError,
    MemoryError_; for `seen`, see `check_seen`."""
    with actions.locked_ledger(paths) as ledger:
        store = paths.store()
        proposal = load_waiting(paths, load_claim(paths, ledger, candidate_id), store)
        check_seen(proposal, seen)
        text = apply_edit(proposal, edit)
        edited = parse_candidate(text, proposal.path, store)
        done = save_edit(paths, ledger, proposal, text)
        if done is None:
            return ReviewResult(True, "unchanged", "Nothing was changed.", path=str(proposal.path))
        return ReviewResult(True, "edited", f"Edited: {edited.record.title}", done.id, str(proposal.path))


def save_edit(
    paths: ReviewPaths, ledger: Ledger, proposal: Proposal, text: str, now: datetime | None = None
) -> Action | None:
    """Writes the edited text of a candidate as an action of its own and returns the action, or None if the text is
    the same. Raises StaleError, MemoryError_."""
    if text == proposal.text:
        return None
    change = FileChange("review", str(paths.state_anchor), str(proposal.path), proposal.text, text)
    label = f"Edited: {proposal.record.title}"
    return actions.perform_action(
        *(paths, ledger, "edit", label, proposal.id, ("pending", "pending"), [change]), judged="edited", now=now
    )


@dataclass(frozen=True, slots=True)
class HeldBulk:
    """Candidates that are decided together: the id by which they are undone together, and the ledger, whose lock is
    held for all of them."""

    id: str
    ledger: Ledger


def reject_candidate(
    paths: ReviewPaths, candidate_id: str, *, seen: str = "", bulk: HeldBulk | None = None
) -> ReviewResult:
    """Rejects a candidate, so that its claim is not proposed again. Raises NotFoundError, MemoryError_; for `seen`, see
    `check_seen`. The ranking does not learn from a rejection in a `bulk`."""
    with actions.locked_ledger(paths) if bulk is None else nullcontext(bulk.ledger) as ledger:
        known = load_claim(paths, ledger, candidate_id)
        if known.state == "rejected":
            return ReviewResult(True, "already", "It was rejected before.")
        proposal = load_waiting(paths, known, paths.store())
        check_seen(proposal, seen)
        change = FileChange("review", str(paths.state_anchor), str(proposal.path), proposal.text, None)
        label = f"Rejected: {proposal.record.title}"
        done = actions.perform_action(
            paths,
            ledger,
            "reject",
            label,
            known.id,
            ("pending", "rejected"),
            [change],
            judged=None if bulk else "rejected",
            bulk=bulk.id if bulk else "",
        )
        return ReviewResult(True, "rejected", label, done.id)


def check_seen(proposal: Proposal, seen: str) -> None:
    """Raises StaleError if the candidate's file no longer has the text that the person saw. `seen` is the text's hash
    (`Proposal.text_hash`), "" if it is not known."""
    if seen and seen != proposal.text_hash:
        raise StaleError(
            "This candidate has changed since it was shown. Nothing was changed.",
            where=str(proposal.path),
            todo="Read its new text, then decide again.",
        )


def load_claim(paths: ReviewPaths, ledger: Ledger, candidate_id: str) -> LedgerClaim:
    """Returns the ledger's entry of a candidate. Raises NotFoundError if there is none."""
    actions.require_finished(paths, ledger, lambda action: action.candidate == candidate_id)
    known = ledger.find_claim(candidate_id)
    if known is None:
        raise NotFoundError(
            f"There is no candidate {candidate_id[:80]!r}.", where=str(paths.review), todo="See `lerim review list`."
        )
    return known


def load_waiting(paths: ReviewPaths, known: LedgerClaim, store: Store) -> Proposal:
    """Returns the candidate of this claim. Raises NotFoundError if it no longer waits, MemoryError_, BoundaryError."""
    if known.state != "pending":
        # the note of a session's claim may contain words of the session
        why = f": {known.note}" if known.note and known.source.startswith(SUGGESTION_PREFIX) else ""
        message = f"This candidate was {known.state} before{why}."
        raise NotFoundError(message, where=str(paths.review), todo="Undo that first, or list the candidates again.")
    return load_candidate(paths, known.id, store)
