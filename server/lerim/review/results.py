"""Results of proposing a candidate and of review actions."""

from __future__ import annotations

from dataclasses import dataclass

from lerim.review.candidates import Proposal


@dataclass(frozen=True, slots=True)
class CandidateProposed:
    """A candidate file was written."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class ClaimBlocked:
    """The claim was rejected earlier; `times` counts how often it has come up again."""

    rejected: str
    times: int


@dataclass(frozen=True, slots=True)
class AlreadyKnown:
    """The claim is already a candidate or memory: `id` names it, `reason` is a sentence for the person."""

    id: str
    reason: str
    gained_evidence: bool = False


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """The outcome of a review action. `action` is the id for undoing it, `path` the file of the memory or candidate.

    `ask_quotes`: nothing was changed; the person must first decide whether quotes are shared in git. `note`: one
    short sentence about something else that the person should know, such as a reference that was not found; "" if
    there is nothing. `missing` says, for each reference that was not found or is ambiguous, where it may be.
    `waiting` are the ids of the candidates that wait now but did not wait before the undo or proposal.
    """

    ok: bool
    code: str
    message: str
    action: str | None = None
    path: str | None = None
    ask_quotes: bool = False
    note: str = ""
    missing: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
