"""A memory: what it is made of, and how its markdown file is read and written (docs/MEMORY_FORMAT.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

Primitive = Literal["decision", "learning", "question", "theme", "summary"]
LearningKind = Literal["insight", "procedure", "friction", "pitfall", "preference"]
Speaker = Literal["user", "assistant", "tool", "web"]
Scope = Literal["project", "global"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim quote of at most 200 characters, the turn it stands in and who said it.

    `quote` is "" where the person chose to keep quotes out of git; it then lies in the project's private folder.
    """

    quote: str
    turn: str
    who: Speaker


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory file. `id` is `YYYYMMDD-<slug>` and the file's stem; `source` is `<platform>:<session>#<turn>` or `manual`.

    `references` are `path` or `path#symbol`, repo-relative with forward slashes. `confidence` is in 0..1.
    """

    id: str
    primitive: Primitive
    title: str
    created: datetime
    updated: datetime
    source: str
    confidence: float
    tags: tuple[str, ...]
    body: str
    kind: LearningKind | None = None
    references: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    verified: str = ""
    supersedes: tuple[str, ...] = ()
    resolves: tuple[str, ...] = ()
    superseded_by: str = ""
    resolved_by: str = ""
    related: tuple[str, ...] = ()
