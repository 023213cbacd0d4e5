"""Accepting without a person, where they set the review to automatic: what can be undone and is nobody's words."""

from __future__ import annotations

from lerim.errors import LerimError, MemoryError_, Problem, StaleError
from lerim.memory import MemorySearch, QuoteChoice
from lerim.review.accepting.accept import accept_candidate
from lerim.review.candidates import Proposal, load_candidate, load_candidates
from lerim.review.comparing import MIN_NEAR_SIMILARITY, find_neighbours
from lerim.review.ledger import open_ledger
from lerim.review.proposing import open_memory_search
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths

_ROUNDS = 3


def auto_accept(
    paths: ReviewPaths, proposal: Proposal, quotes: QuoteChoice | None = None, memories: MemorySearch | None = None
) -> ReviewResult | None:
    """Accept one proposal without review. Return None if it has to wait for the person: it is flagged, rests only on a
    tool or web page, was undone once, has a near neighbour or would change a memory; or, if it comes from no session,
    it would change a text the person wrote or end a memory they restored.

    If the person never chose about quotes, they stay on this machine. Raises MemoryError_, BusyError.
    """
    store = paths.store()
    for _ in range(_ROUNDS):
        if not _may_settle(paths, proposal, memories):
            return None
        try:
            choice = quotes or store.quotes.read_choice() or "local"
            return accept_candidate(paths, proposal.id, quotes=choice, memories=memories, automatic=True)
        except StaleError:
            try:
                proposal = load_candidate(
                    paths, proposal.id, store
                )  # it does something else now; that may be accepted, too
            except MemoryError_:
                return None
    return None


def auto_accept_all(
    paths: ReviewPaths, quotes: QuoteChoice | None = None
) -> tuple[list[tuple[Proposal, ReviewResult]], list[Problem]]:
    """Call `auto_accept` for all that waits, oldest turn first, and for what comes of it; a failure is a problem."""
    done: list[tuple[Proposal, ReviewResult]] = []
    problems: list[Problem] = []
    tried: set[tuple[str, str]] = set()
    with MemorySearch(paths.project, paths.home) as memories:
        while new := [one for one in _waiting(paths) if (one.id, one.text) not in tried]:
            for proposal in new:
                tried.add((proposal.id, proposal.text))
                try:
                    result = auto_accept(paths, proposal, quotes, memories)
                except LerimError as error:
                    problems.append(Problem(error.code, proposal.id, error.explanation))
                    continue
                if result is not None:
                    done.append((proposal, result))
    return done, problems


def _waiting(paths: ReviewPaths) -> list[Proposal]:
    with open_ledger(paths.private, paths.moves) as ledger:
        ours = {name for name, state in ledger.states().items() if state == "pending"}
    return load_candidates(paths, ours, paths.store())[0]


def doubt_reason(proposal: Proposal) -> str:
    """Why a proposal is nothing to accept without a look at it; "" where there is no such reason. Whatever accepts
    unseen (`review accept --all`, `--accept-above`, the automatic review) asks this and nothing else of a claim."""
    if proposal.flags:
        return ", ".join(proposal.flags)
    if proposal.session and not any(item.who in ("user", "assistant") for item in proposal.record.evidence):
        return "it rests only on a tool or web page"
    return ""


def _may_settle(paths: ReviewPaths, proposal: Proposal, memories: MemorySearch | None) -> bool:
    if doubt_reason(proposal) or proposal.edited or proposal.is_obsolete:
        return False
    if proposal.session and (proposal.action != "add" or _has_near_neighbour(paths, proposal, memories)):
        return False
    with open_ledger(paths.private, paths.moves) as ledger:
        if proposal.id in ledger.ids_acted_on("accept", "undone") | ledger.ids_acted_on("settle", "undone"):
            return False
        ends = (
            set()
            if proposal.session or proposal.action == "refer"
            else {one.record.id for one in proposal.target_memories}
        )
        if ends & ledger.ids_acted_on("restore", "done"):
            return False
        return all(ledger.is_ours(one.text_hash) for one in proposal.target_memories)


def _has_near_neighbour(paths: ReviewPaths, proposal: Proposal, memories: MemorySearch | None) -> bool:
    title, body = proposal.record.title, proposal.record.body
    with open_memory_search(paths, memories) as search:
        near = find_neighbours(search, paths.store(), title, body, 1)
    return any(one.similarity >= MIN_NEAR_SIMILARITY for one in near)
