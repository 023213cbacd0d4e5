"""The review: candidates come in, wait, and are accepted, edited, rejected, withdrawn or taken back.

Candidates are inert: nothing outside this package reads them.
"""

from __future__ import annotations

from datetime import datetime

from lerim.errors import NotFoundError, Problem
from lerim.memory import files
from lerim.memory.quotes import QuoteChoice
from lerim.review import actions
from lerim.review.candidates import Edit, Proposal, Target, read, waiting
from lerim.review.decisions import accept, add, edit, reject, take_back
from lerim.review.judgments import correction
from lerim.review.ledger import State, opened
from lerim.review.outcome import AlreadyKnown, Blocked, Proposed, ReviewResult
from lerim.review.place import Place
from lerim.review.proposing import propose, put_back
from lerim.review.proposing_anyway import leave_out, left_out, propose_anyway
from lerim.review.redeciding import decide_again
from lerim.review.suggestions import Suggestion, met, preview, suggest
from lerim.review.undoing import StepView, steps, undo, undo_unseen, undoable
from lerim.review.unseen import doubted, settle, settle_all

__all__ = [
    "AlreadyKnown",
    "Blocked",
    "Edit",
    "Place",
    "Proposal",
    "Proposed",
    "QuoteChoice",
    "ReviewResult",
    "StepView",
    "Suggestion",
    "Target",
    "accept",
    "add",
    "correction",
    "decide_again",
    "doubted",
    "edit",
    "leave_out",
    "left_out",
    "met",
    "pending",
    "preview",
    "propose",
    "propose_anyway",
    "reject",
    "settle",
    "settle_all",
    "show",
    "states",
    "steps",
    "suggest",
    "taken_in",
    "undo",
    "undoable",
    "withdraw",
    "withdraw_one",
]


def pending(place: Place) -> tuple[list[Proposal], list[Problem], int]:
    """The waiting candidates, oldest turn first; what could not be read; how often rejected claims were blocked.

    Writes nothing.
    """
    store = place.store()
    if files.is_absent(place.private / "review.sqlite3"):
        found, problems = waiting(place, (), store)
        return found, problems, 0
    with opened(place.private, place.moves) as book:
        ours = {name for name, state in book.states().items() if state == "pending"}
        blocked = book.blocked()
        stuck = book.stuck()
        unfinished = {action.candidate for action in book.unfinished()} - ours
    found, problems = waiting(place, ours, store, unfinished)
    return found, [*stuck, *problems], blocked


def states(place: Place) -> dict[str, State]:
    """What became of every candidate there was here, by its id. Writes nothing."""
    if files.is_absent(place.private / "review.sqlite3"):
        return {}
    with opened(place.private, place.moves) as book:
        return book.states()


def taken_in(place: Place) -> dict[str, datetime]:
    """When each memory was accepted or added here last. Writes nothing."""
    if files.is_absent(place.private / "review.sqlite3"):
        return {}
    with opened(place.private, place.moves) as book:
        return book.taken_in()


def show(place: Place, candidate_id: str) -> Proposal:
    """One waiting candidate. Raises NotFoundError, MemoryError_."""
    with opened(place.private, place.moves) as book:
        if book.states().get(candidate_id) != "pending":
            raise NotFoundError(
                f"No candidate {candidate_id[:80]!r} is waiting.",
                where=str(place.review),
                todo="Look at the list again.",
            )
    return read(place, candidate_id, place.store())


def withdraw(place: Place, turn: str, reason: str, only: str = "") -> list[str]:
    """Take back the waiting candidates whose claim rests on this turn (its id), or `only` one of them; their ids.

    One that was accepted unseen is undone first. One whose words a person changed, that a person had proposed, or whose
    memory is not as it was accepted, stays. Raises MemoryError_, BusyError.
    """
    taken: list[str] = []
    if files.is_absent(place.private / "review.sqlite3"):
        return taken
    with actions.ledger(place) as book:
        if not only:
            undo_unseen(place, book, turn)
        unfinished = {action.candidate for action in book.unfinished()}
        for known in book.claims("pending"):
            path = place.candidate_path(known.id)
            if known.id in unfinished or known.source.rpartition("#")[2] != turn or files.is_absent(path):
                continue
            if only and known.id != only:
                continue
            proposal = read(place, known.id, place.store())
            if proposal.edited or proposal.maker == "person":
                continue
            take_back(place, book, proposal, reason)
            taken.append(known.id)
        if taken:
            put_back(place, book)
    return taken


def withdraw_one(place: Place, candidate_id: str, reason: str) -> bool:
    """Take back one waiting candidate; False where it does not wait or a person changed its words.

    Raises MemoryError_, BusyError.
    """
    if files.is_absent(place.private / "review.sqlite3"):
        return False
    with actions.ledger(place) as book:
        known = book.known(candidate_id)
        path = place.candidate_path(candidate_id)
        if known is None or known.state != "pending" or files.is_absent(path):
            return False
        if any(action.candidate == candidate_id for action in book.unfinished()):
            return False
        proposal = read(place, candidate_id, place.store())
        if proposal.edited or proposal.maker == "person":
            return False
        take_back(place, book, proposal, reason)
        put_back(place, book)
        return True
