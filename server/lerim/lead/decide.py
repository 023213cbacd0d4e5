"""The lead: a model that decides what a claim is to the memories near it, and which decisions are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import dspy

from lerim.extraction.asking import ask
from lerim.extraction.candidate import Candidate
from lerim.lead.barred import barred
from lerim.lead.signatures import LeadDecision, LeadSignature
from lerim.memory.lines import moment
from lerim.memory.record import MemoryRecord
from lerim.redaction import clean
from lerim.review.choices import NeighbourAnswer

REASON = 240
_ANSWERS: dict[str, NeighbourAnswer] = {"noop": "same", "update": "changes", "supersede": "replaces"}


@dataclass(frozen=True, slots=True)
class Band:
    """A memory that a claim may belong to, and the time of the latest turn that says it."""

    record: MemoryRecord
    said: datetime


@dataclass(frozen=True, slots=True)
class Decided:
    """What the model says a claim is to a memory (None for `keep`), and why."""

    answer: NeighbourAnswer
    memory: MemoryRecord | None
    reason: str


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


def decided(lm: dspy.LM, candidate: Candidate, band: Sequence[Band], evidence: str) -> Decided | Refused:
    """What the lead decides, if it may.

    Raises ModelError where no answer came, whatever LerimError the engine raises, StoppedError.
    """
    inputs = {"claim": told(candidate), "memories": shown(band), "evidence": evidence or "nothing was looked at"}
    answer = ask(lm, LeadSignature, inputs, LeadDecision)
    if not answer.items:
        return Refused(f"its answer could not be read: {clean(answer.unread)[:200]}")
    return checked(answer.items[0], candidate, band)


def checked(said: LeadDecision, candidate: Candidate, band: Sequence[Band]) -> Decided | Refused:
    """The model's decision as one of ours. It is refused where it names no memory of the band, one of another primitive
    (but a question that the claim answers), or lets an earlier turn win."""
    reason = " ".join(clean(said.reason).split())[:REASON]
    if said.action == "add":
        return Decided("keep", None, reason)
    if not 1 <= said.memory <= len(band):
        return Refused(f"{said.action} names no memory it was shown")
    one = band[said.memory - 1]
    answers = said.action == "supersede" and one.record.primitive == "question" != candidate.primitive
    if one.record.primitive != candidate.primitive and not answers:
        return Refused(f"{said.action} names a {one.record.primitive}")
    if said.action != "noop" and candidate.time < one.said:
        return Refused(f"{said.action} lets the earlier turn win")
    return Decided("answers" if answers else _ANSWERS[said.action], one.record, reason)
