"""Deciding again: what a waiting candidate does to the memories there are now, and what the lead makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lerim.errors import MemoryError_, NotFoundError, StaleError
from lerim.extraction.candidate import Candidate
from lerim.memory import files
from lerim.memory.reconcile import Decision
from lerim.memory.record import MAX_FILE
from lerim.memory.search import MemorySearch
from lerim.memory.store import Store, Stored
from lerim.memory.uses import Uses
from lerim.review import actions
from lerim.review.candidates import KEEPS, Proposal, read
from lerim.review.ground import Heard, Standing, around, counting, ground, held, memory_heard, stand
from lerim.review.ledger import Change, Known, Ledger, State
from lerim.review.outcome import AlreadyKnown, ReviewResult
from lerim.review.place import Place
from lerim.review.proposing import candidates_of, hand_on, heir_of, rewrite_targets, set_aside


def decided_now(
    place: Place, book: Ledger, store: Store, proposal: Proposal, memories: MemorySearch
) -> ReviewResult | None:
    """What comes of accepting a session's candidate without making a memory of it; None where it is as it is shown.

    Raises StaleError where it would do something else than is shown; it then shows that.
    """
    claims = candidates_of(book)
    said = max((known.said for known in claims if known.id == proposal.id), default=proposal.time)
    candidate = replace(candidate_of(proposal), time=max(said, proposal.record.updated))
    live = around(memories, candidate)
    here = held(book, counting(place, book, claims), live)
    heard = [
        one
        for one in ground(book, here, candidate, memories, live, proposal.id)
        # what gave way to this very candidate has said its part: it would outdate its own heir
        if one.state == "memory" or (one.state == "over" and heir_of(place, claims, one.id) != proposal.id)
    ]
    standing = stand(place, candidate, heard)
    if standing.by is not None:
        return _outdated(place, book, claims, proposal, standing, standing.by)
    if standing.same is not None:
        return _known(place, book, store, proposal, standing, standing.same)
    if proposal.action == "add" and proposal.about and not standing.targets:
        return None  # it brings back what a rule put away
    kept, about = _now_about(place, book, claims, proposal, standing, heard)
    same = {one.record.id for one in about} == {one.id for one in proposal.targets}
    if same and kept == (proposal.action in KEEPS) and (not kept or about[0].record.id == proposal.target):
        return None
    rewrite_targets(place, book, proposal, about, kept=kept)
    raise StaleError(
        "The memories changed since this was proposed; it would do something else now.",
        where=str(proposal.path),
        todo="Look at it as it is now, then accept it again, or reject it.",
    )


def decide_again(place: Place, proposal_id: str, decision: Decision, reason: str) -> Proposal | AlreadyKnown:
    """Let a waiting candidate do what the lead decided about the memories it may belong to; other targets stay.

    AlreadyKnown where the lead says that a memory says it: that gains its evidence, and the candidate is gone. Raises
    NotFoundError where it waits no more, MemoryError_ where a person changed it.
    """
    with actions.ledger(place) as book:
        store = place.store()
        known = book.known(proposal_id)
        if known is None or known.state != "pending":
            raise NotFoundError("This candidate waits no more.", where=proposal_id[:80], todo="Look at the list again.")
        proposal = read(place, proposal_id, store)
        if proposal.edited or not proposal.session:
            raise MemoryError_(
                "A person changed this candidate, or no session said it.", where=str(proposal.path), todo="Leave it."
            )
        if decision.target is not None and decision.action == "noop":
            stored = store.read(decision.target.id)
            heard = Heard(stored.record.id, "memory", (), stored.record.updated, stored)
            _known(place, book, store, proposal, Standing(decision), heard)
            return AlreadyKnown(stored.record.id, f"“{stored.record.title}” says it already.")
        kept = decision.action == "update"
        named = ([decision.target] if decision.target else []) + list(decision.resolves)
        first = [store.read(one.id) for one in named]
        back = {proposal.target} if proposal.action == "add" else set()  # what it would bring back
        ids = {one.record.id for one in first} | set(proposal.undecided) | back
        others = [one for one in proposal.about if one.record.id not in ids]
        rewrite_targets(
            place, book, proposal, (*first, *others), kept=kept, maker="lead", reason=reason, flag=decision.flag
        )
        return read(place, proposal_id, store)


def candidate_of(proposal: Proposal) -> Candidate:
    """What a session's candidate was made of, as its file has it; its time is that of the latest turn that says it."""
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


def _outdated(
    place: Place, book: Ledger, claims: Sequence[Known], proposal: Proposal, standing: Standing, by: Heard
) -> ReviewResult:
    heir = heir_of(place, claims, by.id)
    message = f"“{by.forms[0].title}” was said later and stands instead; this candidate was taken back."
    set_aside(place, book, proposal, heir, message)
    hand_on(place, book, heir, standing.targets)
    return ReviewResult(False, "outdated", message)


def _known(
    place: Place, book: Ledger, store: Store, proposal: Proposal, standing: Standing, same: Heard
) -> ReviewResult:
    """A memory says it by now: that gains the evidence, and the candidate is done."""
    assert same.stored is not None
    memory = same.stored.record
    changes = [Change("review", str(place.state_anchor), str(proposal.path), proposal.text, None)]
    text = store.quotes.text_gaining(memory, proposal.record.evidence)
    if text is not None:
        path = store.quotes.path(memory.id)
        before = None if files.is_absent(path) else files.read_text(path, MAX_FILE)
        changes.insert(0, Change("private", str(store.quotes.private), str(path), before, text))
    message = f"“{memory.title}” says it already."
    states: tuple[State, State] = ("pending", "known")
    done = actions.perform(
        place, book, "accept", f"Known already: {memory.title}", proposal.id, states, changes, memory.id
    )
    Uses(place.private).note([memory.id], "said", proposal.record.updated)
    hand_on(place, book, memory.id, standing.targets)
    return ReviewResult(True, "known", message, done.id, str(same.stored.path))


def _now_about(
    place: Place,
    book: Ledger,
    claims: Sequence[Known],
    proposal: Proposal,
    standing: Standing,
    heard: Iterable[Heard],
) -> tuple[bool, list[Stored]]:
    """The memories the candidate concerns now, and whether it changes the first of them.

    What gave way to the candidate ends what it would have ended.
    """
    about = list(standing.targets)
    have = {one.record.id for one in about}
    gave_way = [known for known in claims if known.state == "outdated" and known.memory == proposal.id]
    live = {one.id: one for one in heard if one.stored is not None}
    for stored in proposal.concerns:
        memory = stored.record
        here = live.get(memory.id) or memory_heard(claims, stored)
        if memory.id not in have and _would_end(place, book, gave_way, here):
            about.append(stored)
    kept = standing.kept is not None
    if not kept and proposal.action in KEEPS and any(one.record.id == proposal.target for one in about):
        about.sort(key=lambda one: one.record.id != proposal.target)
        kept = True
    return kept, about


def _would_end(place: Place, book: Ledger, gave_way: Iterable[Known], memory: Heard) -> bool:
    told = [(known, one) for known in gave_way if (one := book.told(known.id)) is not None]
    return any(stand(place, replace(one, time=max(one.time, known.said)), [memory]).targets for known, one in told)
