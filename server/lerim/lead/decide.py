"""The lead: a model that decides what a claim does to the memories it may belong to, and what code lets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import dspy

from lerim.extraction.asking import ask
from lerim.extraction.candidate import Candidate
from lerim.lead.barred import barred
from lerim.lead.signatures import LeadDecision, LeadSignature
from lerim.memory.claim import claim, overlap
from lerim.memory.contrast import Said, read
from lerim.memory.lines import moment
from lerim.memory.order import reordered
from lerim.memory.reconcile import CONTAINED_FROM, Decision, relation
from lerim.memory.record import MemoryRecord
from lerim.memory.stance import on_one_ground
from lerim.memory.substance import differ
from lerim.redaction import clean

REASON = 240
MAY_LOSE = "may-lose"
"""The flag of a claim that would end a memory of which not all is contradicted: a person should look at it."""


@dataclass(frozen=True, slots=True)
class Band:
    """A memory that a claim may belong to, and the time of the latest turn that says it."""

    record: MemoryRecord
    said: datetime


@dataclass(frozen=True, slots=True)
class Refused:
    """What the model decided does not hold; `why` is for the log."""

    why: str


def told(candidate: Candidate) -> str:
    """The claim as a model is shown it."""
    quotes = "\n".join(f"{item.who}: “{item.quote}”" for item in candidate.evidence if item.quote)
    head = f"{candidate.kind or candidate.primitive}, said {moment(candidate.time)}"
    return f"{head}\n" + barred(clean(f"{candidate.title}\n{candidate.body}\n{quotes}".strip()))


def shown(band: Sequence[Band]) -> str:
    """The memories as a model is shown them, numbered from 1."""
    return "\n\n".join(
        f"{number}. {one.record.kind or one.record.primitive}, said last {moment(one.said)}\n"
        + barred(clean(f"{one.record.title}\n{one.record.body}".strip()))
        for number, one in enumerate(band, 1)
    )


def decided(lm: dspy.LM, candidate: Candidate, band: Sequence[Band], evidence: str) -> Decision | Refused:
    """What the lead decides, if it may.

    Raises ModelError where no answer came, whatever LerimError the engine raises, StoppedError.
    """
    inputs = {"claim": told(candidate), "memories": shown(band), "evidence": evidence or "nothing was looked at"}
    answer = ask(lm, LeadSignature, inputs, LeadDecision)
    if not answer.items:
        return Refused(f"its answer could not be read: {clean(answer.unread)[:200]}")
    return checked(answer.items[0], candidate, band)


def checked(said: LeadDecision, candidate: Candidate, band: Sequence[Band]) -> Decision | Refused:
    """The model's decision as one of ours. It is refused where it names no memory of the band, would let an earlier
    turn win, or would lose something: what a claim says that a memory does not is not the same, what contradicts a
    memory is no addition to it, and what speaks of something else does not end it. It is flagged where it would end a
    memory that it does not contradict, or that names more than it."""
    reason = " ".join(clean(said.reason).split())[:REASON]
    if said.action == "add":
        return Decision("add", reason=reason)
    if not 1 <= said.memory <= len(band):
        return Refused(f"{said.action} names no memory it was shown")
    one = band[said.memory - 1]
    if one.record.primitive != candidate.primitive:
        return Refused(f"{said.action} names a {one.record.primitive}")
    if said.action == "noop":
        return Refused("the claim says more than the memory") if _more(candidate, one) else _of(said, one, reason)
    if candidate.time < one.said:
        return Refused(f"{said.action} lets the earlier turn win")
    ended = _contrary(candidate, one)
    if said.action == "update" and ended:
        return Refused("an update would say two things that contradict each other")
    if said.action == "update":
        return _of(said, one, reason)
    mine, theirs = read(candidate.title, candidate.body), read(one.record.title, one.record.body)
    alike = overlap(mine.bare.title, theirs.bare.title) >= CONTAINED_FROM
    if not (ended or alike or on_one_ground(theirs, mine)):
        return Refused("the claim speaks of something else than the memory it would end")
    return replace(_of(said, one, reason), flag="" if ended and not _lost(theirs, mine) else MAY_LOSE)


def _of(said: LeadDecision, one: Band, reason: str) -> Decision:
    return Decision(said.action, one.record, reason=reason)


def _more(candidate: Candidate, one: Band) -> bool:
    """Whether the claim has a name, number, path, denial or any other word that the memory lacks, ways to say one thing
    put alike, has its words in another order, or says the contrary."""
    wanted, known = claim(candidate.title, candidate.body), claim(one.record.title, one.record.body)
    mine, theirs = read(candidate.title, candidate.body), read(one.record.title, one.record.body)
    what, found = relation(theirs, mine)
    if what == "ended" or found.values or found.reversed or found.moved:
        return True
    if found.new or found.more or not (wanted.hard <= known.words and mine.telling <= theirs.claim.words):
        return True
    return differ(theirs.written, mine.written) or reordered(theirs.written, mine.written)


def _contrary(candidate: Candidate, one: Band) -> bool:
    """Whether the claim says the contrary of the memory."""
    mine, theirs = read(candidate.title, candidate.body), read(one.record.title, one.record.body)
    return relation(theirs, mine)[0] == "ended"


def _lost(memory: Said, said: Said) -> bool:
    """Whether the memory's text names something, beside its title, that the claim does not."""
    return bool((memory.bare.hard - memory.bare.title) - said.bare.words)
