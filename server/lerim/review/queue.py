"""The review: candidates come in, wait, and are accepted, edited, rejected, withdrawn or taken back.

Candidates are inert: nothing outside this package reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lerim.errors import NotFoundError, Problem
from lerim.extraction.candidate import Dropped, drop
from lerim.facts.draft import RANKED
from lerim.memory import files
from lerim.memory.quotes import QuoteChoice
from lerim.memory.search import MemorySearch
from lerim.review import actions
from lerim.review.candidates import Edit, Proposal, Target, read, waiting
from lerim.review.choices import Choice, NeighbourAnswer
from lerim.review.compare import Near, neighbours
from lerim.review.decisions import accept, add, edit, reject, take_back
from lerim.review.judgments import correction
from lerim.review.ledger import Known, State, opened
from lerim.review.left_out import WHY
from lerim.review.outcome import AlreadyKnown, Blocked, Proposed, ReviewResult
from lerim.review.place import Place
from lerim.review.proposing import propose, put_back, searching
from lerim.review.proposing_anyway import leave_out, left_out, propose_anyway
from lerim.review.suggested import suggest_answer
from lerim.review.suggestions import Suggestion, met, preview, suggest
from lerim.review.undoing import StepView, steps, undo, undo_unseen, undoable
from lerim.review.unseen import doubted, settle, settle_all

__all__ = [
    "AlreadyKnown",
    "Blocked",
    "Choice",
    "Edit",
    "NeighbourAnswer",
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
    "doubted",
    "edit",
    "kept_apart",
    "leave_out",
    "leave_out_ranked",
    "left_out",
    "met",
    "only_ranked",
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
    "suggest_answer",
    "taken_in",
    "undo",
    "undoable",
    "with_neighbours",
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


def with_neighbours(
    place: Place, proposals: Sequence[Proposal], memories: MemorySearch | None = None
) -> list[Proposal]:
    """The candidates with the active memories near each of them; proposals of maintaining have none.

    `memories`: a search the caller keeps open. Raises MemoryError_.
    """
    if not any(one.session for one in proposals):
        return list(proposals)
    store = place.store()
    found: list[Proposal] = []
    with opened(place.private, place.moves) as book, searching(place, memories) as search:
        known = {one.id: one for one in book.claims("pending")}
        for proposal in proposals:
            title, body = proposal.record.title, proposal.record.body
            near: tuple[Near, ...] = ()
            if proposal.session and proposal.id in known:
                skip = book.choices.memories(known[proposal.id].print, known[proposal.id].source)
                near = neighbours(search, store, title, body, skip=skip)
            found.append(replace(proposal, neighbours=near))
    return found


def states(place: Place) -> dict[str, State]:
    """What became of every candidate there was here, by its id. Writes nothing."""
    if files.is_absent(place.private / "review.sqlite3"):
        return {}
    with opened(place.private, place.moves) as book:
        return book.states()


def kept_apart(place: Place) -> set[frozenset[str]]:
    """The pairs of memories, by their ids, that the person keeps beside each other. Writes nothing."""
    if files.is_absent(place.private / "review.sqlite3"):
        return set()
    with opened(place.private, place.moves) as book:
        return book.choices.kept_apart()


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
            if _is_persons(proposal, known):
                continue
            take_back(place, book, proposal, reason)
            taken.append(known.id)
        if taken:
            put_back(place, book)
    return taken


def _is_persons(proposal: Proposal, known: Known) -> bool:
    """Whether a person had a candidate proposed or changed its words, here or in its file."""
    return proposal.edited or proposal.maker == "person" or files.text_hash(proposal.saved) != known.written


def only_ranked(proposal: Proposal) -> bool:
    """Whether only the ranker proposed a candidate: no model did, and no person edited or asked for it."""
    return proposal.maker == "rules" and not proposal.edited and proposal.signal in RANKED


def leave_out_ranked(place: Place, source: str, turns: Collection[str]) -> list[tuple[str, Dropped]]:
    """Take back the waiting candidates of a session (`platform:id`) that only the ranker found in these turns, because
    a model has read the turns, and list them as left out.

    Returns the id of each with what is left out. Raises MemoryError_, BusyError.
    """
    taken: list[tuple[str, Dropped]] = []
    if files.is_absent(place.private / "review.sqlite3"):
        return taken
    with actions.ledger(place) as book:
        unfinished = {action.candidate for action in book.unfinished()}
        for known in book.claims("pending"):
            session, _, turn = known.source.rpartition("#")
            path = place.candidate_path(known.id)
            if session != source or turn not in turns or known.id in unfinished or files.is_absent(path):
                continue
            proposal, told = read(place, known.id, place.store()), book.told(known.id)
            if told is None or not only_ranked(proposal) or _is_persons(proposal, known):
                continue
            dropped = drop(told, "model-read", "", told.score)
            # `take_back` commits this with its own first step: a kill leaves both or neither
            book.left_out.keep((dropped,), datetime.now(UTC))
            book.left_out.take_in(told, known.id)
            take_back(place, book, proposal, WHY["model-read"])
            taken.append((known.id, dropped))
        if taken:
            put_back(place, book)
        # or the model's words of the same turn would count as taken back; also what a kill kept from being forgotten
        book.forget_left_out("model-read")
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
        if _is_persons(proposal, known):
            return False
        take_back(place, book, proposal, reason)
        put_back(place, book)
        return True
