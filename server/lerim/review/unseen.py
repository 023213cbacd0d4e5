"""Accepting without a person, where they set the review to automatic: what can be undone and is nobody's words."""

from __future__ import annotations

from lerim.errors import LerimError, MemoryError_, Problem, StaleError
from lerim.memory.quotes import QuoteChoice
from lerim.memory.search import MemorySearch
from lerim.review.candidates import Proposal, read, waiting
from lerim.review.compare import NEAR, neighbours
from lerim.review.decisions import accept
from lerim.review.ledger import opened
from lerim.review.outcome import ReviewResult
from lerim.review.place import Place
from lerim.review.proposing import searching

_ROUNDS = 3


def settle(
    place: Place, proposal: Proposal, quotes: QuoteChoice | None = None, memories: MemorySearch | None = None
) -> ReviewResult | None:
    """Accept one proposal unseen; None where it waits for a person: it was flagged, only a tool or a web page says it,
    they took it back once, a memory is near it or would be changed by it, or, said in no session, it would change a
    text they wrote or end a memory they restored.

    Where the person never chose, quotes stay on this machine. Raises MemoryError_, BusyError.
    """
    store = place.store()
    for _ in range(_ROUNDS):
        if not _may_settle(place, proposal, memories):
            return None
        try:
            choice = quotes or store.quotes.choice() or "local"
            return accept(place, proposal.id, quotes=choice, memories=memories, unseen=True)
        except StaleError:
            try:
                proposal = read(place, proposal.id, store)  # it does something else now; that may be accepted, too
            except MemoryError_:
                return None
    return None


def settle_all(
    place: Place, quotes: QuoteChoice | None = None
) -> tuple[list[tuple[Proposal, ReviewResult]], list[Problem]]:
    """`settle` for everything that waits, oldest turn first, and for what comes of that; what failed is a problem."""
    done: list[tuple[Proposal, ReviewResult]] = []
    problems: list[Problem] = []
    tried: set[tuple[str, str]] = set()
    with MemorySearch(place.project, place.home) as memories:
        while new := [one for one in _waiting(place) if (one.id, one.text) not in tried]:
            for proposal in new:
                tried.add((proposal.id, proposal.text))
                try:
                    result = settle(place, proposal, quotes, memories)
                except LerimError as error:
                    problems.append(Problem(error.code, proposal.id, error.explanation))
                    continue
                if result is not None:
                    done.append((proposal, result))
    return done, problems


def _waiting(place: Place) -> list[Proposal]:
    with opened(place.private, place.moves) as book:
        ours = {name for name, state in book.states().items() if state == "pending"}
    return waiting(place, ours, place.store())[0]


def doubted(proposal: Proposal) -> str:
    """Why a proposal is nothing to accept without a look at it; "" where there is no such reason. Whatever accepts
    unseen (`review accept --all`, `--accept-above`, the automatic review) asks this and nothing else of a claim."""
    if proposal.flags:
        return ", ".join(proposal.flags)
    if proposal.session and not any(item.who in ("user", "assistant") for item in proposal.record.evidence):
        return "only a tool or a web page says it"
    return ""


def _may_settle(place: Place, proposal: Proposal, memories: MemorySearch | None) -> bool:
    if doubted(proposal) or proposal.edited or proposal.void:
        return False
    if proposal.session and (proposal.action != "add" or _has_near_neighbour(place, proposal, memories)):
        return False
    with opened(place.private, place.moves) as book:
        if proposal.id in book.about("accept", "undone") | book.about("settle", "undone"):
            return False
        ends = set() if proposal.session or proposal.action == "refer" else {one.record.id for one in proposal.about}
        if ends & book.about("restore", "done"):
            return False
        return all(book.is_ours(one.hash) for one in proposal.about)


def _has_near_neighbour(place: Place, proposal: Proposal, memories: MemorySearch | None) -> bool:
    title, body = proposal.record.title, proposal.record.body
    with searching(place, memories) as search:
        near = neighbours(search, place.store(), title, body, 1)
    return any(one.similarity >= NEAR for one in near)
