"""What people call the kind of a memory: its primitive, or the kind of a learning."""

from __future__ import annotations

from typing import Literal

from lerim.memory.record import LearningKind, Primitive

MemoryKind = Literal["decision", "question", LearningKind]
"""What a person can write, or make of a candidate: a decision, a question, or a learning of this kind."""


def split_kind(kind: Primitive | LearningKind) -> tuple[Primitive, LearningKind | None]:
    """Returns the primitive that is meant, and the kind of a learning if one is named."""
    match kind:
        case "decision" | "learning" | "question" | "theme" | "summary":
            return kind, None
        case _:
            return "learning", kind
