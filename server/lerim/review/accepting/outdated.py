"""Checks whether proposals still fit the memories they are about. Those that do not are shown again or withdrawn."""

from __future__ import annotations

from lerim.errors import StaleError
from lerim.memory import Uses, is_feedback_reason
from lerim.review import actions
from lerim.review.candidates import Proposal, Target, action_fields, load_each_candidate
from lerim.review.ledger import FileChange, Ledger
from lerim.review.proposing import SUGGESTION_PREFIX
from lerim.review.review_paths import ReviewPaths

UNRATED_NOTE = "the rating was withdrawn"


def check_lost_targets(paths: ReviewPaths, ledger: Ledger, proposal: Proposal) -> None:
    """Raises StaleError if a target of the proposal is gone or no longer active. The proposal is then updated to the
    remaining targets, or withdrawn if too few remain."""
    if proposal.is_obsolete:
        withdraw_in_ledger(paths, ledger, proposal, "its memories are archived or deleted")
        raise StaleError(
            "The memories this was about are archived, replaced or deleted. The candidate was withdrawn.",
            where=str(proposal.path),
            todo="List the candidates again.",
        )
    if proposal.lost_targets:
        _refresh_targets(paths, ledger, proposal)
        now = "proposes a new memory" if proposal.action == "add" else "no longer refers to it"
        raise StaleError(
            f"The memory this would change or replace is archived, replaced or deleted. The candidate now {now}.",
            where=str(proposal.path),
            todo="Check the candidate, then accept it again, or reject it.",
        )


def check_rating_stands(paths: ReviewPaths, ledger: Ledger, proposal: Proposal) -> None:
    """Raises StaleError if the proposal would archive a memory because a person rated it wrong or outdated, and that
    rating no longer counts, because it was undone or because the person has chosen to keep the memory since. The
    proposal is then withdrawn."""
    if proposal.action != "archive" or not is_feedback_reason(proposal.reason):
        return
    uses = Uses(paths.private)
    unwanted = uses.find_unwanted()
    # if ratings cannot be read, the proposal stands
    if any(one.id in unwanted for one in proposal.targets) or uses.problems:
        return
    withdraw_in_ledger(paths, ledger, proposal, UNRATED_NOTE)
    raise StaleError(
        "It is no longer rated wrong or outdated. The candidate was withdrawn.",
        where=str(proposal.path),
        todo="List the candidates again.",
    )


def check_changed_targets(paths: ReviewPaths, ledger: Ledger, proposal: Proposal) -> None:
    """Raises StaleError, with the new diff, if a target memory was changed since the proposal was made."""
    as_now = {one.record.id: one for one in proposal.target_memories}
    changed = [as_now[one.id] for one in proposal.targets if one.id in as_now and as_now[one.id].text_hash != one.hash]
    if changed:
        _refresh_targets(paths, ledger, proposal)
        raise StaleError(
            f"{changed[0].path.name} was changed since this was proposed.",
            where=str(changed[0].path),
            todo="Check the new difference and accept again.",
            diff=proposal.diff,
        )


def withdraw_in_ledger(paths: ReviewPaths, ledger: Ledger, proposal: Proposal, reason: str) -> None:
    """Withdraws a waiting candidate that no longer applies. Raises StaleError if its file changed, MemoryError_."""
    change = FileChange("review", str(paths.state_anchor), str(proposal.path), proposal.text, None)
    label = f"Withdrawn: {proposal.record.title}"
    actions.perform_action(paths, ledger, "withdraw", label, proposal.id, ("pending", "withdrawn"), [change])
    ledger.set_state(proposal.id, "withdrawn", note=reason)


def withdraw_archiving(
    paths: ReviewPaths, ledger: Ledger, memory_id: str, reason: str = UNRATED_NOTE, text: str = ""
) -> None:
    """Withdraws the waiting proposals to archive a memory, except those that a person edited or that cannot be read.
    `text` limits this to proposals made when the memory's file had the text with this hash. Raises the same errors
    as `withdraw_in_ledger`."""
    unfinished = {action.candidate for action in ledger.unfinished_actions()}
    for claim in ledger.claims("pending"):
        if claim.source.startswith(f"{SUGGESTION_PREFIX}archive:{memory_id}@{text}"):
            for proposal in load_each_candidate(paths, {claim.id} - unfinished, paths.store())[0]:
                if not proposal.edited:
                    withdraw_in_ledger(paths, ledger, proposal, reason)


def _refresh_targets(paths: ReviewPaths, ledger: Ledger, proposal: Proposal) -> None:
    """Updates the target hashes in the candidate file, so that the next accept applies to the texts that the person
    now sees."""
    hashes = {one.record.id: one.text_hash for one in proposal.target_memories}
    targets = [Target(one.id, hashes.get(one.id, one.hash)) for one in proposal.targets]
    keys = action_fields(proposal.action, targets, proposal.reason, proposal.maker)
    actions.rewrite_candidate(paths, ledger, proposal, {"targets": None, "reason": None, "undecided": None, **keys})
