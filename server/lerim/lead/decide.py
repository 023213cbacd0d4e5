"""The lead: a model that decides what a claim does to the memories it may belong to, and what code lets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import dspy

from lerim.extraction.asking import ask
from lerim.extraction.candidate import Candidate
from lerim.extraction.redact import clean
from lerim.lead.barred import barred
from lerim.lead.signatures import LeadDecision, LeadSignature
from lerim.memory.claim import claim
from lerim.memory.contrast import read
from lerim.memory.lines import moment
from lerim.memory.reconcile import Decision, relation
from lerim.memory.record import MemoryRecord

REASON = 240
OTHER_WORDS = 1
"""Words of its title in which a claim that is nothing new may differ from the memory."""


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

    Raises ModelError where no answer came, whatever LerimError the engine raises, CancelledCallError.
    """
    inputs = {"claim": told(candidate), "memories": shown(band), "evidence": evidence or "nothing was looked at"}
    answer = ask(lm, LeadSignature, inputs, LeadDecision)
    if not answer.items:
        return Refused(f"its answer could not be read: {clean(answer.unread)[:200]}")
    return checked(answer.items[0], candidate, band)


def checked(said: LeadDecision, candidate: Candidate, band: Sequence[Band]) -> Decision | Refused:
    """The model's decision as one of ours. It is refused where it names no memory of the band, would let an earlier
    turn win, or would lose something: what a claim says that a memory does not is not the same, and what contradicts a
    memory is no addition to it."""
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
    if said.action == "update" and _contrary(candidate, one):
        return Refused("an update would say two things that contradict each other")
    return _of(said, one, reason)


def _of(said: LeadDecision, one: Band, reason: str) -> Decision:
    return Decision(said.action, one.record, reason=reason)


def _more(candidate: Candidate, one: Band) -> bool:
    """Whether the claim has a name, number, path, denial or other telling word that the memory lacks, more than
    OTHER_WORDS of its title are in neither the memory's title nor text, or it says the contrary."""
    wanted, known = claim(candidate.title, candidate.body), claim(one.record.title, one.record.body)
    mine, theirs = read(candidate.title, candidate.body), read(one.record.title, one.record.body)
    what, found = relation(theirs, mine)
    if what == "ended" or found.values or found.reversed or found.moved:
        return True
    return not (wanted.hard <= known.words and mine.telling <= theirs.claim.words and len(found.new) <= OTHER_WORDS)


def _contrary(candidate: Candidate, one: Band) -> bool:
    mine, theirs = read(candidate.title, candidate.body), read(one.record.title, one.record.body)
    return relation(theirs, mine)[0] == "ended"
