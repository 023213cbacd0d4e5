"""What extraction yields: candidates that passed the gate, and what was dropped, blocked or withdrawn and why."""

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
"""What earlier versions called where a proposal comes from."""
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
    """A memory proposed from a session, not yet seen by a person. All text is already redacted.

    `session` is the native session id, `turn` the id of the turn the claim rests on, `time` that turn's time: which of
    two contradicting memories wins follows it. `flags` name what a reviewer should look at (hidden characters,
    imperative text from a tool). `replaces` are names and values that this claim puts its own in place of.

    `score` is the learned ranker's, `features` are what it was given, in the order of `ranking.features.NAMES`; None
    and empty where nothing ranked it. They stay in the person's home: no file of a repository has them.
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
    """What this version calls a signal that may have its name from an earlier one."""
    return FORMER_SIGNALS.get(signal, signal)


def decode_candidate(kept: bytes) -> Candidate:
    """A candidate that was kept as JSON, by this version or an earlier one. Raises msgspec.MsgspecError."""
    fields = msgspec.json.decode(kept, type=dict[str, Any])
    return msgspec.convert({**fields, "signal": current_signal(str(fields.get("signal")))}, Candidate)


@dataclass(frozen=True, slots=True)
class DroppedSignal:
    """A signal that became no candidate, with the reason a person can read in the report and the panel.

    `candidate` is what it would have been, for a person who wants it proposed anyway; None where it cannot be one.
    `score` is what a ranking gave it, None where nothing ranked it.
    """

    reason: DropReason
    title: str
    session: str
    turn: str
    detail: str = ""
    candidate: Candidate | None = None
    score: float | None = None


def drop_candidate(candidate: Candidate, reason: DropReason, detail: str, score: float | None = None) -> DroppedSignal:
    """A candidate that is not proposed, for this reason."""
    return DroppedSignal(reason, candidate.title, candidate.session, candidate.turn, detail, candidate, score)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A later turn refutes what was proposed from `refuted_turn`; the pending candidate goes, with this reason."""

    refuted_turn: str
    by_turn: str
    reason: str
