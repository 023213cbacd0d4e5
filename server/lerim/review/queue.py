"""The review: candidates come in, wait, and are accepted, edited, rejected, withdrawn or taken back.

Candidates are inert: nothing outside this package reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lerim import files
from lerim.errors import NotFoundError, Problem
from lerim.extraction import RANKED_SIGNALS, DroppedSignal, drop_candidate
from lerim.memory import MemorySearch, QuoteChoice
from lerim.review import actions
from lerim.review.accepting import (
    accept_candidate,
    add_memory,
    auto_accept,
    auto_accept_all,
    doubt_reason,
    edit_candidate,
    reject_candidate,
    withdraw_in_ledger,
)
from lerim.review.acts import StepView, find_undoable, list_steps, undo_auto_accept, undo_last
from lerim.review.candidates import CandidateEdit, Proposal, Target, load_candidate, load_candidates
from lerim.review.comparing import NearMemory, NeighbourAnswer, NeighbourChoice, find_neighbours
from lerim.review.ledger import DROP_REASON_TEXTS, ClaimState, LedgerClaim, load_correction, open_ledger
from lerim.review.proposing import (
    Suggestion,
    find_earlier_result,
    keep_left_out,
    list_left_out,
    open_memory_search,
    preview_suggestion,
    propose_anyway,
    propose_candidate,
    propose_orphans,
    propose_suggestion,
    suggest_answer,
)
from lerim.review.results import AlreadyKnown, CandidateProposed, ClaimBlocked, ReviewResult
from lerim.review.review_paths import ReviewPaths

__all__ = [
    "AlreadyKnown",
    "CandidateEdit",
    "CandidateProposed",
    "ClaimBlocked",
    "NeighbourAnswer",
    "NeighbourChoice",
    "Proposal",
    "QuoteChoice",
    "ReviewPaths",
    "ReviewResult",
    "StepView",
    "Suggestion",
    "Target",
    "accept_candidate",
    "acceptance_times",
    "add_memory",
    "auto_accept",
    "auto_accept_all",
    "claim_states",
    "doubt_reason",
    "edit_candidate",
    "find_earlier_result",
    "find_undoable",
    "is_only_ranked",
    "keep_left_out",
    "leave_out_ranked",
    "list_left_out",
    "list_pending",
    "list_steps",
    "load_correction",
    "load_pending",
    "pairs_kept_apart",
    "preview_suggestion",
    "propose_anyway",
    "propose_candidate",
    "propose_suggestion",
    "reject_candidate",
    "suggest_answer",
    "undo_last",
    "with_neighbours",
    "withdraw_candidate",
    "withdraw_candidates",
]


def list_pending(paths: ReviewPaths) -> tuple[list[Proposal], list[Problem], int]:
    """The waiting candidates, oldest turn first; what could not be read; how often rejected claims were blocked.

    Writes nothing.
    """
    store = paths.store()
    if files.is_absent(paths.private / "review.sqlite3"):
        found, problems = load_candidates(paths, (), store)
        return found, problems, 0
    with open_ledger(paths.private, paths.moves) as ledger:
        ours = {name for name, state in ledger.states().items() if state == "pending"}
        blocked = ledger.count_blocked()
        stuck = ledger.stuck_problems()
        unfinished = {action.candidate for action in ledger.unfinished_actions()} - ours
    found, problems = load_candidates(paths, ours, store, unfinished)
    return found, [*stuck, *problems], blocked


def with_neighbours(
    paths: ReviewPaths, proposals: Sequence[Proposal], memories: MemorySearch | None = None
) -> list[Proposal]:
    """The candidates with the active memories near each of them; proposals of maintaining have none.

    `memories`: a search the caller keeps open. Raises MemoryError_.
    """
    if not any(one.session for one in proposals):
        return list(proposals)
    store = paths.store()
    found: list[Proposal] = []
    with open_ledger(paths.private, paths.moves) as ledger, open_memory_search(paths, memories) as search:
        known = {one.id: one for one in ledger.claims("pending")}
        for proposal in proposals:
            title, body = proposal.record.title, proposal.record.body
            near: tuple[NearMemory, ...] = ()
            if proposal.session and proposal.id in known:
                skip = ledger.choices.answered_memories(known[proposal.id].fingerprint, known[proposal.id].source)
                near = find_neighbours(search, store, title, body, skip=skip)
            found.append(replace(proposal, neighbours=near))
    return found


def claim_states(paths: ReviewPaths) -> dict[str, ClaimState]:
    """What became of every candidate there was here, by its id. Writes nothing."""
    if files.is_absent(paths.private / "review.sqlite3"):
        return {}
    with open_ledger(paths.private, paths.moves) as ledger:
        return ledger.states()


def pairs_kept_apart(paths: ReviewPaths) -> set[frozenset[str]]:
    """The pairs of memories, by their ids, that the person keeps beside each other. Writes nothing."""
    if files.is_absent(paths.private / "review.sqlite3"):
        return set()
    with open_ledger(paths.private, paths.moves) as ledger:
        return ledger.choices.pairs_kept_apart()


def acceptance_times(paths: ReviewPaths) -> dict[str, datetime]:
    """When each memory was accepted or added here last. Writes nothing."""
    if files.is_absent(paths.private / "review.sqlite3"):
        return {}
    with open_ledger(paths.private, paths.moves) as ledger:
        return ledger.acceptance_times()


def load_pending(paths: ReviewPaths, candidate_id: str) -> Proposal:
    """One waiting candidate. Raises NotFoundError, MemoryError_."""
    with open_ledger(paths.private, paths.moves) as ledger:
        if ledger.states().get(candidate_id) != "pending":
            raise NotFoundError(
                f"No candidate {candidate_id[:80]!r} waits for review.",
                where=str(paths.review),
                todo="Refresh the list.",
            )
    return load_candidate(paths, candidate_id, paths.store())


def withdraw_candidates(paths: ReviewPaths, turn: str, reason: str, only: str = "") -> list[str]:
    """Take back the waiting candidates whose claim rests on this turn (its id), or `only` one of them; their ids.

    One that was accepted unseen is undone first. One whose words a person changed, that a person had proposed, or whose
    memory is not as it was accepted, stays. Raises MemoryError_, BusyError.
    """
    taken: list[str] = []
    if files.is_absent(paths.private / "review.sqlite3"):
        return taken
    with actions.locked_ledger(paths) as ledger:
        if not only:
            undo_auto_accept(paths, ledger, turn)
        unfinished = {action.candidate for action in ledger.unfinished_actions()}
        for known in ledger.claims("pending"):
            path = paths.candidate_path(known.id)
            if known.id in unfinished or known.source.rpartition("#")[2] != turn or files.is_absent(path):
                continue
            if only and known.id != only:
                continue
            proposal = load_candidate(paths, known.id, paths.store())
            if _is_persons(proposal, known):
                continue
            withdraw_in_ledger(paths, ledger, proposal, reason)
            taken.append(known.id)
        if taken:
            propose_orphans(paths, ledger)
    return taken


def _is_persons(proposal: Proposal, known: LedgerClaim) -> bool:
    """Whether a person had a candidate proposed or changed its words, here or in its file."""
    return proposal.edited or proposal.maker == "person" or files.hash_text(proposal.saved_text) != known.written


def is_only_ranked(proposal: Proposal) -> bool:
    """Whether only the ranker proposed a candidate: no model did, and no person edited or asked for it."""
    return proposal.maker == "rules" and not proposal.edited and proposal.signal in RANKED_SIGNALS


def leave_out_ranked(paths: ReviewPaths, source: str, turns: Collection[str]) -> list[tuple[str, DroppedSignal]]:
    """Take back the waiting candidates of a session (`platform:id`) that only the ranker found in these turns, because
    a model has read the turns, and list them as left out.

    Returns the id of each with what is left out. Raises MemoryError_, BusyError.
    """
    taken: list[tuple[str, DroppedSignal]] = []
    if files.is_absent(paths.private / "review.sqlite3"):
        return taken
    with actions.locked_ledger(paths) as ledger:
        unfinished = {action.candidate for action in ledger.unfinished_actions()}
        for known in ledger.claims("pending"):
            session, _, turn = known.source.rpartition("#")
            path = paths.candidate_path(known.id)
            if session != source or turn not in turns or known.id in unfinished or files.is_absent(path):
                continue
            proposal, told = load_candidate(paths, known.id, paths.store()), ledger.load_proposed(known.id)
            if told is None or not is_only_ranked(proposal) or _is_persons(proposal, known):
                continue
            dropped = drop_candidate(told, "model-read", "", told.score)
            # `withdraw_in_ledger` commits this with its own first step: a kill leaves both or neither
            ledger.left_out.save((dropped,), datetime.now(UTC))
            ledger.left_out.mark_proposed(told, known.id)
            withdraw_in_ledger(paths, ledger, proposal, DROP_REASON_TEXTS["model-read"])
            taken.append((known.id, dropped))
        if taken:
            propose_orphans(paths, ledger)
        # or the model's words of the same turn would count as taken back; also what a kill kept from being forgotten
        ledger.forget_left_out("model-read")
    return taken


def withdraw_candidate(paths: ReviewPaths, candidate_id: str, reason: str) -> bool:
    """Take back one waiting candidate; False where it does not wait or a person changed its words.

    Raises MemoryError_, BusyError.
    """
    if files.is_absent(paths.private / "review.sqlite3"):
        return False
    with actions.locked_ledger(paths) as ledger:
        known = ledger.find_claim(candidate_id)
        path = paths.candidate_path(candidate_id)
        if known is None or known.state != "pending" or files.is_absent(path):
            return False
        if any(action.candidate == candidate_id for action in ledger.unfinished_actions()):
            return False
        proposal = load_candidate(paths, candidate_id, paths.store())
        if _is_persons(proposal, known):
            return False
        withdraw_in_ledger(paths, ledger, proposal, reason)
        propose_orphans(paths, ledger)
        return True
