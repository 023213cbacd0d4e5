"""What becomes of something that is put before the person."""

from __future__ import annotations

from dataclasses import dataclass

from lerim.review.candidates import Proposal


@dataclass(frozen=True, slots=True)
class Proposed:
    """A candidate file was written."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class Blocked:
    """The claim was rejected before; `times` is how often it came again since."""

    rejected: str
    times: int


@dataclass(frozen=True, slots=True)
class AlreadyKnown:
    """The claim waits already, or a memory says it: `id` is that candidate or memory, `reason` a sentence."""

    id: str
    reason: str
    gained_evidence: bool = False
