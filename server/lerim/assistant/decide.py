"""The lead: a model that decides what a new claim does to related memories. Code checks each decision before it is
used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import dspy

from lerim.assistant.answer_parser import escape_lines
from lerim.assistant.signatures import LeadDecision, LeadSignature
from lerim.extraction import Candidate, ask_signature
from lerim.memory import MemoryRecord, format_time
from lerim.redaction import clean_text
from lerim.review import NeighbourAnswer

MAX_REASON_CHARS = 240
_ANSWER_BY_ACTION: dict[str, NeighbourAnswer] = {"noop": "same", "update": "changes", "supersede": "replaces"}


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """A memory that a claim may belong to, and the time of the latest turn that states it."""

    record: MemoryRecord
    last_said: datetime


@dataclass(frozen=True, slots=True)
class Decided:
    """The model's answer about a claim, the memory it concerns (None for `keep`), and the reason."""

    answer: NeighbourAnswer
    memory: MemoryRecord | None
    reason: str


@dataclass(frozen=True, slots=True)
class RefusedDecision:
    """A decision that was refused; `log_reason` says why, for the log."""

    log_reason: str


def describe_claim(candidate: Candidate) -> str:
    """Return a claim as it is shown to a model."""
    quotes = "\n".join(f"{item.who}: “{item.quote}”" for item in candidate.evidence if item.quote)
    head = f"{candidate.kind or candidate.primitive}, said {format_time(candidate.time)}"
    return f"{head}\n" + escape_lines(clean_text(f"{candidate.title}\n{candidate.body}\n{quotes}".strip()))


def describe_memories(related: Sequence[RelatedMemory]) -> str:
    """Return memories as they are shown to a model, numbered from 1."""
    return "\n\n".join(
        f"{number}. {memory.record.kind or memory.record.primitive}, said last {format_time(memory.last_said)}\n"
        + escape_lines(clean_text(f"{memory.record.title}\n{memory.record.body}".strip()))
        for number, memory in enumerate(related, 1)
    )


def decide_claim(
    lm: dspy.LM, candidate: Candidate, related: Sequence[RelatedMemory], evidence: str
) -> Decided | RefusedDecision:
    """Ask the lead what a claim does to the related memories, and check its decision.

    Raises ModelError if no answer came, StoppedError, and any LerimError the engine raises.
    """
    inputs = {
        "claim": describe_claim(candidate),
        "memories": describe_memories(related),
        "evidence": evidence or "nothing was looked at",
    }
    answer = ask_signature(lm, LeadSignature, inputs, LeadDecision)
    if not answer.items:
        return RefusedDecision(f"its answer could not be read: {clean_text(answer.parse_error)[:200]}")
    return check_decision(answer.items[0], candidate, related)


def check_decision(
    decision: LeadDecision, candidate: Candidate, related: Sequence[RelatedMemory]
) -> Decided | RefusedDecision:
    """Convert the model's decision. It is refused if it names none of the related memories, one of another primitive
    (except a question that the claim answers), or lets an earlier turn win over a later one."""
    reason = " ".join(clean_text(decision.reason).split())[:MAX_REASON_CHARS]
    if decision.action == "add":
        return Decided("keep", None, reason)
    if not 1 <= decision.memory <= len(related):
        return RefusedDecision(f"{decision.action} names no memory it was shown")
    memory = related[decision.memory - 1]
    is_answer = decision.action == "supersede" and memory.record.primitive == "question" != candidate.primitive
    if memory.record.primitive != candidate.primitive and not is_answer:
        return RefusedDecision(f"{decision.action} names a {memory.record.primitive}")
    if decision.action != "noop" and candidate.time < memory.last_said:
        return RefusedDecision(f"{decision.action} lets the earlier turn win")
    return Decided("answers" if is_answer else _ANSWER_BY_ACTION[decision.action], memory.record, reason)
