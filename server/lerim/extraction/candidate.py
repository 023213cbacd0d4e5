"""The results of extraction: candidates that passed the gate, signals that were dropped, and withdrawals, with
reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from lerim.extraction.signals import Signal
from lerim.memory import Evidence, LearningKind, Primitive
from lerim.sessions import Platform

FORMER_SIGNALS: Final[Mapping[str, Signal]] = {
    **dict.fromkeys(("correction", "rule", "remark"), "prompt"),
    **dict.fromkeys(("choice", "diagnosis", "lesson", "question"), "reply"),
}
"""Maps the signal names of earlier versions to the current ones."""
DropReason = Literal[
    "no-evidence",
    "invalid",
    "secret-only",
    "injection",
    "not-the-person",
    "refuted",
    "duplicate",
    "rejected-before",
    "already-known",
    "below-the-cut",
    "model-read",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory proposed from a session that no person has reviewed yet. All its text is already redacted.

    `session` is the agent's own session id, `turn` the id of the turn the claim rests on, and `time` the time of that
    turn, which decides which of two contradicting memories wins. `flags` name what a reviewer should check (hidden
    characters, imperative text from a tool). `replaces` lists the names and values that this claim replaces.

    `score` is the learned ranker's score and `features` are the ranker's inputs, in the order of
    `ranking.features.FEATURE_NAMES`; None and empty if the candidate was not ranked. Both stay in the person's home
    folder and are never written to a file in a repository.
    """

    primitive: Primitive
    kind: LearningKind | None
    title: str
    body: str
    confidence: float
    tags: tuple[str, ...]
    references: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    platform: Platform
    session: str
    turn: str
    time: datetime
    signal: Signal
    flags: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    score: float | None = None
    features: tuple[float, ...] = ()

    @property
    def source(self) -> str:
        return f"{self.platform}:{self.session}#{self.turn}"


def current_signal(signal: str) -> str:
    """Returns the current name of a signal, which may be a name from an earlier version."""
    return FORMER_SIGNALS.get(signal, signal)


def decode_candidate(kept: bytes) -> Candidate:
    """Decodes a candidate stored as JSON by this or an earlier version. Raises msgspec.MsgspecError."""
    fields = msgspec.json.decode(kept, type=dict[str, Any])
    return msgspec.convert({**fields, "signal": current_signal(str(fields.get("signal")))}, Candidate)


@dataclass(frozen=True, slots=True)
class DroppedSignal:
    """A signal that did not become a candidate, with the reason shown in the report and the panel.

    `candidate` is the candidate it would have been, so that a person can still have it proposed; None if it cannot be
    one. `score` is its ranking score, None if it was not ranked.
    """

    reason: DropReason
    title: str
    session: str
    turn: str
    detail: str = ""
    candidate: Candidate | None = None
    score: float | None = None


def drop_candidate(candidate: Candidate, reason: DropReason, detail: str, score: float | None = None) -> DroppedSignal:
    """Returns the dropped signal for a candidate that is not proposed."""
    return DroppedSignal(reason, candidate.title, candidate.session, candidate.turn, detail, candidate, score)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A proposed claim that a later turn refutes, given by its title and the turn it was proposed from
    (`refuted_turn`). Its pending candidate is removed."""

    refuted_turn: str
    title: str
    by_turn: str
    reason: str
