"""What was said on the ground of a claim: the memories there are, the candidates that wait, and what is over by now.

A claim stands unless a later turn says otherwise, whatever became of that later claim since: so it does not matter in
which order sessions are read and candidates accepted. Each pair is compared by itself (`memory/reconcile.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest
from typing import Literal, get_args

from lerim.errors import LerimError
from lerim.extraction.candidate import Candidate
from lerim.memory.claim import claim
from lerim.memory.filters import Filters
from lerim.memory.reconcile import Decision, Neighbour, decide
from lerim.memory.record import MemoryRecord
from lerim.memory.search import MemorySearch
from lerim.memory.store import Stored
from lerim.review.candidates import Proposal, new_record, read
from lerim.review.ledger import Known, Ledger
from lerim.review.place import Place
from lerim.sessions.model import Platform

NEIGHBOURS = 30
FEW = 10
"""Memories of those that are over that a candidate is compared with."""
OVER = Filters(statuses=("superseded", "resolved", "archived"))


@dataclass(frozen=True, slots=True)
class Heard:
    """One claim on the ground: a memory, a waiting candidate, or one that is over. `said` is the latest turn saying it.

    `forms` are the claims to compare with: a memory's own words, and the candidate it was last made of. `renews`: of it
    and the candidate the later one says the same thing anew, and does not end the other.
    """

    id: str
    state: Literal["memory", "waiting", "over"]
    forms: tuple[Candidate, ...]
    said: datetime
    stored: Stored | None = None
    proposal: Proposal | None = None
    renews: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """How a candidate stands to its ground: at most one of `by` and `same`.

    `by` says otherwise later, or answers it; `same` says it already, and those of `over` did before they were over.
    `kept` is the memory it changes; `ended` are memories that end with it, `outdated` the waiting candidates that do.
    `decision` is that against all memories.
    """

    decision: Decision
    by: Heard | None = None
    same: Heard | None = None
    over: tuple[Heard, ...] = ()
    kept: Stored | None = None
    ended: tuple[Stored, ...] = ()
    outdated: tuple[Heard, ...] = ()

    @property
    def targets(self) -> tuple[Stored, ...]:
        """The memories it would change or end, the one it changes first."""
        return ((self.kept,) if self.kept else ()) + self.ended


def counting(place: Place, book: Ledger, claims: Sequence[Known]) -> list[Known]:
    """The claims that count on the branch that is open: one that was accepted only if its memory lies in this
    worktree, live or archived, or a person deleted it as a memory; one that gave way only if what stands instead
    counts. What was rejected or waits does on every branch."""
    here = (place.store().ids() | book.about("delete", "done")) - {""}
    known = {one.id: one for one in claims}

    def counts(one: Known) -> bool:
        seen: set[str] = set()
        while one.state in ("accepted", "known", "outdated") and one.memory not in here:
            heir = known.get(one.memory)
            if one.state != "outdated" or heir is None or heir.id in seen:
                return False
            seen.add(heir.id)
            one = heir
        return True

    return [one for one in claims if counts(one)]


def around(memories: MemorySearch, candidate: Candidate) -> dict[str, Stored]:
    """The live memories near a candidate, by id."""
    found = memories.near(f"{candidate.title} {candidate.body}", NEIGHBOURS)
    return {one.record.id: one for one in found if one.status == "active"}


def held(book: Ledger, claims: Sequence[Known], live: Mapping[str, Stored]) -> list[Known]:
    """The claims without those that were made of these memories on another branch: the texts here do not say them."""
    lacking = {
        known.id: known.memory
        for known in claims
        if known.state == "accepted" and known.memory in live and lacks(live[known.memory].record, book.told(known.id))
    }
    words = {
        memory: book.fingerprint(claim(live[memory].record.title, live[memory].record.body)).words
        for memory in lacking.values()
    }

    def holds(one: Known) -> bool:
        if one.state == "known" and one.memory in words:
            return one.print.title | one.print.hard <= words[one.memory]
        if one.state == "outdated" and one.memory in words:
            return live[one.memory].record.updated >= one.said
        return one.id not in lacking and not (one.state == "outdated" and one.memory in lacking)

    return [one for one in claims if holds(one)] if lacking else list(claims)


def lacks(memory: MemoryRecord, told: Candidate | None) -> bool:
    """Whether a memory's text is one from before this claim was accepted into it: that of another branch."""
    return told is not None and memory.updated < told.time


def ground(
    book: Ledger,
    claims: Sequence[Known],
    candidate: Candidate,
    memories: MemorySearch,
    live: Mapping[str, Stored],
    own: str = "",
) -> list[Heard]:
    """All that was said near a candidate: by the `live` memories, and by the claims that count; `own` is its id where
    it waits already."""
    said = _latest(claims)
    made = {known.memory: known for known in sorted(claims, key=lambda one: one.said) if known.state == "accepted"}
    heard = []
    for memory_id, stored in live.items():
        memory = stored.record
        latest = max(memory.updated, said.get(memory_id, memory.updated))
        told = book.told(made[memory_id].id) if memory_id in made else None
        forms = [as_candidate(memory, latest)]
        if told is not None:
            # what was said before what the memory gathered of earlier claims, which depends on their order
            forms.insert(0 if book.is_ours(stored.hash) else 1, replace(told, time=latest))
        heard.append(Heard(memory_id, "memory", tuple(forms), latest, stored))
    heard += _archived(claims, candidate, memories)
    about = (candidate.title, candidate.body, " ".join(candidate.replaces))
    words = book.either(word for text in about for word in claim(text, "").words)
    others = [
        (shared, known)
        for known in claims
        if known.id != own and known.state in ("pending", "accepted", "outdated")
        if not (known.state == "accepted" and known.memory in live and made[known.memory] is known)
        if (shared := len(known.print.words & words))
    ]
    for _, known in nlargest(NEIGHBOURS, others, key=lambda pair: pair[0]):
        told = book.told(known.id)
        if told is not None:
            state: Literal["waiting", "over"] = "waiting" if known.state == "pending" else "over"
            latest = max(told.time, known.said)
            heard.append(Heard(known.id, state, (replace(told, time=latest),), latest))
    return heard


def _archived(claims: Iterable[Known], candidate: Candidate, memories: MemorySearch) -> Iterator[Heard]:
    """What the store itself says is over, of which this installation knows no claim: a teammate's, or a person's."""
    ours = {known.memory for known in claims if known.state == "accepted"}
    for stored in memories.near(candidate.title, FEW, OVER):  # the bodies of what matters here are alike, too
        memory = stored.record
        if memory.id not in ours and stored.status != "active":
            yield Heard(memory.id, "over", (as_candidate(memory, memory.updated),), memory.updated)


def stand(place: Place, candidate: Candidate, heard: Sequence[Heard]) -> Standing:
    """How a candidate stands to what was said on its ground."""
    live = [Neighbour(one.stored.record, one.said) for one in heard if one.stored is not None]
    decision = decide(candidate, live)
    if not _related(candidate, heard):
        return Standing(decision)
    by: list[Heard] = []
    same: list[Heard] = []
    over: list[Heard] = []
    kept: list[tuple[float, Stored]] = []
    ended: list[Stored] = []
    outdated: list[Heard] = []
    for told in heard:
        one, found = _compared(place, candidate, told)
        if found.action == "outdated":
            by.append(one)
        elif found.action == "same":
            if one.state != "over":
                same.append(one)
            elif one.said >= candidate.time:
                by.append(one)  # it was said again since, and is over all the same
            else:
                over.append(one)
        elif found.action == "apart":
            continue
        elif one.proposal is not None:
            outdated += [] if one.proposal.edited else [one]
        elif one.stored is not None and found.action == "changes":
            kept.append((found.similarity, one.stored))
        elif one.stored is not None:
            ended.append(one.stored)
    kept.sort(key=lambda pair: (-pair[0], pair[1].record.id))
    return Standing(
        decision,
        by=max(by, key=lambda one: (one.said, one.id), default=None),
        same=min(same, key=lambda one: (one.state, one.id), default=None) if not by else None,
        over=tuple(over),
        kept=kept[0][1] if kept else None,
        ended=(*(stored for _, stored in kept[1:]), *ended),
        outdated=tuple(outdated),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What a candidate is to one claim: the later one of the two changes the other, ends it, or says the same."""

    action: Literal["apart", "same", "changes", "ends", "outdated"]
    similarity: float = 0.0
    renews: bool = False


def _related(candidate: Candidate, heard: Iterable[Heard]) -> bool:
    """Whether a candidate may have to do with any of these; one look at all of them, for most have not."""
    forms = [(form, one.said) for one in heard for form in one.forms]
    if candidate.primitive == "question" or any(form.replaces and said >= candidate.time for form, said in forms):
        return True
    nearest = decide(candidate, [Neighbour(new_record(form, ""), said) for form, said in forms])
    return nearest.action != "add" or bool(nearest.resolves)


def _compared(place: Place, candidate: Candidate, one: Heard) -> tuple[Heard, _Found]:
    """A candidate against one claim alone; where that waits and they have to do with each other, its file is read."""
    found = _against(candidate, one)
    if one.state != "waiting" or found.action == "apart":
        return replace(one, renews=found.renews), found
    try:
        proposal = read(place, one.id, place.store())
    except LerimError:
        return one, _Found("apart")  # decided meanwhile, or told where candidates are listed
    one = replace(one, proposal=proposal)
    if proposal.edited:
        one = replace(one, forms=(as_candidate(proposal.record, one.said),))
        found = _against(candidate, one)
    return replace(one, renews=found.renews), found


def _against(candidate: Candidate, one: Heard) -> _Found:
    """The two are compared in the order of their turns; of two turns of one time the source tells."""
    for form in one.forms:
        later = (one.said, form.source) > (candidate.time, candidate.source)
        first, second = (candidate, form) if later else (form, candidate)
        decision = decide(second, [Neighbour(new_record(first, ""), first.time)])
        if decision.resolves or decision.action in ("update", "supersede"):
            ends: Literal["changes", "ends"] = "changes" if decision.action == "update" else "ends"
            return _Found("outdated" if later else ends, decision.similarity, ends == "changes")
        if decision.action == "noop" and later and one.state != "over":
            # what says the same with more words stands, also where it was said before
            more = decide(replace(candidate, time=one.said), [Neighbour(new_record(form, ""), candidate.time)])
            return _Found("changes" if more.action == "update" else "same", more.similarity)
        if decision.action == "noop":
            return _Found("same")
    return _Found("apart")


def as_candidate(memory: MemoryRecord, said: datetime) -> Candidate:
    """A memory as the candidate it could have been."""
    platform, _, rest = memory.source.partition(":")
    session, _, turn = rest.rpartition("#")
    known = next((one for one in get_args(Platform) if one == platform), None)
    return Candidate(
        primitive=memory.primitive,
        kind=memory.kind,
        title=memory.title,
        body=memory.body,
        confidence=memory.confidence,
        tags=memory.tags,
        references=memory.references,
        evidence=memory.evidence,
        platform=known or "claude",
        session=session if known else "",
        turn=turn if known else "",
        time=said,
        signal="prompt",
    )


def memory_heard(claims: Iterable[Known], stored: Stored) -> Heard:
    """A memory by its own words alone."""
    memory = stored.record
    said = max(memory.updated, _latest(claims).get(memory.id, memory.updated))
    return Heard(memory.id, "memory", (as_candidate(memory, said),), said, stored)


def _latest(claims: Iterable[Known]) -> dict[str, datetime]:
    """When each memory was said last, as far as the ledger knows."""
    said: dict[str, datetime] = {}
    for known in claims:
        if known.state in ("accepted", "known"):
            said[known.memory] = max(known.said, said.get(known.memory, known.said))
    return said
