"""Makes candidates from a session's claims, unless a claim was seen before or a memory already says the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, StaleError
from lerim.extraction import Candidate
from lerim.memory import MAX_FILE_BYTES, MemoryFilters, MemorySearch, Store, StoredMemory, Uses
from lerim.review import actions
from lerim.review.candidates import (
    Proposal,
    Target,
    add_repeat,
    candidate_text,
    free_candidate_id,
    new_record,
    parse_candidate,
)
from lerim.review.compare import (
    ACTIONS,
    MAX_SEARCHED_NEIGHBOURS,
    MAX_SHOWN_NEIGHBOURS,
    Fingerprint,
    NearMemory,
    find_neighbours,
    is_reread,
    says_the_same,
    suggest_from_words,
)
from lerim.review.ledger import Ledger, LedgerClaim
from lerim.review.proposing.known_memories import find_archived_by_rule, find_echoed_memory
from lerim.review.results import AlreadyKnown, CandidateProposed, ClaimBlocked
from lerim.review.review_paths import ReviewPaths

_ENDED_MEMORIES = MemoryFilters(statuses=("superseded", "resolved", "archived"))
_ACCEPTED_REASON = "It was accepted before."
_RESTORED_REASON = "This memory was archived as unused and was said again, so it is restored."


def propose_candidate(
    paths: ReviewPaths, candidate: Candidate, memories: MemorySearch | None = None
) -> CandidateProposed | ClaimBlocked | AlreadyKnown:
    """Proposes a candidate, unless its claim was rejected, already waits, or a memory says the same.

    `memories`: an open search of the project, for callers with many candidates; by default, a temporary one is used.
    Raises MemoryError_ if the review folder cannot be written, BusyError.
    """
    with actions.locked_ledger(paths) as ledger, open_memory_search(paths, memories) as near:
        return _propose_in_ledger(paths, ledger, candidate, near)


def _propose_in_ledger(
    paths: ReviewPaths, ledger: Ledger, candidate: Candidate, memories: MemorySearch
) -> CandidateProposed | ClaimBlocked | AlreadyKnown:
    fingerprint = ledger.fingerprint(candidate.title, candidate.body)
    claims = ledger.claims_like(candidate.source, fingerprint)
    earlier = _find_earlier_outcome(paths, ledger, claims, candidate, fingerprint)
    if earlier is not None:
        return earlier
    echoed = find_echoed_memory(candidate, memories)
    if echoed is not None:
        return AlreadyKnown(echoed.id, f"Only the agent said it, and a memory says so already: “{echoed.title}”.")
    store = paths.store()
    near = find_neighbours(memories, store, candidate.title, candidate.body, MAX_SEARCHED_NEIGHBOURS)
    for one in near:
        if says_the_same(candidate, one.stored.record):
            return _add_evidence_to_memory(paths, ledger, store, candidate, fingerprint, one.stored)
    comparable = [
        *(one.stored for one in near),
        *memories.find_sharing_words(candidate.title, MAX_SEARCHED_NEIGHBOURS, _ENDED_MEMORIES),
    ]
    for stored in comparable:
        if _was_said_before(ledger, candidate, fingerprint, stored):
            reason = "It is a memory already" if stored.status == "active" else "It is an inactive memory"
            return AlreadyKnown(stored.record.id, f"{reason}: “{stored.record.title}”.")
    accepted_claims = _accepted_here(paths, ledger, store, claims, fingerprint)
    restored = find_archived_by_rule(paths, ledger, store, accepted_claims, candidate.time)
    for known in accepted_claims if restored is None else ():
        # a person has changed the memory's text since, and their words take precedence
        if not _was_superseded(ledger, store, known, candidate.time):
            return AlreadyKnown(known.memory, _ACCEPTED_REASON)
    answered_ids = ledger.choices.answered_memories(fingerprint, candidate.source)
    shown_neighbours = tuple(one for one in near if one.stored.record.id not in answered_ids)[:MAX_SHOWN_NEIGHBOURS]
    return CandidateProposed(
        _write_candidate(paths, ledger, claims, store, candidate, fingerprint, shown_neighbours, restored)
    )


@contextmanager
def open_memory_search(paths: ReviewPaths, memories: MemorySearch | None) -> Iterator[MemorySearch]:
    """Yields the given search, updated to the current files, or a temporary one."""
    if memories is None:
        with MemorySearch(paths.project, paths.home) as own:
            yield own
    else:
        memories.refresh_if_changed()
        yield memories


def latest_turn_times(claims: Iterable[LedgerClaim]) -> dict[str, datetime]:
    """Returns the time of the latest turn that states each memory, by memory id, as far as these claims of the
    ledger show."""
    turn_times: dict[str, datetime] = {}
    for claim in claims:
        if claim.state in ("accepted", "known"):
            turn_times[claim.memory] = max(claim.last_said, turn_times.get(claim.memory, claim.last_said))
    return turn_times


def _find_earlier_outcome(
    paths: ReviewPaths,
    ledger: Ledger,
    claims: Iterable[LedgerClaim],
    candidate: Candidate,
    fingerprint: Fingerprint,
) -> ClaimBlocked | AlreadyKnown | None:
    """Returns the result for a claim that was seen before, with the same text or in the same turn with mostly the same
    words; None for a new claim.

    A claim accepted from the same turn is not proposed again even if its memory is missing: a person may have
    deleted the file.
    """
    for known in claims:
        same_turn = _is_same_turn(known, candidate, fingerprint)
        if not (same_turn or known.fingerprint.text == fingerprint.text):
            continue
        if known.state == "rejected":
            return ClaimBlocked(known.id, ledger.record_blocked(known.id))
        if known.state in ("withdrawn", "outdated") and (same_turn or candidate.time <= known.last_said):
            return AlreadyKnown(known.id, f"It was withdrawn: {known.note}")
        if known.state == "pending" and not files.is_absent(paths.candidate_path(known.id)):
            gained = _add_evidence_to_waiting(paths, ledger, known, candidate)
            ledger.update_said_time(known.id, candidate.time)
            return AlreadyKnown(known.id, "It already waits for review.", gained)
        if known.state in ("accepted", "known") and same_turn and not _is_of_another_branch(paths, ledger, known):
            return AlreadyKnown(known.memory, _ACCEPTED_REASON)
    return None


def _is_same_turn(known: LedgerClaim, candidate: Candidate, fingerprint: Fingerprint) -> bool:
    return known.source == candidate.source and is_reread(known.fingerprint, fingerprint)


def drop_rejected(paths: ReviewPaths, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Returns the candidates that the person has not rejected, whether from the same turn or in the same words.
    Raises MemoryError_ if the ledger cannot be used."""
    with paths.open_ledger_if_any() if candidates else nullcontext() as ledger:
        return [one for one in candidates if ledger is None or not _is_rejected(ledger, one)]


def _is_rejected(ledger: Ledger, candidate: Candidate) -> bool:
    fingerprint = ledger.fingerprint(candidate.title, candidate.body)
    return any(
        known.state == "rejected"
        and (known.fingerprint.text == fingerprint.text or _is_same_turn(known, candidate, fingerprint))
        for known in ledger.claims_like(candidate.source, fingerprint)
    )


def _was_said_before(ledger: Ledger, candidate: Candidate, fingerprint: Fingerprint, stored: StoredMemory) -> bool:
    """Returns whether a memory makes the candidate unnecessary: it comes from the same turn and claim, or it is no
    longer active, has the same text and is from a later time. The memory may be from another installation."""
    memory = stored.record
    if memory.primitive != candidate.primitive or memory.source == "manual":
        return stored.status != "active" and says_the_same(candidate, memory)
    if memory.source == candidate.source:
        return is_reread(ledger.fingerprint(memory.title, memory.body), fingerprint)
    over = stored.status != "active" and candidate.time <= memory.updated
    return over and says_the_same(candidate, memory)


def _is_of_another_branch(paths: ReviewPaths, ledger: Ledger, known: LedgerClaim) -> bool:
    """Returns whether a claim was accepted into a memory that, in this worktree, is in a state from before the
    claim."""
    if known.state != "accepted":
        return False
    try:
        memory = paths.store().load_by_id(known.memory).record
    except (MemoryError_, BoundaryError):
        return False
    proposed = ledger.load_proposed(known.id)
    return proposed is not None and memory.updated < proposed.time


def _accepted_here(
    paths: ReviewPaths, ledger: Ledger, store: Store, claims: Iterable[LedgerClaim], fingerprint: Fingerprint
) -> list[LedgerClaim]:
    """Returns the accepted claims with this text whose memory is in this worktree, active or archived, or was
    deleted by a person in the review. Memories that exist only on another branch, or here in a state from before the
    claim, do not count."""
    here = (store.all_ids() | ledger.ids_acted_on("delete", "done")) - {""}
    equal = [one for one in claims if one.state in ("accepted", "known") and one.fingerprint.text == fingerprint.text]
    elsewhere = {one.memory for one in equal if _is_of_another_branch(paths, ledger, one)}
    return [one for one in equal if one.memory in here - elsewhere]


def _was_superseded(ledger: Ledger, store: Store, known: LedgerClaim, time: datetime) -> bool:
    """Returns whether a later claim, not a person, replaced the text of an accepted claim before this time."""
    later = [one.last_said for one in ledger.claims_about([known.memory]) if one.state == "accepted"]
    if any(known.last_said < said < time for said in later):
        return True
    try:
        stored = store.load_by_id(known.memory)
        if stored.status not in ("superseded", "resolved"):
            return False
        heir = store.load_by_id(stored.record.superseded_by or stored.record.resolved_by)
    except (MemoryError_, BoundaryError):
        return False
    return heir.record.updated < time


def _add_evidence_to_waiting(paths: ReviewPaths, ledger: Ledger, known: LedgerClaim, candidate: Candidate) -> bool:
    """Adds the quotes of a candidate to a waiting one that says the same. Returns False if nothing was added,
    because the waiting one has the quotes already, a person changed its file, or an action on it is unfinished."""
    path = paths.candidate_path(known.id)
    if any(action.candidate == known.id for action in ledger.unfinished_actions()):
        return False
    try:
        before = files.read_text(path, MAX_FILE_BYTES, paths.state_anchor)
        if files.hash_text(before) != known.written:
            return False
        text = add_repeat(parse_candidate(before, path, paths.store()), candidate)
    except (MemoryError_, BoundaryError):
        return False  # the list of candidates reports it
    if text == before:
        return False
    try:
        files.replace_file(path, text, anchor=paths.state_anchor, before=before)
    except StaleError:
        return False  # a person saved the file just now
    ledger.record_rewrite(known.id, str(path), before, text)
    return True


def _add_evidence_to_memory(
    paths: ReviewPaths,
    ledger: Ledger,
    store: Store,
    candidate: Candidate,
    fingerprint: Fingerprint,
    stored: StoredMemory,
) -> AlreadyKnown:
    """Adds the candidate's evidence to a memory with the same text. It is stored in the private folder; the memory's
    file stays unchanged."""
    memory = stored.record
    text = store.quotes.text_with_evidence(memory, candidate.evidence)
    if text is not None:
        paths.make_private_folder()
        files.make_folder(store.quotes.folder, 0o700)
        files.replace_file(store.quotes.path_for(memory.id), text, 0o600)
    name = f"{memory.id}@{candidate.turn}"
    ledger.register(name, candidate.source, fingerprint, "known", memory.id, last_said=candidate.time)
    Uses(paths.private).record_use([memory.id], "said", candidate.time)
    return AlreadyKnown(memory.id, f"“{memory.title}” says the same already.", text is not None)


def _write_candidate(
    paths: ReviewPaths,
    ledger: Ledger,
    claims: Sequence[LedgerClaim],
    store: Store,
    candidate: Candidate,
    fingerprint: Fingerprint,
    near: tuple[NearMemory, ...],
    restored: StoredMemory | None = None,
) -> Proposal:
    """Registers the candidate in the ledger, then writes its file. `restored` is the archived memory that accepting the
    candidate would restore."""
    again = {known.id for known in claims if known.state == "pending" and known.fingerprint.text == fingerprint.text}
    taken = ledger.states().keys() - again
    candidate_id = free_candidate_id(paths, store, candidate.title, candidate.time.date(), taken)
    stored = {one.stored.record.id: one.stored for one in near}
    about_neighbours = ledger.claims_about(stored)
    last_said = latest_turn_times(one for one in about_neighbours if not _is_of_another_branch(paths, ledger, one))
    suggested = (
        suggest_from_words(candidate, [one.stored.record for one in near], last_said) if restored is None else None
    )
    target_memory = stored[suggested.memory.id] if suggested is not None else restored
    action = ACTIONS[suggested.answer] if suggested is not None else "add"
    reason = suggested.reason if suggested is not None else _RESTORED_REASON if restored is not None else ""
    targets = [Target(target_memory.record.id, target_memory.text_hash)] if target_memory is not None else []
    text = candidate_text(candidate, new_record(candidate, candidate_id), action, targets, reason)
    ledger.register(
        *(candidate_id, candidate.source, fingerprint, "pending"),
        written=files.hash_text(text),
        last_said=candidate.time,
        proposed=candidate,
    )
    ledger.left_out.mark_proposed(candidate, candidate_id)
    return replace(actions.write_candidate(paths, ledger, candidate_id, text), neighbours=near)
