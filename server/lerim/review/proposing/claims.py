"""How a claim of a session becomes a candidate: it was met before, a memory says it, or it is put to the person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, StaleError
from lerim.extraction import Candidate
from lerim.memory import MAX_FILE_BYTES, MemoryFilters, MemoryRecord, MemorySearch, Store, StoredMemory, Uses, new_id
from lerim.review import actions
from lerim.review.candidates import Proposal, Target, add_repeat, candidate_text, new_record, parse_candidate
from lerim.review.comparing import (
    ACTIONS,
    LOOKED_AT,
    SHOWN,
    Fingerprint,
    Near,
    find_neighbours,
    is_reread,
    says_the_same,
    suggest_from_words,
)
from lerim.review.ledger import Ledger, LedgerClaim
from lerim.review.proposing.archived_by_rule import find_archived_by_rule
from lerim.review.proposing.suggestions import SUGGESTION_PREFIX
from lerim.review.results import AlreadyKnown, CandidateProposed, ClaimBlocked
from lerim.review.review_paths import ReviewPaths

_OVER = MemoryFilters(statuses=("superseded", "resolved", "archived"))
_ACCEPTED = "It was accepted before."
_BACK = "This memory was archived as unused and was said again, so it is restored."


def propose_candidate(
    place: ReviewPaths, candidate: Candidate, memories: MemorySearch | None = None
) -> CandidateProposed | ClaimBlocked | AlreadyKnown:
    """Put a candidate before the person, unless it was rejected, waits already, or a memory has the same text.

    `memories`: the project's search, where the caller has many candidates and keeps one open for all of them.
    Raises MemoryError_ where the review folder cannot be written, BusyError.
    """
    with actions.locked_ledger(place) as book, open_memory_search(place, memories) as near:
        propose_orphans(place, book, near)
        return propose_in_ledger(place, book, candidate, near)


def propose_in_ledger(
    place: ReviewPaths, book: Ledger, candidate: Candidate, memories: MemorySearch
) -> CandidateProposed | ClaimBlocked | AlreadyKnown:
    """`propose_candidate` for who holds the ledger already."""
    mark = book.fingerprint(candidate.title, candidate.body)
    claims = session_claims(book)
    met = _met(place, book, claims, candidate, mark)
    if met is not None:
        return met
    store = place.store()
    near = find_neighbours(memories, store, candidate.title, candidate.body, LOOKED_AT)
    for one in near:
        if says_the_same(candidate, one.stored.record):
            return _known(place, book, store, candidate, mark, one.stored)
    there = [*(one.stored for one in near), *memories.find_sharing_words(candidate.title, LOOKED_AT, _OVER)]
    for stored in there:
        if _was_said_before(book, candidate, mark, stored):
            reason = "It is a memory already" if stored.status == "active" else "It is over"
            return AlreadyKnown(stored.record.id, f"{reason}: “{stored.record.title}”.")
    same = _accepted_here(place, book, store, claims, mark)
    back = find_archived_by_rule(place, book, store, same, candidate.time)
    for known in same if back is None else ():
        # the memory has another text by now: a person changed it since, and their words stand
        if not _superseded(store, claims, known, candidate.time):
            return AlreadyKnown(known.memory, _ACCEPTED)
    answered = book.choices.memories(mark, candidate.source)
    shown = tuple(one for one in near if one.stored.record.id not in answered)[:SHOWN]
    return CandidateProposed(_write(place, book, claims, store, candidate, mark, shown, back))


def propose_orphans(place: ReviewPaths, book: Ledger, memories: MemorySearch | None = None) -> None:
    """Propose again what an earlier version took back in favour of a claim that was rejected or taken back since."""
    waiting = book.orphans()
    if not waiting:
        return
    with open_memory_search(place, memories) as near:
        for name in waiting:
            candidate = book.told(name)
            if candidate is not None:
                book.drop(name)
                propose_in_ledger(place, book, candidate, near)


def session_claims(book: Ledger) -> list[LedgerClaim]:
    """The claims of sessions the ledger knows; suggestions are none."""
    return [known for known in book.claims() if not known.source.startswith(SUGGESTION_PREFIX)]


@contextmanager
def open_memory_search(place: ReviewPaths, memories: MemorySearch | None) -> Iterator[MemorySearch]:
    """The search given, brought up to the files, or one for now."""
    if memories is None:
        with MemorySearch(place.project, place.home) as own:
            yield own
    else:
        memories.refresh_if_changed()
        yield memories


def latest_turn_times(claims: Iterable[LedgerClaim]) -> dict[str, datetime]:
    """When each memory was said last, as far as the ledger knows."""
    said: dict[str, datetime] = {}
    for known in claims:
        if known.state in ("accepted", "known"):
            said[known.memory] = max(known.said, said.get(known.memory, known.said))
    return said


def _met(
    place: ReviewPaths, book: Ledger, claims: Iterable[LedgerClaim], candidate: Candidate, mark: Fingerprint
) -> ClaimBlocked | AlreadyKnown | None:
    """Whether this claim was met before, by its text, or by its turn and most of its words.

    A turn whose claim was accepted is not asked about again, even where the memory is not: a person deletes files, too.
    """
    for known in claims:
        same_turn = known.source == candidate.source and is_reread(known.print, mark)
        equal = known.print.text == mark.text
        if not (same_turn or equal):
            continue
        if known.state == "rejected":
            return ClaimBlocked(known.id, book.count_block(known.id))
        if known.state == "withdrawn" and (same_turn or candidate.time <= known.said):
            return AlreadyKnown(known.id, f"It was withdrawn: {known.note}")
        if known.state == "outdated" and (same_turn or candidate.time <= known.said):
            return AlreadyKnown(known.memory, known.note)
        if known.state == "pending" and not files.is_absent(place.candidate_path(known.id)):
            gained = _gain_waiting(place, book, known, candidate)
            book.set_said(known.id, candidate.time)
            return AlreadyKnown(known.id, "It already waits for review.", gained)
        if known.state in ("accepted", "known") and same_turn and not _is_of_another_branch(place, book, known):
            return AlreadyKnown(known.memory, _ACCEPTED)
    return None


def _was_said_before(book: Ledger, candidate: Candidate, mark: Fingerprint, stored: StoredMemory) -> bool:
    """Whether a memory, also one this installation has no claim of, came of the candidate's turn, or is over, has its
    text and was said later."""
    memory = stored.record
    if memory.primitive != candidate.primitive or memory.source == "manual":
        return stored.status != "active" and says_the_same(candidate, memory)
    if memory.source == candidate.source:
        return is_reread(book.fingerprint(memory.title, memory.body), mark)
    over = stored.status != "active" and candidate.time <= memory.updated
    return over and says_the_same(candidate, memory)


def _is_of_another_branch(place: ReviewPaths, book: Ledger, known: LedgerClaim) -> bool:
    """Whether the memory that a claim was accepted into is here as it was before the claim."""
    if known.state != "accepted":
        return False
    try:
        return _lacks(place.store().load_by_id(known.memory).record, book.told(known.id))
    except (MemoryError_, BoundaryError):
        return False


def _lacks(memory: MemoryRecord, told: Candidate | None) -> bool:
    return told is not None and memory.updated < told.time


def _accepted_here(
    place: ReviewPaths, book: Ledger, store: Store, claims: Iterable[LedgerClaim], mark: Fingerprint
) -> list[LedgerClaim]:
    """The accepted claims with this text whose memory is in this worktree, live or archived, or was deleted by a person
    as a memory. A memory of another branch, or with a text from before the claim, does not count."""
    here = (store.all_ids() | book.about("delete", "done")) - {""}
    equal = [one for one in claims if one.state in ("accepted", "known") and one.print.text == mark.text]
    elsewhere = {one.memory for one in equal if _is_of_another_branch(place, book, one)}
    return [one for one in equal if one.memory in here - elsewhere]


def _superseded(store: Store, claims: Iterable[LedgerClaim], known: LedgerClaim, time: datetime) -> bool:
    """Whether another claim, and not a person, took the place of what an accepted claim says, before this time."""
    later = [one.said for one in claims if one.state == "accepted" and one.memory == known.memory]
    if any(known.said < said < time for said in later):
        return True
    try:
        stored = store.load_by_id(known.memory)
        if stored.status not in ("superseded", "resolved"):
            return False
        heir = store.load_by_id(stored.record.superseded_by or stored.record.resolved_by)
    except (MemoryError_, BoundaryError):
        return False
    return heir.record.updated < time


def _gain_waiting(place: ReviewPaths, book: Ledger, known: LedgerClaim, candidate: Candidate) -> bool:
    """Give a waiting candidate the quotes of one that says the same; False where it has them, or is a person's now."""
    path = place.candidate_path(known.id)
    if any(action.candidate == known.id for action in book.unfinished()):
        return False
    try:
        before = files.read_text(path, MAX_FILE_BYTES, place.state_anchor)
        if files.hash_text(before) != known.written:
            return False
        text = add_repeat(parse_candidate(before, path, place.store()), candidate)
    except (MemoryError_, BoundaryError):
        return False  # told where candidates are listed
    if text == before:
        return False
    try:
        files.replace_file(path, text, anchor=place.state_anchor, before=before)
    except StaleError:
        return False  # a person saved it at this very moment
    book.rewrote(known.id, str(path), before, text)
    return True


def _known(
    place: ReviewPaths, book: Ledger, store: Store, candidate: Candidate, mark: Fingerprint, stored: StoredMemory
) -> AlreadyKnown:
    """The memory has this text: it gains the evidence, privately; its file stays as it is."""
    memory = stored.record
    text = store.quotes.text_with_evidence(memory, candidate.evidence)
    if text is not None:
        place.make_private()
        files.make_folder(store.quotes.folder, 0o700)
        files.replace_file(store.quotes.path_for(memory.id), text, 0o600)
    name = f"{memory.id}@{candidate.turn}"
    book.register(name, candidate.source, mark, "known", memory.id, said=candidate.time)
    Uses(place.private).record_use([memory.id], "said", candidate.time)
    return AlreadyKnown(memory.id, f"“{memory.title}” says the same already.", text is not None)


def _new_id(
    place: ReviewPaths, store: Store, claims: Iterable[LedgerClaim], candidate: Candidate, mark: Fingerprint
) -> str:
    others = {known.id for known in claims if known.state != "pending" or known.print.text != mark.text}

    def taken(name: str) -> bool:
        path = place.candidate_path(name)
        return store.path_of(name) is not None or name in others or not files.is_absent(path)

    return new_id(candidate.title, candidate.time.date(), taken)


def _write(
    place: ReviewPaths,
    book: Ledger,
    claims: Sequence[LedgerClaim],
    store: Store,
    candidate: Candidate,
    mark: Fingerprint,
    near: tuple[Near, ...],
    back: StoredMemory | None = None,
) -> Proposal:
    """Register the candidate, then write its file; one that was killed in between is proposed again. Accepted, it
    brings `back` a memory that a rule archived."""
    candidate_id = _new_id(place, store, claims, candidate, mark)
    stored = {one.stored.record.id: one.stored for one in near}
    about_these = [known for known in claims if known.memory in stored]
    said = latest_turn_times(known for known in about_these if not _is_of_another_branch(place, book, known))
    found = suggest_from_words(candidate, [one.stored.record for one in near], said) if back is None else None
    about = stored[found.memory.id] if found is not None else back
    action = ACTIONS[found.answer] if found is not None else "add"
    reason = found.reason if found is not None else _BACK if back is not None else ""
    targets = [Target(about.record.id, about.text_hash)] if about is not None else []
    text = candidate_text(candidate, new_record(candidate, candidate_id), action, targets, reason)
    book.register(
        *(candidate_id, candidate.source, mark, "pending"),
        written=files.hash_text(text),
        said=candidate.time,
        told=candidate,
    )
    book.left_out.take_in(candidate, candidate_id)
    book.commit()
    place.make_state()
    path = place.candidate_path(candidate_id)
    files.make_folder(path.parent, anchor=place.state_anchor)
    files.create_file(path, text, anchor=place.state_anchor)
    return replace(parse_candidate(text, path, store), neighbours=near)
