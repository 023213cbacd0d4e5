"""Automatic acceptance, for projects whose review is set to automatic."""

from __future__ import annotations

from datetime import datetime

from lerim.errors import LerimError, MemoryError_, Problem, StaleError
from lerim.memory import MemorySearch, QuoteChoice
from lerim.review.accepting.accept import accept_candidate
from lerim.review.candidates import Proposal, load_candidate, load_candidates
from lerim.review.compare import MIN_NEAR_SIMILARITY, find_neighbours
from lerim.review.proposing import open_memory_search
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths

_MAX_TRIES = 3


def auto_accept(
    paths: ReviewPaths,
    proposal: Proposal,
    quotes: QuoteChoice | None = None,
    memories: MemorySearch | None = None,
    now: datetime | None = None,
) -> ReviewResult | None:
    """Accepts one proposal without a person's review, or returns None if it has to wait for the person.

    A proposal waits if it is edited or flagged, rests only on a tool or web page, or was accepted and undone before. A
    session's candidate also waits if a similar memory exists or if it would change a memory. A suggestion also waits if
    it would change a text that a person wrote or end a memory that they restored.

    If the person has not chosen where quotes are kept, they stay on this machine. `now` is the time of the accept;
    the default is the current time. Raises MemoryError_, BusyError.
    """
    store = paths.store()
    for _ in range(_MAX_TRIES):
        if not _can_auto_accept(paths, proposal, memories):
            return None
        try:
            choice = quotes or store.quotes.read_choice() or "local"
            return accept_candidate(paths, proposal.id, quotes=choice, now=now, automatic=True)
        except StaleError:
            try:
                # its action may have changed; the new one may be acceptable, too
                proposal = load_candidate(paths, proposal.id, store)
            except MemoryError_:
                return None
    return None


def auto_accept_all(
    paths: ReviewPaths, quotes: QuoteChoice | None = None, now: datetime | None = None
) -> tuple[list[tuple[Proposal, ReviewResult]], list[Problem]]:
    """Calls `auto_accept` for all waiting proposals, the oldest turn first, and for those that change or appear
    meanwhile. A failure becomes a problem."""
    accepted: list[tuple[Proposal, ReviewResult]] = []
    problems: list[Problem] = []
    tried: set[tuple[str, str]] = set()
    with MemorySearch(paths.project, paths.home) as memories:
        while new := [one for one in _load_waiting(paths) if (one.id, one.text) not in tried]:
            for proposal in new:
                tried.add((proposal.id, proposal.text))
                try:
                    result = auto_accept(paths, proposal, quotes, memories, now)
                except LerimError as error:
                    problems.append(Problem(error.code, proposal.id, error.explanation))
                    continue
                if result is not None:
                    accepted.append((proposal, result))
    return accepted, problems


def _load_waiting(paths: ReviewPaths) -> list[Proposal]:
    with paths.open_ledger() as ledger:
        pending_ids = {name for name, state in ledger.states().items() if state == "pending"}
    return load_candidates(paths, pending_ids, paths.store())[0]


def doubt_reason(proposal: Proposal) -> str:
    """Returns why a person has to look at this proposal before it is accepted, or "" if there is no such reason.
    This is the only check of a claim that `review accept --all`, `--accept-above` and the automatic review have in
    common."""
    if proposal.flags:
        return ", ".join(proposal.flags)
    if proposal.session and not any(item.who in ("user", "assistant") for item in proposal.record.evidence):
        return "it is based only on a tool or web page"
    return ""


def _can_auto_accept(paths: ReviewPaths, proposal: Proposal, memories: MemorySearch | None) -> bool:
    if doubt_reason(proposal) or proposal.edited or proposal.is_obsolete:
        return False
    if proposal.session and (proposal.action != "add" or _has_near_neighbour(paths, proposal, memories)):
        return False
    with paths.open_ledger() as ledger:
        if proposal.id in ledger.ids_acted_on("accept", "undone") | ledger.ids_acted_on("settle", "undone"):
            return False
        restored_ids = (
            set() if proposal.session or proposal.action == "refer" else ledger.ids_acted_on("restore", "done")
        )
        return all(
            ledger.is_ours(one.text_hash) and one.record.id not in restored_ids for one in proposal.target_memories
        )


def _has_near_neighbour(paths: ReviewPaths, proposal: Proposal, memories: MemorySearch | None) -> bool:
    with open_memory_search(paths, memories) as search:
        near = find_neighbours(search, paths.store(), proposal.record.title, proposal.record.body, 1)
    return any(one.similarity >= MIN_NEAR_SIMILARITY for one in near)
