"""The lead: a model that decides what a claim is to the memories near it, and which decisions are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import dspy

from lerim.assistant.escape import escape_lines
from lerim.assistant.signatures import LeadDecision, LeadSignature
from lerim.extraction import Candidate, ask_signature
from lerim.memory import MemoryRecord, format_time
from lerim.redaction import clean_text
from lerim.review import NeighbourAnswer

REASON = 240
_ANSWERS: dict[str, NeighbourAnswer] = {"noop": "same", "update": "changes", "supersede": "replaces"}


@dataclass(frozen=True, slots=True)
class RelatedMemory:
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
class RefusedDecision:
    """What the model decided does not hold; `why` is for the log."""

    why: str


def describe_claim(candidate: Candidate) -> str:
    """The claim as a model is shown it."""
    quotes = "\n".join(f"{item.who}: “{item.quote}”" for item in candidate.evidence if item.quote)
    head = f"{candidate.kind or candidate.primitive}, said {format_time(candidate.time)}"
    return f"{head}\n" + escape_lines(clean_text(f"{candidate.title}\n{candidate.body}\n{quotes}".strip()))


def describe_memories(band: Sequence[RelatedMemory]) -> str:
    """The memories as a model is shown them, numbered from 1."""
    return "\n\n".join(
        f"{number}. {one.record.kind or one.record.primitive}, said last {format_time(one.said)}\n"
        + escape_lines(clean_text(f"{one.record.title}\n{one.record.body}".strip()))
        for number, one in enumerate(band, 1)
    )


def decide_claim(
    lm: dspy.LM, candidate: Candidate, band: Sequence[RelatedMemory], evidence: str
) -> Decided | RefusedDecision:
    """What the lead decides, if it may.

    Raises ModelError where no answer came, whatever LerimError the engine raises, StoppedError.
    """
    inputs = {
        "claim": describe_claim(candidate),
        "memories": describe_memories(band),
        "evidence": evidence or "nothing was looked at",
    }
    answer = ask_signature(lm, LeadSignature, inputs, LeadDecision)
    if not answer.items:
        return RefusedDecision(f"its answer could not be read: {clean_text(answer.parse_error)[:200]}")
    return check_decision(answer.items[0], candidate, band)


def check_decision(
    said: LeadDecision, candidate: Candidate, band: Sequence[RelatedMemory]
) -> Decided | RefusedDecision:
    """The model's decision as one of ours. It is refused where it names no memory of the band, one of another primitive
    (but a question that the claim answers), or lets an earlier turn win."""
    reason = " ".join(clean_text(said.reason).split())[:REASON]
    if said.action == "add":
        return Decided("keep", None, reason)
    if not 1 <= said.memory <= len(band):
        return RefusedDecision(f"{said.action} names no memory it was shown")
    one = band[said.memory - 1]
    answers = said.action == "supersede" and one.record.primitive == "question" != candidate.primitive
    if one.record.primitive != candidate.primitive and not answers:
        return RefusedDecision(f"{said.action} names a {one.record.primitive}")
    if said.action != "noop" and candidate.time < one.said:
        return RefusedDecision(f"{said.action} lets the earlier turn win")
    return Decided("answers" if answers else _ANSWERS[said.action], one.record, reason)
