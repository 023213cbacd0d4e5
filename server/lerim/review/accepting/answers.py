"""Applying a person's answer about a neighbouring memory to a candidate, and recording the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lerim.errors import MemoryError_, StaleError
from lerim.memory import MemorySearch, Store
from lerim.review.accepting.effects import Effects
from lerim.review.candidates import Proposal, Target
from lerim.review.compare import ACTIONS, ANSWERS, NeighbourChoice, RecordedAnswer, find_neighbours
from lerim.review.ledger import Ledger
from lerim.review.proposing import open_memory_search
from lerim.review.review_paths import ReviewPaths


def apply_choice(store: Store, proposal: Proposal, choice: NeighbourChoice) -> Proposal:
    """The candidate with the action and target of the person's choice.

    Raises MemoryError_ if the proposal is a suggestion, StaleError if the memory is not as the person saw it.
    """
    if not proposal.session:
        raise MemoryError_(
            "Lerim already chose the memories for this candidate.",
            where=str(proposal.path),
            todo="Accept or reject it.",
        )
    if choice.answer == "keep":
        restores = proposal.action == "add"
        targets, target_memories = (proposal.targets, proposal.target_memories) if restores else ((), ())
        return replace(
            proposal, action="add", targets=targets, target_memories=target_memories, lost_targets=(), diff=""
        )
    stored = store.load_by_id(choice.memory)
    if stored.status != "active" or (choice.hash not in ("", stored.text_hash) and choice.answer != "same"):
        raise StaleError(
            "This memory has changed since it was shown. Nothing was changed.",
            where=str(stored.path),
            todo="Check its new text, then choose again.",
        )
    target = Target(stored.record.id, stored.text_hash)
    return replace(
        proposal, action=ACTIONS[choice.answer], targets=(target,), target_memories=(stored,), lost_targets=()
    )


def answer_to_record(
    ledger: Ledger, final: Proposal, effect: Effects, kept_beside: Sequence[str]
) -> RecordedAnswer | None:
    """The answer to record for a session's candidate, so that the same memories are not shown with it again; None if
    there is nothing to record. `kept_beside` is the result of `find_kept_beside`."""
    known = ledger.find_claim(final.id)
    answer = ANSWERS.get(final.action)
    memories = tuple(kept_beside) if answer == "keep" else tuple(one.record.id for one in final.target_memories)
    if not final.session or known is None or answer is None or not memories:
        return None
    return RecordedAnswer(known.fingerprint, known.source, answer, memories, effect.memory_id)


def find_kept_beside(
    paths: ReviewPaths,
    ledger: Ledger,
    store: Store,
    final: Proposal,
    choice: NeighbourChoice | None,
    memories: MemorySearch | None,
) -> tuple[str, ...]:
    """The ids of the memories that a new memory is kept beside: the chosen one, or else all that were shown with the
    candidate. Empty if the candidate does not become a new memory."""
    if final.action != "add" or not final.session:
        return ()
    if choice is not None and choice.memory:
        return (choice.memory,)
    known = ledger.find_claim(final.id)
    skip = ledger.choices.answered_memories(known.fingerprint, known.source) if known is not None else set()
    with open_memory_search(paths, memories) as search:
        near = find_neighbours(search, store, final.record.title, final.record.body, skip=skip)
    return tuple(one.stored.record.id for one in near)
