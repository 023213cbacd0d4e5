"""How a claim of a session becomes a candidate: met before, said already or otherwise later, or put to the person."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from lerim.errors import BoundaryError, MemoryError_, StaleError
from lerim.extraction.candidate import Candidate
from lerim.memory import files
from lerim.memory.claim import claim
from lerim.memory.record import MAX_FILE, MemoryRecord
from lerim.memory.search import MemorySearch
from lerim.memory.slug import new_id
from lerim.memory.store import Store, Stored
from lerim.memory.uses import Uses
from lerim.review import actions
from lerim.review.candidates import (
    Maker,
    Proposal,
    Target,
    action_of,
    file_text,
    new_record,
    of_text,
    read,
    repeated_text,
    standing,
)
from lerim.review.fading import faded
from lerim.review.fingerprints import Fingerprint
from lerim.review.ground import Heard, Standing, around, counting, ground, held, lacks, stand
from lerim.review.ledger import Change, Known, Ledger
from lerim.review.outcome import AlreadyKnown, Blocked, Gone, Proposed
from lerim.review.place import Place
from lerim.review.rest import with_the_rest, with_what_gave_way
from lerim.review.reworded import near, otherwise, reworded
from lerim.review.suggestions import SUGGESTION, Suggestion, put

SAME_TURN_FROM = 0.5
OTHERWISE = "contradicted later"
_ACCEPTED = "It was accepted before."
_BACK = "It was put away by a rule, and is said again: it comes back."


def propose(
    place: Place, candidate: Candidate, memories: MemorySearch | None = None
) -> Proposed | Blocked | AlreadyKnown:
    """Put a candidate before the person, unless it was rejected, waits already, is a memory, or a later turn says
    otherwise. What waits and is said otherwise by this one is taken back, but what a person edited.

    `memories`: the project's search, where the caller has many candidates and keeps one open for all of them.
    Raises MemoryError_ where the review folder cannot be written, BusyError.
    """
    with actions.ledger(place) as book, searching(place, memories) as near:
        put_back(place, book, near)
        return proposed(place, book, candidate, near)


def proposed(
    place: Place, book: Ledger, candidate: Candidate, memories: MemorySearch
) -> Proposed | Blocked | AlreadyKnown:
    """`propose` for who holds the ledger already."""
    mark = book.fingerprint(claim(candidate.title, candidate.body))
    claims = candidates_of(book)
    here = counting(place, book, claims)
    met = _met(place, book, claims, {known.id for known in here}, candidate, mark)
    if met is not None:
        return met
    live = around(memories, candidate)
    here = held(book, here, live)
    standing = stand(place, candidate, ground(book, here, candidate, memories, live))
    store = place.store()
    fuller = with_the_rest(place, book, candidate, standing.by) if standing.by else None
    if fuller is not None:
        candidate = fuller
        standing = stand(place, candidate, ground(book, here, candidate, memories, live))
    if standing.by is not None:
        return _set_aside(place, book, claims, candidate, mark, standing, standing.by)
    if standing.same is not None:
        return _again(place, book, store, candidate, mark, standing, standing.same)
    back = None
    if not standing.targets:
        same = [known for known in here if known.state in ("accepted", "known") and known.print == mark]
        back = faded(place, book, store, same, standing.over, candidate.time)
        for known in same if back is None else ():
            # the memory does not say it any more: a person has changed it since, and their words stand
            if not _overturned(store, claims, known):
                return AlreadyKnown(known.memory, _ACCEPTED)
    return _write(place, book, claims, store, candidate, mark, standing, back)


def put_back(place: Place, book: Ledger, memories: MemorySearch | None = None) -> None:
    """Propose again what gave way to a claim that was rejected or taken back since."""
    waiting = book.orphans()
    if not waiting:
        return
    with searching(place, memories) as near:
        for name in waiting:
            candidate = book.told(name)
            if candidate is not None:
                book.drop(name)
                proposed(place, book, candidate, near)


def candidates_of(book: Ledger) -> list[Known]:
    """The claims of sessions the ledger knows; suggestions are none."""
    return [known for known in book.claims() if not known.source.startswith(SUGGESTION)]


@contextmanager
def searching(place: Place, memories: MemorySearch | None) -> Iterator[MemorySearch]:
    """The search given, brought up to the files, or one for now."""
    if memories is None:
        with MemorySearch(place.project, place.home) as own:
            yield own
    else:
        memories.follow()
        yield memories


def _met(
    place: Place, book: Ledger, claims: Iterable[Known], here: Container[str], candidate: Candidate, mark: Fingerprint
) -> Blocked | AlreadyKnown | None:
    """Whether this claim was met before, by its words or by its turn; of those that gave way, by one that is `here`.

    A turn whose claim was accepted is not asked about again, even where the memory is not: a person deletes files, too.
    """
    for known in claims:
        same_turn = known.source == candidate.source and near(known.print, mark, SAME_TURN_FROM)
        if known.state == "rejected":
            if same_turn or (reworded(known, mark) and not otherwise(book, known, candidate)):
                return Blocked(known.id, book.count_block(known.id))
        elif known.state == "withdrawn":
            if same_turn:
                return AlreadyKnown(known.id, f"It was taken back: {known.note}")
        elif known.state == "outdated":
            if same_turn and known.id in here:
                return AlreadyKnown(known.memory, known.note)
        elif known.state == "pending":
            if (same_turn or known.print == mark) and not files.is_absent(place.candidate_path(known.id)):
                return _waits(place, book, known, candidate)
        elif same_turn and not _elsewhere(place, book, known):
            return AlreadyKnown(known.memory, _ACCEPTED)
    return None


def _elsewhere(place: Place, book: Ledger, known: Known) -> bool:
    """Whether the memory that a claim was accepted into is here as it was before."""
    try:
        return lacks(place.store().read(known.memory).record, book.told(known.id))
    except (MemoryError_, BoundaryError):
        return False


def _waits(place: Place, book: Ledger, known: Known, candidate: Candidate) -> AlreadyKnown:
    gained = _gain_waiting(place, book, known, candidate)
    book.set_said(known.id, candidate.time)
    return AlreadyKnown(known.id, "It is waiting for review already.", gained)


def _gain_waiting(place: Place, book: Ledger, known: Known, candidate: Candidate) -> bool:
    """Give a waiting candidate the quotes of one that says the same; False where it has them, or is a person's now."""
    path = place.candidate_path(known.id)
    if any(action.candidate == known.id for action in book.unfinished()):
        return False
    try:
        before = files.read_text(path, MAX_FILE, place.state_anchor)
        if files.text_hash(before) != known.written:
            return False
        text = repeated_text(of_text(before, path, place.store()), candidate)
    except (MemoryError_, BoundaryError):
        return False  # told where candidates are listed
    if text == before:
        return False
    try:
        files.replace(path, text, anchor=place.state_anchor, before=before)
    except StaleError:
        return False  # a person saved it at this very moment
    book.rewrote(known.id, str(path), before, text)
    return True


def _overturned(store: Store, claims: Iterable[Known], known: Known) -> bool:
    """Whether what an accepted claim said gave way to another claim, and not to a person."""
    later = (one for one in claims if one.state == "accepted" and one.memory == known.memory)
    if any(one.said > known.said for one in later):
        return True
    try:
        return store.read(known.memory).status in ("superseded", "resolved")
    except (MemoryError_, BoundaryError):
        return False


def _again(
    place: Place, book: Ledger, store: Store, candidate: Candidate, mark: Fingerprint, standing: Standing, same: Heard
) -> AlreadyKnown:
    """Nothing new; but what this later turn says otherwise than other memories counts against them."""
    if same.stored is None:
        gave = book.known(same.id)
        assert gave is not None
        told = _waits(place, book, gave, candidate)
    else:
        told = AlreadyKnown(
            same.id, f"“{same.stored.record.title}” says it already.", gain(place, store, same, candidate)
        )
        book.register(f"{same.id}@{candidate.turn}", candidate.source, mark, "known", same.id, said=candidate.time)
        Uses(place.private).note([same.id], "said", candidate.time)
    hand_on(place, book, same.id, standing.targets)
    return replace(told, gone=_outdate(place, book, standing.outdated, same.id, candidate))


def gain(place: Place, store: Store, memory: Heard, candidate: Candidate) -> bool:
    """The memory's file stays as it is, the evidence is added to what is kept privately for it."""
    assert memory.stored is not None
    text = store.quotes.text_gaining(memory.stored.record, candidate.evidence)
    if text is not None:
        place.make_private()
        files.make_folder(store.quotes.folder, 0o700)
        files.replace(store.quotes.path(memory.id), text, 0o600)
    return text is not None


def _set_aside(
    place: Place,
    book: Ledger,
    claims: Sequence[Known],
    candidate: Candidate,
    mark: Fingerprint,
    standing: Standing,
    by: Heard,
) -> AlreadyKnown:
    """A later turn says otherwise: the claim does not stand, nor does what it would have ended."""
    heir = heir_of(place, claims, by.id)
    name = _new_id(place, place.store(), claims, candidate, mark)
    told = by.forms[0]
    again = by.state == "over" and claim(told.title, told.body) == claim(candidate.title, candidate.body)
    reason = f"It is over: “{told.title}”." if again else f"It was {_ended_how(candidate, told)}: “{told.title}”."
    book.register(name, candidate.source, mark, "outdated", heir, said=candidate.time, told=candidate)
    book.set_state(name, "outdated", heir, reason)
    hand_on(place, book, heir, standing.targets)
    return AlreadyKnown(heir, reason, gone=_outdate(place, book, standing.outdated, heir, candidate))


def heir_of(place: Place, claims: Sequence[Known], claim_id: str) -> str:
    """The candidate or memory that stands where this claim did, as far as anybody knows."""
    store = place.store()
    known = {one.id: one for one in claims}
    seen: set[str] = set()
    while claim_id not in seen:
        seen.add(claim_id)
        one = known.get(claim_id)
        if one is not None and one.state == "pending":
            return claim_id
        if one is not None and one.state in ("outdated", "accepted") and one.memory not in seen:
            claim_id = one.memory
            continue
        try:
            record = store.read(claim_id).record
        except (MemoryError_, BoundaryError):
            return claim_id
        claim_id = record.superseded_by or record.resolved_by or claim_id
    return claim_id


def hand_on(place: Place, book: Ledger, heir: str, targets: Sequence[Stored]) -> None:
    """Memories that a claim would have ended end with its heir: the waiting candidate, or the memory there is."""
    targets = [one for one in targets if one.record.id != heir]
    if not targets:
        return
    store = place.store()
    known = book.known(heir)
    if known is not None and known.state == "pending":
        with suppress(MemoryError_, BoundaryError):  # told where candidates are listed
            _take_on(place, book, read(place, heir, store), targets)
        return
    try:
        stored = store.read(heir)
    except (MemoryError_, BoundaryError):
        return
    if stored.status != "active":
        return
    reason = f"They were {OTHERWISE} by what “{stored.record.title}” says now."
    claims = [one for one in targets if one.record.primitive == stored.record.primitive]
    if claims:
        put(place, book, Suggestion("merge", stored.record, (stored, *claims), reason))
    for one in targets:
        if one.record.primitive == "question" and stored.record.primitive != "question":
            answer = f"“{stored.record.title}” stands where its answer did."
            put(place, book, Suggestion("close", stored.record, (one, stored), answer))


def _take_on(place: Place, book: Ledger, waiting: Proposal, targets: Sequence[Stored]) -> None:
    have = {one.record.id for one in waiting.concerns}
    new = [one for one in targets if one.record.id not in have]
    if not new:
        return
    rewrite_targets(place, book, waiting, (*waiting.concerns, *new), kept=waiting.action in ("update", "merge"))


def rewrite_targets(
    place: Place,
    book: Ledger,
    waiting: Proposal,
    about: Sequence[Stored],
    *,
    kept: bool,
    maker: Maker | None = None,
    reason: str = "",
    flag: str = "",
) -> None:
    """Let a waiting candidate concern these memories, of which it changes the first where one is `kept`; with a `flag`
    it waits for a person."""
    records = [one.record for one in about]
    waiting = replace(waiting, reason="") if waiting.reason == _BACK else waiting
    action = action_of(waiting.record.primitive, records[0] if kept else None, records[1:] if kept else records)
    targets = [Target(one.record.id, one.hash) for one in about]
    keys = standing(action, targets, reason or waiting.reason, maker or waiting.maker)
    if flag:
        keys["flags"] = tuple(dict.fromkeys((*waiting.flags, flag)))
    actions.rewrite(place, book, waiting, {"targets": None, "reason": None, "undecided": None, **keys})


def _outdate(place: Place, book: Ledger, waiting: Iterable[Heard], heir: str, by: Candidate) -> tuple[Gone, ...]:
    """Take back waiting candidates that a later turn says otherwise than; they come back if that is rejected."""
    gone: list[Gone] = []
    for proposal in (one.proposal for one in waiting):
        if proposal is not None and proposal.id != heir:
            reason = f"It was {_ended_how(proposal.record, by)}: “{by.title}”."
            set_aside(place, book, proposal, heir, reason)
            gone.append(Gone(proposal.id, reason))
    return tuple(gone)


def set_aside(place: Place, book: Ledger, proposal: Proposal, heir: str, reason: str) -> None:
    """Take back one waiting candidate in whose place another claim stands. Raises StaleError, MemoryError_."""
    change = Change("review", str(place.state_anchor), str(proposal.path), proposal.text, None)
    label = f"Outdated: {proposal.record.title}"
    actions.perform(place, book, "withdraw", label, proposal.id, ("pending", "outdated"), [change], heir)
    book.set_state(proposal.id, "outdated", heir, reason)
    book.set_heir(proposal.id, heir)


def _ended_how(old: Candidate | MemoryRecord, by: Candidate | MemoryRecord) -> str:
    return "answered later" if old.primitive == "question" != by.primitive else OTHERWISE


def _new_id(place: Place, store: Store, claims: Iterable[Known], candidate: Candidate, mark: Fingerprint) -> str:
    others = {known.id for known in claims if known.state != "pending" or known.print != mark}

    def taken(name: str) -> bool:
        path = place.candidate_path(name)
        return store.path_of(name) is not None or name in others or not files.is_absent(path)

    return new_id(candidate.title, candidate.time.date(), taken)


def _write(
    place: Place,
    book: Ledger,
    claims: Iterable[Known],
    store: Store,
    candidate: Candidate,
    mark: Fingerprint,
    standing: Standing,
    back: Stored | None = None,
) -> Proposed:
    """Register the candidate, then write its file; one that was killed in between is proposed again. Accepted, it
    brings `back` a memory that a rule put away."""
    candidate_id = _new_id(place, store, claims, candidate, mark)
    about = {one.record.id: one for one in standing.targets}
    said = candidate.time
    for waiting in standing.outdated:  # what those would have ended ends with this one
        assert waiting.proposal is not None
        about |= {one.record.id: one for one in waiting.proposal.concerns if one.record.id not in about}
        said = max(said, waiting.said)  # it may say the same with fewer words, and later
    ended = [one.record for one in about.values() if one is not standing.kept]
    action = action_of(candidate.primitive, standing.kept.record if standing.kept else None, ended)
    comes_back = [back] if back is not None and action == "add" else []
    targets = [Target(one.record.id, one.hash) for one in (*about.values(), *comes_back)]
    reason = _BACK if comes_back else ""
    band = () if standing.decision.sure else tuple(one.id for one in standing.decision.band)
    shown = with_what_gave_way(candidate, standing.outdated)
    text = file_text(candidate, new_record(shown, candidate_id), action, targets, band, reason)
    book.register(
        *(candidate_id, candidate.source, mark, "pending"),
        written=files.text_hash(text),
        said=said,
        told=candidate,
    )
    book.left_out.take_in(candidate, candidate_id)
    book.commit()
    place.make_state()
    path = place.candidate_path(candidate_id)
    files.make_folder(path.parent, anchor=place.state_anchor)
    files.create(path, text, anchor=place.state_anchor)
    gone = _outdate(place, book, standing.outdated, candidate_id, candidate)
    return Proposed(of_text(text, path, store), gone)
