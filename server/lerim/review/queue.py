"""The review: candidates come in, wait, and are accepted, edited, rejected, withdrawn or taken back.

Candidates are inert: nothing outside this package reads them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem
from lerim.extraction.candidate import Candidate
from lerim.memory import files
from lerim.memory.claim import apart, claim
from lerim.memory.quotes import QuoteChoice
from lerim.memory.reconcile import Decision, Neighbour, decide
from lerim.memory.record import MAX_FILE
from lerim.memory.search import MemorySearch
from lerim.memory.slug import new_id
from lerim.memory.store import Store, Stored
from lerim.review import actions
from lerim.review.candidates import (
    Edit,
    Proposal,
    ProposedAction,
    Target,
    file_text,
    new_record,
    of_text,
    read,
    repeated_text,
    waiting,
)
from lerim.review.decisions import ReviewResult, accept, add, edit, reject, undo, undoable
from lerim.review.ledger import Change, Fingerprint, Known, Ledger, alike, opened
from lerim.review.outcome import AlreadyKnown, Blocked, Proposed
from lerim.review.place import Place
from lerim.review.suggestions import SUGGESTION, Suggestion, suggest

__all__ = [
    "AlreadyKnown",
    "Blocked",
    "Edit",
    "Place",
    "Proposal",
    "Proposed",
    "QuoteChoice",
    "ReviewResult",
    "Suggestion",
    "Target",
    "accept",
    "add",
    "edit",
    "pending",
    "propose",
    "reject",
    "show",
    "suggest",
    "undo",
    "undoable",
    "withdraw",
]
REWORDED_FROM = 0.75
SAME_TURN_FROM = 0.5
_NEIGHBOURS = 30
_ACCEPTED = "It was accepted before."


def propose(
    place: Place, candidate: Candidate, memories: MemorySearch | None = None
) -> Proposed | Blocked | AlreadyKnown:
    """Put a candidate before the person, unless it was rejected, waits already or is a memory.

    `memories`: the project's search, where the caller has many candidates and keeps one open for all of them.
    Raises MemoryError_ where the review folder cannot be written, BusyError.
    """
    with actions.ledger(place) as book:
        mark = book.fingerprint(claim(candidate.title, candidate.body))
        claims = [known for known in book.claims() if not known.source.startswith(SUGGESTION)]
        met = _met(place, book, claims, candidate, mark)
        if met is not None:
            return met
        store = place.store()
        neighbours = [stored for stored in _neighbours(place, candidate, memories) if stored.status == "active"]
        decision = decide(candidate, (Neighbour(stored.record, stored.record.updated) for stored in neighbours))
        if decision.action == "noop" and decision.target is not None:
            return _gain(place, book, store, candidate, mark, decision)
        for known in claims:
            # the memory does not say it any more: a person has changed it since, and their words stand
            if known.state in ("accepted", "known") and known.print == mark:
                return AlreadyKnown(known.memory, _ACCEPTED)
        target = next((stored for stored in neighbours if stored.record is decision.target), None)
        return Proposed(_write(place, book, claims, store, candidate, mark, target))


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

    One whose words a person changed stays. Raises MemoryError_, BusyError.
    """
    taken: list[str] = []
    if files.is_absent(place.private / "review.sqlite3"):
        return taken
    with actions.ledger(place) as book:
        unfinished = {action.candidate for action in book.unfinished()}
        for known in book.claims("pending"):
            path = place.candidate_path(known.id)
            if known.id in unfinished or known.source.rpartition("#")[2] != turn or files.is_absent(path):
                continue
            if only and known.id != only:
                continue
            proposal = read(place, known.id, place.store())
            if proposal.edited:
                continue
            change = Change("review", str(place.state_anchor), str(path), proposal.text, None)
            label = f"Withdrawn: {proposal.record.title}"
            actions.perform(place, book, "withdraw", label, known.id, ("pending", "withdrawn"), [change])
            book.set_state(known.id, "withdrawn", note=reason)
            taken.append(known.id)
    return taken


def _met(
    place: Place, book: Ledger, claims: Iterable[Known], candidate: Candidate, mark: Fingerprint
) -> Blocked | AlreadyKnown | None:
    """Whether this claim was met before, by its words or by its turn."""
    for known in claims:
        same_turn = known.source == candidate.source and _near(known.print, mark, SAME_TURN_FROM)
        if known.state == "rejected":
            if same_turn or _reworded(known, mark):
                return Blocked(known.id, book.count_block(known.id))
        elif known.state == "withdrawn":
            if same_turn:
                return AlreadyKnown(known.id, f"It was taken back: {known.note}")
        elif known.state == "pending":
            if (same_turn or known.print == mark) and not files.is_absent(place.candidate_path(known.id)):
                gained = _gain_waiting(place, book, known, candidate)
                return AlreadyKnown(known.id, "It is waiting for review already.", gained)
        elif same_turn:
            return AlreadyKnown(known.memory, _ACCEPTED)
    return None


def _gain_waiting(place: Place, book: Ledger, known: Known, candidate: Candidate) -> bool:
    """Give a waiting candidate the quotes of one that says the same; False where it has them, or is a person's now."""
    path = place.candidate_path(known.id)
    if any(action.candidate == known.id for action in book.unfinished()):
        return False
    try:
        before = files.read_text(path, MAX_FILE)
        if files.text_hash(before) != known.written:
            return False
        text = repeated_text(of_text(before, path, place.store()), candidate)
    except (MemoryError_, BoundaryError):
        return False  # told where candidates are listed
    if text == before:
        return False
    files.replace(path, text)
    book.rewrote(known.id, str(path), before, text)
    return True


def _reworded(known: Known, mark: Fingerprint) -> bool:
    """Whether this is a rejected claim again: the same title, or nearly the same words about the same things."""
    old = known.print
    if old.title and old.title == mark.title:
        return True
    return _near(old, mark, REWORDED_FROM) and old.hard <= mark.words and mark.hard <= old.words


def _near(one: Fingerprint, other: Fingerprint, least: float) -> bool:
    """Alike, and not two rules side by side that share most of their words."""
    return alike(one, other) >= least and not apart(one.title, other.title)


def _neighbours(place: Place, candidate: Candidate, memories: MemorySearch | None) -> list[Stored]:
    """The memories most like a candidate by the words they share: whatever is alike at all is among them."""
    if memories is None:
        with MemorySearch(place.project, place.home) as memories:
            return memories.near(f"{candidate.title} {candidate.body}", _NEIGHBOURS)
    memories.follow()
    return memories.near(f"{candidate.title} {candidate.body}", _NEIGHBOURS)


def _gain(
    place: Place, book: Ledger, store: Store, candidate: Candidate, mark: Fingerprint, decision: Decision
) -> AlreadyKnown:
    """Nothing new: the memory's file stays as it is, the evidence is added to what is kept privately for it."""
    memory = decision.target
    assert memory is not None
    text = store.quotes.text_gaining(memory, candidate.evidence)
    if text is not None:
        place.make_private()
        files.make_folder(store.quotes.folder, 0o700)
        files.replace(store.quotes.path(memory.id), text, 0o600)
    book.register(f"{memory.id}@{candidate.turn}", candidate.source, mark, "known", memory.id)
    return AlreadyKnown(memory.id, f"“{memory.title}” says it already.", text is not None)


def _write(
    place: Place,
    book: Ledger,
    claims: Iterable[Known],
    store: Store,
    candidate: Candidate,
    mark: Fingerprint,
    target: Stored | None,
) -> Proposal:
    """Register the candidate, then write its file; one that was killed in between is proposed again."""
    day: date = candidate.time.date()
    others = {known.id for known in claims if known.state != "pending" or known.print != mark}

    def taken(name: str) -> bool:
        path = place.candidate_path(name)
        return store.path_of(name) is not None or name in others or not files.is_absent(path)

    candidate_id = new_id(candidate.title, day, taken)
    record = new_record(candidate, candidate_id)
    action: ProposedAction = "update" if target else "add"
    targets = (Target(target.record.id, target.hash),) if target else ()
    text = file_text(candidate, record, action, targets)
    book.register(candidate_id, candidate.source, mark, "pending", written=files.text_hash(text))
    book.commit()
    place.make_state()
    path = place.candidate_path(candidate_id)
    files.make_folder(path.parent)
    files.create(path, text)
    return of_text(text, path, store)
