"""The structs in which the command line and the editor show candidates and actions."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.memory import EvidenceView, Primitive, Scope, StoredMemory, evidence_views, format_time, redact_record
from lerim.redaction import redact_secrets, remove_orders, show_hidden
from lerim.review.candidates import Maker, Proposal, ProposedAction
from lerim.review.comparing import ANSWERS, NearMemory, NeighbourAnswer
from lerim.review.ledger import DROP_REASON_TEXTS, Action, LeftOut


class TargetView(msgspec.Struct, frozen=True):
    """A memory that a candidate is about, as it is now."""

    id: str
    title: str
    status: str
    path: str


class NeighbourView(msgspec.Struct, frozen=True):
    """An active memory near a candidate. `similarity` is from 0 to 1; `hash` is of the file's text as shown, and can be
    sent back with the person's choice."""

    id: str
    title: str
    body: str
    primitive: Primitive
    kind: str | None
    path: str
    status: str
    similarity: float
    hash: str


class SuggestedView(msgspec.Struct, frozen=True):
    """The answer for a memory that the claim itself, or a model, suggests. Accepting without a choice does it.

    For `keep` the memory is empty."""

    answer: NeighbourAnswer
    memory: str
    reason: str
    by: Literal["claim", "model"]


class CandidateView(msgspec.Struct, frozen=True):
    """A waiting candidate. `turn` is the id its claim rests on; a proposal of maintain's has no session, turn, platform
    and signal, but a `reason`.

    `diff` is the change of the memory it rewrites. `targets` are the memories it is about, `target` the id of the
    first; `ends` are the ids of those that would be no longer active. `neighbours` are the most similar
    active memories, best first; `suggested` is the preselected answer for one of them. `scope` global: it would be the
    person's own.
    """

    id: str
    primitive: Primitive
    kind: str | None
    title: str
    body: str
    confidence: float
    action: ProposedAction
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
    targets: list[TargetView] = []
    reason: str = ""
    maker: Maker = "rules"
    ends: list[str] = []
    scope: Scope = "project"
    neighbours: list[NeighbourView] = []
    suggested: SuggestedView | None = None


class LeftOutView(msgspec.Struct, frozen=True):
    """Something that was not proposed. `why` is the `reason` in words, `detail` what it was here; `quote` is "" where
    no words show it, `score` what a ranking gave it. Not `can_propose`: no memory can be made of it."""

    id: str
    reason: str
    why: str
    detail: str
    title: str
    primitive: str
    kind: str | None
    quote: str
    who: str
    session: str
    turn: str
    platform: str
    time: str
    score: float | None
    can_propose: bool
    scope: Scope = "project"


class UndoView(msgspec.Struct, frozen=True):
    """The action `undo` would take back, and how to call it."""

    action: str
    label: str


def candidate_view(proposal: Proposal, scope: Scope = "project") -> CandidateView:
    """A proposal as it is shown, without secrets: its file and its target may have been written in by hand."""
    record = redact_record(proposal.record)
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
        platform=proposal.platform or "",
        time=format_time(proposal.time),
        signal=proposal.signal or "",
        flags=list(proposal.flags),
        edited=proposal.edited,
        path=str(proposal.path),
        targets=list(map(_target_view, proposal.target_memories)),
        neighbours=list(map(_neighbour_view, proposal.neighbours)),
        suggested=_suggested(proposal),
        reason=redact_secrets(proposal.reason).text,
        maker=proposal.maker,
        scope=scope,
        ends=list(proposal.ends),
    )


def left_out_view(item: LeftOut, scope: Scope = "project") -> LeftOutView:
    """What was left out as it is shown: without secrets, and without orders to an agent."""
    candidate = item.candidate
    said = candidate.evidence[0] if candidate is not None and candidate.evidence else None
    return LeftOutView(
        id=item.id,
        reason=item.reason,
        why=DROP_REASON_TEXTS[item.reason],
        detail=_safe(item.detail),
        title=_safe(item.title),
        primitive=candidate.primitive if candidate else "",
        kind=candidate.kind if candidate else None,
        quote=_safe(said.quote) if said else "",
        who=said.who if said else "",
        session=item.session,
        turn=item.turn,
        platform=candidate.platform if candidate else "",
        time=format_time(item.said),
        score=item.score,
        can_propose=candidate is not None,
        scope=scope,
    )


def _safe(text: str) -> str:
    return show_hidden(redact_secrets(remove_orders(text)).text)


def _target_view(one: StoredMemory) -> TargetView:
    return TargetView(one.record.id, redact_record(one.record).title, one.status, str(one.path))


def _neighbour_view(near: NearMemory) -> NeighbourView:
    stored, record = near.stored, redact_record(near.stored.record)
    return NeighbourView(
        id=stored.record.id,
        title=record.title,
        body=record.body,
        primitive=record.primitive,
        kind=record.kind,
        path=str(stored.path),
        status=stored.status,
        similarity=round(near.similarity, 4),
        hash=stored.text_hash,
    )


def _suggested(proposal: Proposal) -> SuggestedView | None:
    """The answer that a session's candidate suggests for a memory; proposals of maintaining have none."""
    if not proposal.session:
        return None
    by: Literal["claim", "model"] = "model" if proposal.maker == "lead" else "claim"
    if proposal.action == "add":
        return SuggestedView("keep", "", redact_secrets(proposal.reason).text, by) if by == "model" else None
    if not proposal.target_memories:
        return None
    return SuggestedView(
        ANSWERS.get(proposal.action, "keep"),
        proposal.target_memories[0].record.id,
        redact_secrets(proposal.reason).text,
        by,
    )


def undo_view(action: Action | None) -> UndoView | None:
    """The undoable action as it is shown."""
    return UndoView(action.id, action.label) if action else None
