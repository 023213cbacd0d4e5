"""Writes a model's answer about a waiting candidate into the candidate's file, as the suggested answer."""

from __future__ import annotations

from lerim.errors import MemoryError_, NotFoundError
from lerim.extraction import Candidate
from lerim.memory import HeaderValue
from lerim.review import actions
from lerim.review.candidates import Proposal, Target, action_fields, load_candidate
from lerim.review.compare import ACTIONS
from lerim.review.decisions import NeighbourAnswer
from lerim.review.ledger import Ledger
from lerim.review.review_paths import ReviewPaths


def suggest_answer(
    paths: ReviewPaths, proposal_id: str, answer: NeighbourAnswer | None, memory_id: str = "", reason: str = ""
) -> Proposal:
    """Makes a model's answer about a memory the suggested answer of a waiting candidate. If the answer is None, the
    candidate is only marked as one that a model was asked about.

    Raises NotFoundError if the candidate no longer waits; MemoryError_ if a person edited it, if it is a suggestion,
    or if the memory cannot be read.
    """
    with actions.locked_ledger(paths) as ledger:
        store = paths.store()
        known = ledger.find_claim(proposal_id)
        if known is None or known.state != "pending":
            raise NotFoundError(
                "This candidate no longer waits.", where=proposal_id[:80], todo="List the candidates again."
            )
        proposal = load_candidate(paths, proposal_id, store)
        if proposal.edited or not proposal.session:
            raise MemoryError_(
                "This candidate was edited, or comes from no session.", where=str(proposal.path), todo="Leave it."
            )
        if answer is None:
            actions.rewrite_candidate(paths, ledger, proposal, {"asked": "model"})
        elif answer == "keep":
            restored_targets = proposal.targets if proposal.action == "add" else ()
            _rewrite(paths, proposal, ledger, action_fields("add", restored_targets, reason, "lead"))
        else:
            stored = store.load_by_id(memory_id)
            target = Target(stored.record.id, stored.text_hash)
            _rewrite(paths, proposal, ledger, action_fields(ACTIONS[answer], (target,), reason, "lead"))
        return load_candidate(paths, proposal_id, store)


def _rewrite(paths: ReviewPaths, proposal: Proposal, ledger: Ledger, keys: dict[str, HeaderValue]) -> None:
    keys = {"targets": None, "reason": None, "undecided": None, "asked": "model", **keys}
    actions.rewrite_candidate(paths, ledger, proposal, keys)


def to_candidate(proposal: Proposal) -> Candidate:
    """Returns the session's candidate that a proposal was made from, with the content that its file has now. Its
    time is that of the latest turn that states the claim."""
    memory = proposal.record
    assert proposal.platform is not None and proposal.signal is not None
    return Candidate(
        primitive=memory.primitive,
        kind=memory.kind,
        title=memory.title,
        body=memory.body,
        confidence=memory.confidence,
        tags=memory.tags,
        references=memory.references,
        evidence=memory.evidence,
        platform=proposal.platform,
        session=proposal.session,
        turn=proposal.turn,
        time=memory.updated,
        signal=proposal.signal,
        flags=proposal.flags,
        replaces=proposal.replaces,
    )
