"""Chooses the memories that agents may always see, and the most valuable of them where there is no room for all.

Freshness and approval are decided before that (`lerim.memory.AgentMemories`); the choice here depends only on a
memory's text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lerim.export.rule_lines import render_line
from lerim.memory import NO_OUTCOMES, MemoryRecord, ServedOutcomes, confidence_after_outcomes
from lerim.redaction import find_redaction_marks, redact_secrets

LeftOutReason = Literal["secret", "tool", "theme", "no-room"]
REASON_TEXTS: dict[LeftOutReason, str] = {
    "secret": "with a secret",
    "tool": "only a tool's output or a web page says it",
    "theme": "a theme is not a rule",
    "no-room": "there was no room for it",
}
MAX_LINES, MAX_BYTES = 40, 4_000
"""Maximum number of lines and bytes of one block or rules file, including its markers. 4,000 bytes are about 1,000
tokens: four bytes a token is a cautious estimate for English."""
KIND_WEIGHTS: dict[str, float] = {
    "decision": 1.0,
    "pitfall": 0.95,
    "procedure": 0.9,
    "preference": 0.85,
    "insight": 0.7,
    "friction": 0.6,
    "question": 0.4,
}
_USE_STEPS = ((30, 1.3), (10, 1.2), (3, 1.1))
"""Factors on the worth of a memory that was used at least this often. There are few steps, so that files seldom
change because of them."""
_REPEAT_STEPS = ((3, 2.0), (1, 1.5))
"""Factors on the worth of a memory that the person had to repeat at least this often although agents had been given
it."""


@dataclass(frozen=True, slots=True)
class RuleMemory:
    """A memory that may be written to an agent's file, how often it was used, the outcomes where agents were given
    it, and whether its line includes its reason."""

    record: MemoryRecord
    uses: int = 0
    outcomes: ServedOutcomes = NO_OUTCOMES
    with_reason: bool = False

    @property
    def line(self) -> str:
        return render_line(self.record, with_reason=self.with_reason)


@dataclass(frozen=True, slots=True)
class LeftOutMemory:
    """A memory that is in no file, and why."""

    id: str
    title: str
    reason: LeftOutReason


def estimate_worth(memory: RuleMemory) -> float:
    """Returns how valuable a memory is to an agent that always sees it: its confidence, adjusted by its outcomes,
    and weighted by its kind, by how often it was used, and by how often the person had to repeat it."""
    record = memory.record
    weight = KIND_WEIGHTS.get(record.kind or record.primitive, 0.5)
    used = next((factor for least, factor in _USE_STEPS if memory.uses >= least), 1.0)
    repeated = next((factor for least, factor in _REPEAT_STEPS if memory.outcomes.repeated >= least), 1.0)
    return confidence_after_outcomes(record.confidence, memory.outcomes) * weight * used * repeated


def find_text_reason(record: MemoryRecord) -> LeftOutReason | None:
    """Returns the reason why a memory's text must not be in a file, or None if it may be."""
    if record.primitive not in ("decision", "learning", "question"):
        return "theme"
    if record.evidence and all(item.who in ("tool", "web") for item in record.evidence):
        return "tool"
    texts = (record.title, record.body, *record.references, *(item.quote for item in record.evidence))
    if any(redact_secrets(text).count for text in texts) or find_redaction_marks(record.title):
        return "secret"
    return None


def fit_memories(memories: Iterable[RuleMemory], frame: Sequence[str]) -> tuple[list[RuleMemory], list[LeftOutMemory]]:
    """Returns the memories that fit into one file together with the lines of its `frame`, the most valuable first,
    and the other memories. If room is left, their lines get the reasons, in the same order; no reason displaces a
    memory."""
    room_lines = MAX_LINES - len(frame)
    room_bytes = MAX_BYTES - sum(len(line.encode()) + 1 for line in frame)
    fitting: list[RuleMemory] = []
    left_out: list[LeftOutMemory] = []
    for memory in sorted(memories, key=lambda one: (-estimate_worth(one), one.record.id)):
        size = _line_size(memory)
        if len(fitting) < room_lines and size <= room_bytes:
            fitting.append(memory)
            room_bytes -= size
        else:
            left_out.append(leave_out(memory, "no-room"))
    for number, memory in enumerate(fitting):
        explained = replace(memory, with_reason=True)
        more = _line_size(explained) - _line_size(memory)
        if more <= room_bytes:
            fitting[number] = explained
            room_bytes -= more
    return fitting, left_out


def _line_size(memory: RuleMemory) -> int:
    return len(memory.line.encode("utf-8", "replace")) + 1


def leave_out(memory: RuleMemory, reason: LeftOutReason) -> LeftOutMemory:
    """Returns the entry for a memory that is in no file, for this reason."""
    return LeftOutMemory(memory.record.id, memory.record.title, reason)
