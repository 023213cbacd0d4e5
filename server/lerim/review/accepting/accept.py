"""Accepts a candidate: performs the checks, applies the answer about a neighbouring memory, changes the files, and
records the result."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime

from lerim.errors import MemoryError_, StaleError
from lerim.memory import (
    MemoryRecord,
    MemorySearch,
    QuoteChoice,
    ReferenceProblem,
    Store,
    Uses,
    check_references,
    inherit_baselines,
    summarize_problems,
    verifying,
)
from lerim.review import actions
from lerim.review.accepting.edit_or_reject import HeldBulk, check_seen, load_claim, load_waiting, save_edit
from lerim.review.accepting.effects import Effects, compute_effects
from lerim.review.accepting.outdated import check_changed_targets, check_lost_targets, check_rating_stands
from lerim.review.candidates import (
    Proposal,
    ProposedAction,
    Target,
    accepted_record,
    apply_edit,
    parse_candidate,
)
from lerim.review.compare import ACTIONS, ANSWERS, RecordedAnswer, find_neighbours
from lerim.review.decisions import CandidateEdit, NeighbourChoice
from lerim.review.ledger import ActionKind, ClaimState, FileChange, JudgmentKind, Ledger
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def accept_candidate(
    paths: ReviewPaths,
    candidate_id: str,
    edit: CandidateEdit | None = None,
    quotes: QuoteChoice | None = None,
    now: datetime | None = None,
    *,
    choice: NeighbourChoice | None = None,
    automatic: bool = False,
    seen: str = "",
    bulk: HeldBulk | None = None,
) -> ReviewResult:
    """Accepts a candidate: performs its action and deletes its file. Accepting it again changes nothing. An `edit` is
    saved first, as an action of its own.

    `choice` says how the candidate relates to a memory near it. Without it, the suggested answer applies, if there is
    one; otherwise the new memory is kept beside its neighbours. The first accept in a project only returns `ask_quotes`
    unless `quotes` is given.

    `automatic`: no person looked at the candidate; it then keeps its confidence, which is otherwise raised to at
    least `ACCEPTED_CONFIDENCE`. `in_bulk`: it is accepted together with all others that wait. The ranking learns
    neither from automatic nor from bulk accepts, and maintenance may still propose to merge the memory with those
    near it. `bulk`: it is accepted together with others, under a lock that is already held. For `seen`, see
    `check_seen`. Raises StaleError if a file that would be changed is no longer as it was shown, NotFoundError,
    MemoryError_, BusyError.
    """
    in_bulk = bulk is not None
    with actions.locked_ledger(paths) if bulk is None else nullcontext(bulk.ledger) as ledger:
        store = paths.store()
        known = load_claim(paths, ledger, candidate_id)
        if known.state in ("accepted", "known"):
            path = store.path_of(known.memory)
            return ReviewResult(True, "already", "It was accepted before.", path=str(path) if path else None)
        proposal = load_waiting(paths, known, store)
        check_seen(proposal, seen)
        shared = quotes or store.quotes.read_choice()
        if shared is None:
            message = "Share the quotes of memories in git?"
            return ReviewResult(False, "ask-quotes", message, ask_quotes=True)
        final = proposal
        if edit is not None:
            final = parse_candidate(apply_edit(proposal, edit), proposal.path, store, proposal.text)
        if choice is not None:
            overwrites_body = edit is not None and edit.body is not None
            final = replace(apply_choice(store, final, choice), overwrites_body=overwrites_body)
        check_lost_targets(paths, ledger, final)
        check_rating_stands(paths, ledger, final)
        if final.action != "same":  # "same" leaves the memory's file as it is
            check_changed_targets(paths, ledger, final)
        if shared != store.quotes.read_choice():
            paths.make_private_folder()
            store.quotes.write_choice(shared)
        if not automatic:
            final = replace(final, record=accepted_record(final.record))
        is_looked_at = not (automatic or in_bulk)
        judged: JudgmentKind | None = None if not is_looked_at else "edited" if final.edited else "accepted"
        # a person who did not look at it has not kept it beside the memories near it
        near = find_kept_beside(paths, ledger, store, final, choice) if is_looked_at or choice else ()
        moment, is_claim = now or datetime.now(UTC), final.is_claim

        def verify(memory: MemoryRecord, sources: Sequence[MemoryRecord]) -> MemoryRecord:
            if is_claim:
                return verifying.verify_record(paths.project, paths.home, memory, moment)
            return inherit_baselines(paths.project, paths.home, memory, sources)

        effect = compute_effects(store, final, verify)
        _record_unedited_texts(ledger, final, effect)
        save_edit(paths, ledger, proposal, final.text, moment)  # undoing the accept keeps it
        removed = FileChange("review", str(paths.state_anchor), str(proposal.path), final.text, None)
        label = _describe_accepted(final)
        kind: ActionKind = "settle" if automatic else "accept"
        states: tuple[ClaimState, ClaimState] = ("pending", "known" if final.action == "same" else "accepted")
        answered = answer_to_record(ledger, final, effect, near)
        done = actions.perform_action(
            *(paths, ledger, kind, label, proposal.id, states, (*effect.changes, removed), effect.memory_id),
            *(judged, answered, moment, bulk.id if bulk else ""),
        )
        if final.action == "same":
            Uses(paths.private).record_use([effect.memory_id], "said", final.record.updated)
        elif final.action not in ("archive", "refer", "close"):  # these give no memory new words
            record_kept(paths, effect.memory_id, moment)
    # the memory of "same" gets none of the references
    problems = _find_reference_problems(paths, final) if is_looked_at and final.action != "same" else []
    missing = tuple(f"{problem.message}." for problem in problems)
    note = summarize_problems(problems)
    return ReviewResult(True, states[1], label, done.id, str(effect.path), note=note, missing=missing)


def _describe_accepted(final: Proposal) -> str:
    title = final.record.title
    targets = [one.record for one in final.target_memories]
    target_title = targets[0].title if targets else ""
    if final.action == "refer":
        new = [one for one in final.record.references if one not in targets[0].references]
        return f"Refers to {', '.join(new)}: {title}" if new else f"Fewer references: {title}"
    if final.action == "update" and target_title == title:
        return f"Accepted as a change: {title}"
    labels: dict[ProposedAction, str] = {
        "same": f"Evidence added: {target_title}",
        "supersede": f"Accepted: {title} (replaces “{target_title}”)",
        "update": f"Accepted: {title} (changes “{target_title}”)",
        "resolve": f"Accepted: {title} (answers “{target_title}”)",
        "archive": f"Archived: {'; '.join(one.title for one in targets)}",
        "merge": f"Merged: {title}",
        "consolidate": f"Combined: {title}",
        "close": f"Answered: {target_title}",
    }
    return labels.get(final.action, f"Accepted: {title}")


def _find_reference_problems(paths: ReviewPaths, accepted: Proposal) -> list[ReferenceProblem]:
    return [] if paths.project.is_personal else check_references(paths.project.root, accepted.record.references)


def record_kept(paths: ReviewPaths, memory_id: str, now: datetime | None = None) -> None:
    """Records that a person wants to keep this memory. The time during which it counts as unused then starts again."""
    Uses(paths.private).record_use([memory_id], "kept", now or datetime.now(UTC))


def _record_unedited_texts(ledger: Ledger, proposal: Proposal, effect: Effects) -> None:
    """Records the texts that no person has edited. Only these texts may be changed automatically."""
    if proposal.edited:
        return
    unedited = all(ledger.is_ours(one.text_hash) for one in proposal.target_memories)
    for change in effect.changes:
        is_new = change is effect.changes[-1] and change.before is None
        if change.home == "memory" and change.after and (unedited or is_new):
            ledger.record_our_text(change.after)


def apply_choice(store: Store, proposal: Proposal, choice: NeighbourChoice) -> Proposal:
    """Returns a copy of the candidate with the action and the target that the person chose. Writes nothing.

    Raises MemoryError_ if the proposal is a suggestion, whose memories Lerim chose, or if it is to answer a memory
    that is not a question. Raises StaleError if the memory is no longer active or, unless the answer is `same`, if
    its text is not the one that the person saw.
    """
    if not proposal.is_claim:
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
    if choice.answer == "answers" and stored.record.primitive != "question":
        todo = "Name an open question, or say that the new memory replaces it."
        raise MemoryError_("This memory is not a question.", where=str(stored.path), todo=todo)
    target = Target(stored.record.id, stored.text_hash)
    return replace(
        proposal, action=ACTIONS[choice.answer], targets=(target,), target_memories=(stored,), lost_targets=()
    )


def answer_to_record(
    ledger: Ledger, final: Proposal, effect: Effects, kept_beside: Sequence[str]
) -> RecordedAnswer | None:
    """Returns the answer to record for a session's candidate, so that the same memories are not shown with it again;
    None if there is nothing to record. `kept_beside` is the result of `find_kept_beside`."""
    known = ledger.find_claim(final.id)
    answer = ANSWERS.get(final.action)
    memories = tuple(kept_beside) if answer == "keep" else tuple(one.record.id for one in final.target_memories)
    if not final.is_claim or known is None or answer is None or not memories:
        return None
    return RecordedAnswer(known.fingerprint, known.source, answer, memories, effect.memory_id)


def find_kept_beside(
    paths: ReviewPaths, ledger: Ledger, store: Store, final: Proposal, choice: NeighbourChoice | None
) -> tuple[str, ...]:
    """Returns the ids of the memories that a new memory is kept beside: the chosen one, or else all that were shown
    with the candidate. Empty if the candidate does not become a new memory."""
    if final.action != "add" or not final.is_claim:
        return ()
    if choice is not None and choice.memory:
        return (choice.memory,)
    known = ledger.find_claim(final.id)
    skip = ledger.choices.answered_memories(known.fingerprint, known.source) if known is not None else set()
    with MemorySearch(paths.project, paths.home) as search:
        near = find_neighbours(search, store, final.record.title, final.record.body, skip=skip)
    return tuple(one.stored.record.id for one in near)
