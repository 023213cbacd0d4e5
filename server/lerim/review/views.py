"""What the command line prints and the editor shows of a review: plain structs, snake_case."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.memory.lines import moment
from lerim.memory.views import EvidenceView, evidence_views, safe
from lerim.review.candidates import Proposal
from lerim.review.ledger import Action


class CandidateView(msgspec.Struct, frozen=True):
    """A waiting candidate. `diff` is the change of `target` for an update; `turn` is the id its claim rests on."""

    id: str
    primitive: str
    kind: str | None
    title: str
    body: str
    confidence: float
    action: Literal["add", "update"]
    target: str | None
    diff: str | None
    tags: list[str]
    references: list[str]
    evidence: list[EvidenceView]
    session: str
    turn: str
    platform: str
    time: str
    signal: str
    flags: list[str]
    edited: bool = False
    path: str = ""


class UndoView(msgspec.Struct, frozen=True):
    """The action `undo` would take back, and how to call it."""

    action: str
    label: str


def candidate_view(proposal: Proposal) -> CandidateView:
    """A proposal as it is shown, without secrets: its file and its target may have been written in by hand."""
    record = safe(proposal.record)
    return CandidateView(
        id=proposal.id,
        primitive=record.primitive,
        kind=record.kind,
        title=record.title,
        body=record.body,
        confidence=record.confidence,
        action=proposal.action,
        target=proposal.target or None,
        diff=proposal.diff or None,
        tags=list(record.tags),
        references=list(record.references),
        evidence=evidence_views(record.evidence),
        session=proposal.session,
        turn=proposal.turn,
        platform=proposal.platform,
        time=moment(proposal.time),
        signal=proposal.signal,
        flags=list(proposal.flags),
        edited=proposal.edited,
        path=str(proposal.path),
    )


def undo_view(action: Action | None) -> UndoView | None:
    """The undoable action as it is shown."""
    return UndoView(action.id, action.label) if action else None
