"""What becomes of something that is put before the person."""

from __future__ import annotations

from dataclasses import dataclass

from lerim.review.candidates import Proposal


@dataclass(frozen=True, slots=True)
class CandidateProposed:
    """A candidate file was written."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class ClaimBlocked:
    """The claim was rejected before; `times` is how often it came again since."""

    rejected: str
    times: int


@dataclass(frozen=True, slots=True)
class AlreadyKnown:
    """The claim waits already, or a memory says it: `id` is that candidate or memory, `reason` a sentence."""

    id: str
    reason: str
    gained_evidence: bool = False


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """The outcome of one step. `action` undoes it; `path` is the memory's or candidate's file.

    `ask_quotes`: nothing was done yet, the person must first say whether quotes are shared in git.
    """

    ok: bool
    code: str
    message: str
    action: str | None = None
    path: str | None = None
    ask_quotes: bool = False
