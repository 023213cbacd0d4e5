"""What a person does with a candidate: accept, edit, reject; or writes without one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from lerim import files
from lerim.errors import MemoryError_, NotFoundError, StaleError
from lerim.memory import (
    LearningKind,
    MemoryRecord,
    MemorySearch,
    Primitive,
    QuoteChoice,
    Store,
    StoredMemory,
    Uses,
    find_unwanted_reason,
    inherit_baselines,
    is_feedback_reason,
    render_record,
    slug,
    verifying,
)
from lerim.redaction import redact_secrets
from lerim.review import actions
from lerim.review.answering import answer_to_record, apply_choice, find_kept_beside
from lerim.review.candidates import (
    PERSON_CONFIDENCE,
    CandidateEdit,
    Proposal,
    Target,
    action_fields,
    apply_edit,
    join_lines,
    load_candidate,
    parse_candidate,
)
from lerim.review.choices import NeighbourChoice
from lerim.review.effects import Effects, compute_effects
from lerim.review.ledger import ActionKind, ClaimState, FileChange, JudgmentKind, Ledger, LedgerClaim
from lerim.review.propose import propose_orphans
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths
from lerim.review.rewrite import accepted_record
from lerim.review.suggestions import SUGGESTION_PREFIX

__all__ = [
    "ReviewResult",
    "accept_candidate",
    "add_memory",
    "edit_candidate",
    "note_kept",
    "reject_candidate",
    "withdraw_archiving",
    "withdraw_in_ledger",
]

_UNSAID = "the rating was withdrawn"


def accept_candidate(
    place: ReviewPaths,
    candidate_id: str,
    edit: CandidateEdit | None = None,
    quotes: QuoteChoice | None = None,
    memories: MemorySearch | None = None,
    now: datetime | None = None,
    *,
    choice: NeighbourChoice | None = None,
    unseen: bool = False,
    singly: bool = True,
) -> ReviewResult:
    """Do what a candidate proposes; then the candidate is gone. `unseen`: no person looked at it. What was accepted
    unseen, or not `singly` but with all that wait, does not move the ranking. What a person accepts has a confidence of
    at least `ACCEPTED_CONFIDENCE`; what is accepted unseen keeps its own.

    The first accept in a project returns `ask_quotes` unless `quotes` says it. Accepting twice is accepting once.
    `choice`: what the candidate is to a memory near it; without one, the suggested answer is taken, if there is one,
    else the new memory stands beside its neighbours. `memories`: a search the caller keeps open. Raises StaleError
    where a file that would be changed is not as it was shown, NotFoundError, MemoryError_, BusyError.
    """
    with actions.locked_ledger(place) as book:
        store = place.store()
        known = _known(place, book, candidate_id)
        if known.state in ("accepted", "known"):
            path = store.path_of(known.memory)
            return ReviewResult(True, "already", "It was accepted before.", path=str(path) if path else None)
        proposal = _waiting(place, known, store)
        shared = quotes or store.quotes.read_choice()
        if shared is None:
            message = "Shall the quotes of memories be shared in git, or stay on this machine?"
            return ReviewResult(False, "ask-quotes", message, ask_quotes=True)
        if shared != store.quotes.read_choice():
            place.make_private()
            store.quotes.write_choice(shared)
        final = proposal
        if edit is not None:
            final = parse_candidate(apply_edit(proposal, edit), proposal.path, store, proposal.text)
        if choice is not None:
            final = replace(apply_choice(store, final, choice), whole=edit is not None)
        _check_lost(place, book, final)
        _check_unwanted(place, book, final)
        if final.action != "same":  # which leaves the memory's file as it is
            _check_changed(place, book, final)
        kind: ActionKind = "settle" if unseen else "accept"
        if kind == "accept":
            final = replace(final, record=accepted_record(final.record))
        judged: JudgmentKind | None = None if unseen or not singly else "edited" if final.edited else "accepted"
        near = find_kept_beside(place, book, store, final, choice, memories)
        return _carry_out(place, book, store, proposal, final, now or datetime.now(UTC), kind, judged, near)


def _carry_out(
    place: ReviewPaths,
    book: Ledger,
    store: Store,
    waiting: Proposal,
    final: Proposal,
    now: datetime,
    kind: ActionKind,
    judged: JudgmentKind | None,
    near: Sequence[str],
) -> ReviewResult:
    """Do it. `near`: the neighbours that the new memory stands beside."""
    effect = compute_effects(
        store, final, partial(_verified, place, now) if final.session else partial(_inherited, place)
    )
    _note_ours(book, store, final, effect)
    changes = (*effect.changes, FileChange("review", str(place.state_anchor), str(waiting.path), waiting.text, None))
    label = _describe_accepted(final)
    states: tuple[ClaimState, ClaimState] = ("pending", "known" if final.action == "same" else "accepted")
    done = actions.perform_action(
        place,
        book,
        kind,
        label,
        waiting.id,
        states,
        changes,
        effect.memory_id,
        judged,
        answer_to_record(book, final, effect, near),
    )
    if final.action == "same":
        Uses(place.private).record_use([effect.memory_id], "said", final.record.updated)
    elif final.action not in ("archive", "refer", "close"):  # these give no memory new words
        note_kept(place, effect.memory_id, now)
    return ReviewResult(True, "known" if final.action == "same" else "accepted", label, done.id, str(effect.path))


def _describe_accepted(final: Proposal) -> str:
    """One line on what accepting did, also to the memories that the candidate is about."""
    title = final.record.title
    about = final.about[0].record.title if final.about else ""
    match final.action:
        case "same":
            return f"Evidence added: {about}"
        case "supersede":
            return f"Accepted: {title} (replaces “{about}”)"
        case "update":
            return f"Accepted: {title} (changes “{about}”)" if about != title else f"Accepted as a change: {title}"
        case "resolve":
            return f"Accepted: {title} (answers “{about}”)"
        case "archive":
            return f"Archived: {'; '.join(one.record.title for one in final.about)}"
        case "merge":
            return f"Merged: {title}"
        case "consolidate":
            return f"Combined: {title}"
        case "close":
            return f"Answered: {about}"
        case "refer":
            before = final.about[0].record.references
            new = [one for one in final.record.references if one not in before]
            return f"Refers to {', '.join(new)}: {title}" if new else f"Fewer references: {title}"
        case "add":
            return f"Accepted: {title}"


def _verified(place: ReviewPaths, now: datetime, memory: MemoryRecord, _: Sequence[MemoryRecord] = ()) -> MemoryRecord:
    return verifying.verify_record(place.project, place.home, memory, now)


def _inherited(place: ReviewPaths, memory: MemoryRecord, sources: Sequence[MemoryRecord]) -> MemoryRecord:
    return inherit_baselines(place.project, place.home, memory, sources)


def note_kept(place: ReviewPaths, memory_id: str, now: datetime | None = None) -> None:
    """A person wants this memory kept: that is a use of it, and disuse begins here."""
    Uses(place.private).record_use([memory_id], "kept", now or datetime.now(UTC))


def _note_ours(book: Ledger, store: Store, proposal: Proposal, effect: Effects) -> None:
    """Remember which texts no person wrote a word of: these alone may be changed unseen."""
    if proposal.edited:
        return
    unedited = all(book.is_ours(one.text_hash) for one in proposal.about)
    for change in effect.changes:
        if (
            change.home == "memory"
            and change.after
            and (unedited or (change is effect.changes[-1] and change.before is None))
        ):
            book.wrote(change.after)


def edit_candidate(place: ReviewPaths, candidate_id: str, edit: CandidateEdit, *, seen: str = "") -> ReviewResult:
    """Change a waiting candidate's words; its confidence is then a person's. `seen`: the hash of the file's text that
    the person changed a copy of. Raises NotFoundError, MemoryError_, StaleError."""
    with actions.locked_ledger(place) as book:
        store = place.store()
        proposal = _waiting(place, _known(place, book, candidate_id), store)
        text = apply_edit(proposal, edit)
        if seen and seen != files.hash_text(proposal.text):
            todo = "Read its new text, then edit it again."
            raise StaleError(
                ("It has changed in the meantime; nothing was overwritten."), where=str(proposal.path), todo=todo
            )
        if text == proposal.text:
            return ReviewResult(True, "unchanged", "Nothing was changed.", path=str(proposal.path))
        parse_candidate(text, proposal.path, store)
        change = FileChange("review", str(place.state_anchor), str(proposal.path), proposal.text, text)
        label = f"Edited: {proposal.record.title}"
        done = actions.perform_action(
            place, book, "edit", label, proposal.id, ("pending", "pending"), [change], judged="edited"
        )
        return ReviewResult(True, "edited", label, done.id, str(proposal.path))


def reject_candidate(place: ReviewPaths, candidate_id: str) -> ReviewResult:
    """Refuse a candidate for good: its claim is not proposed again. Raises NotFoundError, MemoryError_."""
    with actions.locked_ledger(place) as book:
        known = _known(place, book, candidate_id)
        if known.state == "rejected":
            return ReviewResult(True, "already", "It was rejected before.")
        proposal = _waiting(place, known, place.store())
        change = FileChange("review", str(place.state_anchor), str(proposal.path), proposal.text, None)
        label = f"Rejected: {proposal.record.title}"
        done = actions.perform_action(
            place, book, "reject", label, known.id, ("pending", "rejected"), [change], judged="rejected"
        )
        propose_orphans(place, book)
        return ReviewResult(True, "rejected", label, done.id)


def add_memory(
    place: ReviewPaths,
    primitive: Primitive,
    title: str,
    body: str,
    *,
    kind: LearningKind | None = None,
    tags: Sequence[str] = (),
    references: Sequence[str] = (),
    confidence: float = PERSON_CONFIDENCE,
) -> ReviewResult:
    """Write a memory a person made by hand, secrets cut out; it can be undone. One that is there in the same words is
    left as it is, and said. Raises MemoryError_."""
    if not join_lines(title):
        raise MemoryError_("A memory needs a title.", where="title", todo="Write one.")
    if not 0 <= confidence <= 1:
        raise MemoryError_("The confidence is not a number from 0 to 1.", where="confidence", todo="Use 0.9, say.")
    now = datetime.now(UTC).replace(microsecond=0)
    clean = [
        redact_secrets(text) for text in (join_lines(title), files.path_to_text(body).strip(), *map(join_lines, tags))
    ]
    title, body, *tags = (part.text for part in clean)
    memory = MemoryRecord(
        *("", primitive, title, now, now, "manual", confidence, tuple(tags), body),
        kind=kind if primitive == "learning" else None,
        references=tuple(references),
    )
    with actions.locked_ledger(place) as book:
        store = place.store()
        there = _said_by(store, memory)
        if there is not None:
            told = f"It exists already: {there.record.title} ({there.record.id})"
            return ReviewResult(True, "already", told, path=str(there.path))
        states = book.states()
        memory = replace(memory, id=store.new_id(memory, lambda name: name in states))
        if references:
            memory = _verified(place, now, memory)
        path = store.path_for(memory)
        change = FileChange("memory", str(store.anchor), str(path), None, render_record(memory))
        label = f"Added: {memory.title}"
        done = actions.perform_action(place, book, "add", label, "", ("pending", "accepted"), [change], memory.id)
        note_kept(place, memory.id)
        cut = sum(part.count for part in clean)
        told = f"{label}\n{cut} secret{'s were' if cut > 1 else ' was'} removed." if cut else label
        return ReviewResult(True, "added", told, done.id, str(path))


def _said_by(store: Store, memory: MemoryRecord) -> StoredMemory | None:
    """The active memory of this primitive that has the same title and text, in any case of letters; of those alone that
    were named after this title."""
    name = slug.make_slug(memory.title)
    for path in (store.path_of(one) for one in sorted(store.all_ids()) if slug.has_slug(one, name)):
        if path is None:
            continue
        with suppress(MemoryError_):  # a file that cannot be read says nothing
            stored = store.load(path)[0]
            if stored.status == "active" and _words(stored.record) == _words(memory):
                return stored
    return None


def _words(memory: MemoryRecord) -> tuple[str, str, str]:
    return memory.primitive, join_lines(memory.title).casefold(), " ".join(memory.body.split()).casefold()


def _known(place: ReviewPaths, book: Ledger, candidate_id: str) -> LedgerClaim:
    actions.require_finished(place, book, lambda action: action.candidate == candidate_id)
    known = book.known(candidate_id)
    if known is None:
        raise NotFoundError(
            f"There is no candidate {candidate_id[:80]!r}.", where=str(place.review), todo="Refresh the list."
        )
    return known


def _waiting(place: ReviewPaths, known: LedgerClaim, store: Store) -> Proposal:
    if known.state != "pending":
        why = (
            f": {known.note}" if known.note and known.source.startswith(SUGGESTION_PREFIX) else ""
        )  # no words of a session
        message = f"This candidate was {known.state} before{why}."
        raise NotFoundError(message, where=str(place.review), todo="Undo that first, or refresh the list.")
    return load_candidate(place, known.id, store)


def _check_lost(place: ReviewPaths, book: Ledger, proposal: Proposal) -> None:
    """Raises StaleError where a memory the proposal is about is over; it then waits without it, or not at all."""
    if proposal.void:
        withdraw_in_ledger(place, book, proposal, "its memories are archived or gone")
        raise StaleError(
            "The memories this was about are archived, replaced or gone. The proposal was withdrawn.",
            where=str(proposal.path),
            todo="Refresh the list.",
        )
    if proposal.lost:
        _show_again(place, book, proposal)
        waits = "as a new one" if proposal.action == "add" else "without it"
        raise StaleError(
            f"The memory this would change or replace is archived, replaced or gone. It now waits {waits}.",
            where=str(proposal.path),
            todo="Check it, then accept it again, or reject it.",
        )


def _check_unwanted(place: ReviewPaths, book: Ledger, proposal: Proposal) -> None:
    """Raises StaleError where a memory is to be archived for a word of a person's that does not count any more: it was
    undone, or they kept the memory since. The proposal is then taken back."""
    if proposal.action != "archive" or not is_feedback_reason(proposal.reason):
        return
    uses = Uses(place.private)
    said, kept = uses.last_feedback(), uses.last_kept()
    counts = any(one.id in said and find_unwanted_reason(*said[one.id], kept.get(one.id)) for one in proposal.targets)
    if counts or uses.problems:  # what cannot be read denies nothing
        return
    withdraw_in_ledger(place, book, proposal, _UNSAID)
    raise StaleError(
        "It is no longer rated wrong or outdated. The proposal was withdrawn.",
        where=str(proposal.path),
        todo="Refresh the list.",
    )


def _check_changed(place: ReviewPaths, book: Ledger, proposal: Proposal) -> None:
    """Raises StaleError where a memory the proposal is about was changed since; it then shows the new difference."""
    as_now = {one.record.id: one for one in proposal.about}
    changed = [as_now[one.id] for one in proposal.targets if one.id in as_now and as_now[one.id].text_hash != one.hash]
    if changed:
        _show_again(place, book, proposal)
        raise StaleError(
            f"{changed[0].path.name} was changed since this was proposed.",
            where=str(changed[0].path),
            todo="Check the new difference and accept again.",
            diff=proposal.diff,
        )


def withdraw_in_ledger(place: ReviewPaths, book: Ledger, proposal: Proposal, reason: str) -> None:
    """Remove a waiting candidate that makes no sense any more. Raises StaleError if its file changed, MemoryError_."""
    change = FileChange("review", str(place.state_anchor), str(proposal.path), proposal.text, None)
    label = f"Withdrawn: {proposal.record.title}"
    actions.perform_action(place, book, "withdraw", label, proposal.id, ("pending", "withdrawn"), [change])
    book.set_state(proposal.id, "withdrawn", note=reason)


def withdraw_archiving(place: ReviewPaths, book: Ledger, memory_id: str, reason: str = _UNSAID, text: str = "") -> None:
    """Take back what would archive a memory, or what would as its file had the text of this hash; not what a person
    edited. Raises as `withdraw_in_ledger`."""
    unfinished = {action.candidate for action in book.unfinished()}
    for known in book.claims("pending"):
        about = known.source.startswith(f"{SUGGESTION_PREFIX}archive:{memory_id}@{text}")
        if about and known.id not in unfinished and not files.is_absent(place.candidate_path(known.id)):
            proposal = load_candidate(place, known.id, place.store())
            if not proposal.edited:
                withdraw_in_ledger(place, book, proposal, reason)


def _show_again(place: ReviewPaths, book: Ledger, proposal: Proposal) -> None:
    """Let the candidate stand against the memories as they are, so that the next accept is of what the person sees."""
    hashes = {one.record.id: one.text_hash for one in proposal.about}
    targets = [Target(one.id, hashes.get(one.id, one.hash)) for one in proposal.targets]
    keys = action_fields(proposal.action, targets, proposal.reason, proposal.maker)
    actions.rewrite_candidate(place, book, proposal, {"targets": None, "reason": None, "undecided": None, **keys})
