"""The review queue: proposes candidates, lists those that wait, and accepts, edits, rejects or withdraws them.

Candidates have no effect until they are accepted: nothing outside this package reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lerim import files
from lerim.errors import NotFoundError, Problem
from lerim.extraction import RANKED_SIGNALS, DroppedSignal, drop_candidate
from lerim.memory import MemorySearch
from lerim.memory import QuoteChoice as QuoteChoice
from lerim.review import actions
from lerim.review.accepting import BulkResult as BulkResult
from lerim.review.accepting import SessionOrigin as SessionOrigin
from lerim.review.accepting import accept_candidate as accept_candidate
from lerim.review.accepting import add_memory as add_memory
from lerim.review.accepting import auto_accept as auto_accept
from lerim.review.accepting import auto_accept_all as auto_accept_all
from lerim.review.accepting import decide_in_bulk as decide_in_bulk
from lerim.review.accepting import doubt_reason as doubt_reason
from lerim.review.accepting import edit_candidate as edit_candidate
from lerim.review.accepting import reject_candidate as reject_candidate
from lerim.review.accepting import withdraw_in_ledger
from lerim.review.acts import StepView as StepView
from lerim.review.acts import find_undoable as find_undoable
from lerim.review.acts import list_steps as list_steps
from lerim.review.acts import undo_auto_accept
from lerim.review.acts import undo_last as undo_last
from lerim.review.candidates import Proposal as Proposal
from lerim.review.candidates import (
    list_candidate_ids,
    load_candidate,
    load_candidates,
    load_each_candidate,
    select_with_file,
    sort_best_first,
)
from lerim.review.compare import MIN_NEAR_SIMILARITY, NearMemory, find_neighbours
from lerim.review.decisions import CandidateEdit as CandidateEdit
from lerim.review.decisions import NeighbourAnswer as NeighbourAnswer
from lerim.review.decisions import NeighbourChoice as NeighbourChoice
from lerim.review.ledger import DROP_REASON_TEXTS, ClaimState, Ledger, LedgerClaim
from lerim.review.ledger import load_adjustment as load_adjustment
from lerim.review.proposing import Suggestion as Suggestion
from lerim.review.proposing import keep_left_out as keep_left_out
from lerim.review.proposing import list_left_out as list_left_out
from lerim.review.proposing import open_memory_search, rejected_merges
from lerim.review.proposing import preview_suggestion as preview_suggestion
from lerim.review.proposing import propose_anyway as propose_anyway
from lerim.review.proposing import propose_candidate as propose_candidate
from lerim.review.proposing import propose_suggestion as propose_suggestion
from lerim.review.proposing import suggest_answer as suggest_answer
from lerim.review.results import AlreadyKnown as AlreadyKnown
from lerim.review.results import CandidateProposed as CandidateProposed
from lerim.review.results import ClaimBlocked as ClaimBlocked
from lerim.review.results import ReviewResult as ReviewResult
from lerim.review.review_paths import ReviewPaths


@dataclass(frozen=True, slots=True)
class PendingPage:
    """One page of the waiting candidates. `ids` are the ids of all waiting candidates, `start` is the index in them
    of the first one in `proposals`. `blocked` is how often rejected claims came up again."""

    ids: list[str]
    start: int
    proposals: list[Proposal]
    problems: list[Problem]
    blocked: int


@dataclass(frozen=True, slots=True)
class _PendingState:
    """The state of the queue according to the ledger: the ids that wait, the ids with an unfinished action, the
    problems of such actions, and `blocked`."""

    pending: frozenset[str]
    unfinished: frozenset[str]
    problems: list[Problem]
    blocked: int


def list_pending(paths: ReviewPaths) -> tuple[list[Proposal], list[Problem], int]:
    """Returns the waiting candidates, the oldest turn first; a problem for each that cannot be read; and how often
    rejected claims came up again. Writes nothing."""
    state = _load_pending_state(paths)
    found, problems = load_candidates(paths, state.pending, paths.store(), state.unfinished)
    return found, [*state.problems, *problems], state.blocked


def list_pending_page(
    paths: ReviewPaths, start: int, limit: int, around: str = "", *, best_first: bool = False
) -> PendingPage:
    """Returns one page of the waiting candidates, in the order of their days or, with `best_first`, in the order of
    the review. Only the files of this page are read as a whole. `around`: the page that contains this candidate is
    returned instead of the one at `start`. Writes nothing."""
    state = _load_pending_state(paths)
    ids, problems = list_candidate_ids(paths, state.pending, state.unfinished)
    if best_first:
        ids = sort_best_first(paths, ids)
    if around in ids:
        start = ids.index(around) // limit * limit
    found, more = load_each_candidate(paths, ids[start : start + limit], paths.store())
    return PendingPage(ids, start, found, [*state.problems, *problems, *more], state.blocked)


def list_pending_of_session(paths: ReviewPaths, source: str) -> list[Proposal]:
    """Returns the waiting candidates of a session (`platform:id`), except those that cannot be read. No other
    candidates' files are read. Writes nothing."""
    with paths.open_ledger_if_any() as ledger:
        claims = ledger.claims("pending") if ledger is not None else ()
        ids = [one.id for one in claims if one.source.rpartition("#")[0] == source]
    return load_each_candidate(paths, ids, paths.store())[0]


def list_pending_of_file(paths: ReviewPaths, file: str) -> list[Proposal]:
    """Returns the waiting candidates with a reference to this file or to something in it, in the order of the review.
    A candidate that cannot be read is left out, since the review lists it as a problem. Writes nothing. Raises
    MemoryError_ if the ledger cannot be used."""
    ids = select_with_file(paths, list_pending_page(paths, 0, 0).ids, file)
    found, _ = load_each_candidate(paths, ids, paths.store())
    return sorted(found, key=lambda one: one.review_rank)


def _load_pending_state(paths: ReviewPaths) -> _PendingState:
    with paths.open_ledger_if_any() as ledger:
        if ledger is None:
            return _PendingState(frozenset(), frozenset(), [], 0)
        pending = frozenset(name for name, state in ledger.states().items() if state == "pending")
        unfinished = frozenset(action.candidate for action in ledger.unfinished_actions()) - pending
        return _PendingState(pending, unfinished, ledger.stuck_problems(), ledger.count_blocked())


def with_neighbours(
    paths: ReviewPaths, proposals: Sequence[Proposal], memories: MemorySearch | None = None
) -> list[Proposal]:
    """Returns the same candidates with their `neighbours` set: the active memories near each. Suggestions have none.

    `memories`: an open search of the project; by default, a temporary one is used. Raises MemoryError_.
    """
    if not any(one.is_claim for one in proposals):
        return list(proposals)
    store = paths.store()
    found: list[Proposal] = []
    with paths.open_ledger() as ledger, open_memory_search(paths, memories) as search:
        claims = {one.id: one for one in ledger.claims("pending")}
        for proposal in proposals:
            title, body = proposal.record.title, proposal.record.body
            near: tuple[NearMemory, ...] = ()
            if proposal.is_claim and proposal.id in claims:
                skip = ledger.choices.answered_memories(claims[proposal.id].fingerprint, claims[proposal.id].source)
                near = find_neighbours(search, store, title, body, skip=skip)
            found.append(replace(proposal, neighbours=near))
    return found


def needs_choice(proposal: Proposal) -> bool:
    """Returns whether a person should look at other memories before accepting this candidate, which has its
    neighbours: it would change or end some, or one is so near that it may say the same."""
    return bool(proposal.target_memories) or any(one.similarity >= MIN_NEAR_SIMILARITY for one in proposal.neighbours)


def claim_states(paths: ReviewPaths) -> dict[str, ClaimState]:
    """Returns the state of every candidate that was ever proposed here, by its id. Writes nothing."""
    with paths.open_ledger_if_any() as ledger:
        return ledger.states() if ledger is not None else {}


def pairs_kept_apart(paths: ReviewPaths) -> set[frozenset[str]]:
    """Returns the pairs of memories, by their ids, that the person chose to keep separate. Writes nothing."""
    with paths.open_ledger_if_any() as ledger:
        return ledger.choices.pairs_kept_apart() if ledger is not None else set()


def pairs_not_merged(paths: ReviewPaths) -> set[frozenset[str]]:
    """Returns these pairs, and those of which the person rejected a proposal to merge them. Writes nothing."""
    with paths.open_ledger_if_any() as ledger:
        return ledger.choices.pairs_kept_apart() | rejected_merges(ledger) if ledger is not None else set()


def acceptances(paths: ReviewPaths) -> dict[str, tuple[datetime, str]]:
    """Returns when each memory was last accepted or added here, and its claim's source, by its id. Writes nothing.

    The source is `<platform>:<session>#<turn>`, AGENT_PREFIX and a name, FILE_PREFIX and a place, or "" for a memory
    that a person wrote.
    """
    with paths.open_ledger_if_any() as ledger:
        return ledger.acceptances() if ledger is not None else {}


def list_own_memories(paths: ReviewPaths) -> frozenset[str]:
    """Returns the ids of the memories that were made on this machine; the person quoted in them is therefore the one
    who reads them. A teammate's memory that was only changed here is not among them. Writes nothing."""
    with paths.open_ledger_if_any() as ledger:
        return frozenset(ledger.list_own_memories()) if ledger is not None else frozenset()


def acceptance_times(paths: ReviewPaths) -> dict[str, datetime]:
    """Returns when each memory was last accepted or added here, by its id. Writes nothing."""
    return {memory: time for memory, (time, _) in acceptances(paths).items()}


def load_pending(paths: ReviewPaths, candidate_id: str) -> Proposal:
    """Loads a waiting candidate by its id. Writes nothing. Raises NotFoundError, MemoryError_."""
    if claim_states(paths).get(candidate_id) != "pending":
        message = f"No candidate {candidate_id[:80]!r} waits for review."
        raise NotFoundError(message, where=str(paths.review), todo="See `lerim review list`.")
    return load_candidate(paths, candidate_id, paths.store())


def withdraw_candidates(paths: ReviewPaths, turn: str, reason: str, *, title: str = "") -> list[str]:
    """Withdraws the waiting candidates whose claim comes from this turn (its id), and returns their ids.

    Candidates of this turn that were accepted automatically are undone first, unless their memory was changed since.
    A candidate that a person edited or asked for stays. With `title`, other claims of the turn stay. Raises
    MemoryError_, BusyError.
    """
    if not paths.has_ledger():
        return []
    with actions.locked_ledger(paths) as ledger:
        undo_auto_accept(paths, ledger, turn, title)
        wanted = (one for one in ledger.claims("pending") if ledger.is_claim_of(one, turn, title))
        return _withdraw(paths, ledger, wanted, reason)


def withdraw_candidate(paths: ReviewPaths, candidate_id: str, reason: str) -> bool:
    """Withdraws one waiting candidate. Returns False if it does not wait, or if a person edited it or asked for it.

    Raises MemoryError_, BusyError.
    """
    if not paths.has_ledger():
        return False
    with actions.locked_ledger(paths) as ledger:
        claims = [one for one in ledger.claims("pending") if one.id == candidate_id]
        return bool(_withdraw(paths, ledger, claims, reason))


def _withdraw(paths: ReviewPaths, ledger: Ledger, claims: Iterable[LedgerClaim], reason: str) -> list[str]:
    withdrawn = []
    for claim, proposal in _withdrawable(paths, ledger, claims):
        withdraw_in_ledger(paths, ledger, proposal, reason)
        withdrawn.append(claim.id)
    return withdrawn


def _withdrawable(
    paths: ReviewPaths, ledger: Ledger, claims: Iterable[LedgerClaim]
) -> Iterator[tuple[LedgerClaim, Proposal]]:
    """Yields those pending claims that have no unfinished action and that no person edited or asked for. A claim
    whose file cannot be read counts as edited by hand."""
    unfinished = {action.candidate for action in ledger.unfinished_actions()}
    for claim in claims:
        for proposal in load_each_candidate(paths, {claim.id} - unfinished, paths.store())[0]:
            if not _belongs_to_person(proposal, claim):
                yield claim, proposal


def _belongs_to_person(proposal: Proposal, claim: LedgerClaim) -> bool:
    return proposal.edited or proposal.maker == "person" or files.hash_text(proposal.saved_text) != claim.written


def is_only_ranked(proposal: Proposal) -> bool:
    """Returns whether only the ranker proposed the candidate: it was not proposed by a model, and no person edited
    it or asked for it."""
    return proposal.maker == "rules" and not proposal.edited and proposal.signal in RANKED_SIGNALS


def leave_out_ranked(paths: ReviewPaths, source: str, turns: Collection[str]) -> list[tuple[str, DroppedSignal]]:
    """Withdraws the waiting candidates of a session (`platform:id`) that only the ranker found in these turns (their
    ids), because a model has now read the turns. They are listed as left out.

    Returns (candidate id, left-out entry) for each. Raises MemoryError_, BusyError.
    """
    withdrawn: list[tuple[str, DroppedSignal]] = []
    if not paths.has_ledger():
        return withdrawn
    with actions.locked_ledger(paths) as ledger:
        parts = ((one, one.source.rpartition("#")) for one in ledger.claims("pending"))
        wanted = (one for one, (session, _, turn) in parts if session == source and turn in turns)
        for claim, proposal in _withdrawable(paths, ledger, wanted):
            candidate = ledger.load_proposed(claim.id)
            if candidate is None or not is_only_ranked(proposal):
                continue
            dropped = drop_candidate(candidate, "model-read", "", candidate.score)
            # `withdraw_in_ledger` commits this in its first transaction, so a kill leaves both or neither.
            ledger.left_out.save((dropped,), datetime.now(UTC))
            ledger.left_out.mark_proposed(candidate, claim.id)
            withdraw_in_ledger(paths, ledger, proposal, DROP_REASON_TEXTS["model-read"])
            withdrawn.append((claim.id, dropped))
        # Otherwise, what the model finds in the same turns would count as withdrawn before. This also deletes the
        # claims that a killed process left.
        ledger.forget_left_out("model-read")
    return withdrawn
