"""The structs in which the command line and the editor show candidates and actions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from lerim.memory import Evidence, Primitive, Scope, StoredMemory, redact_record, text_beyond_quotes
from lerim.redaction import redact_secrets, remove_orders, show_hidden
from lerim.review.candidates import Maker, Proposal, ProposedAction
from lerim.review.compare import ANSWERS, NearMemory
from lerim.review.decisions import NeighbourAnswer
from lerim.review.ledger import DROP_REASON_TEXTS, Action, LeftOut
from lerim.sessions import agent_name
from lerim.times import format_utc


class TargetView(msgspec.Struct, frozen=True):
    """The current state of a memory that a candidate changes or ends."""

    id: str
    title: str
    status: str
    path: str


class NeighbourView(msgspec.Struct, frozen=True):
    """An active memory similar to a candidate. `similarity` is from 0 to 1. `hash` identifies the file's text as
    shown; clients can send it back with the person's choice. `text` is the part of `body` to show in addition to the
    title."""

    id: str
    title: str
    body: str
    primitive: Primitive
    kind: str | None
    path: str
    status: str
    similarity: float
    hash: str
    text: str = ""


class SuggestedView(msgspec.Struct, frozen=True):
    """The answer that the claim's own words, or a model, suggest for a memory, given by its id. It applies if the
    candidate is accepted without a choice. For `keep`, `memory` is empty."""

    answer: NeighbourAnswer
    memory: str
    reason: str
    by: Literal["claim", "model"]


class CandidateView(msgspec.Struct, frozen=True):
    """A waiting candidate. `turn` is the id of the turn that its claim comes from. A suggestion of maintain has a
    `reason`, but no session, turn, platform or signal.

    `agent` is the platform's display name. `diff` is the change of the memory it rewrites. `targets` are the
    memories it changes or ends, `target` the id of the first, and `ends` the ids of those that would no longer be
    active. `neighbours` are the most similar active memories, best first; `waiting_since` is when its file was last
    written, "" if unknown; `suggested` is the preselected answer for one of them. `scope` "global": it would become
    one of the person's own memories. `can_change_kind`: the kind of the memory it would add can be changed. `text`
    is the part of `body` to show in addition to the title and the quotes, without what these already say.
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
    evidence: list[Evidence]
    session: str
    turn: str
    platform: str
    agent: str
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
    waiting_since: str = ""
    neighbours: list[NeighbourView] = []
    suggested: SuggestedView | None = None
    can_change_kind: bool = False
    text: str = ""


class LeftOutView(msgspec.Struct, frozen=True):
    """A claim that was not proposed. `why` is the `reason` in words, and `detail` gives the details for this claim.
    `quote` is "" if there is no quote; `score` is the ranking score, if it was ranked. `can_propose` is false if no
    memory can be made from it."""

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
    """The action that undo would revert: its id and a label."""

    action: str
    label: str


def candidate_view(proposal: Proposal, scope: Scope = "project") -> CandidateView:
    """Returns the view of a proposal, without secrets. A person may have put some into its file or its target by
    hand."""
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
        evidence=list(record.evidence),
        session=proposal.session,
        turn=proposal.turn,
        platform=proposal.platform or "",
        agent=agent_name(proposal.platform or ""),
        time=format_utc(proposal.time),
        signal=proposal.signal or "",
        flags=list(proposal.flags),
        edited=proposal.edited,
        path=str(proposal.path),
        targets=list(map(_target_view, proposal.target_memories)),
        neighbours=list(map(_neighbour_view, proposal.neighbours)),
        suggested=_suggested_view(proposal),
        reason=redact_secrets(proposal.reason).text,
        maker=proposal.maker,
        scope=scope,
        waiting_since=_written_time(proposal.path),
        ends=list(proposal.ends),
        can_change_kind=proposal.can_change_kind,
        text=text_beyond_quotes(record.title, record.body, [one.quote for one in record.evidence]),
    )


def _written_time(path: Path) -> str:
    try:
        return format_utc(datetime.fromtimestamp(path.stat().st_mtime, UTC))
    except (OSError, ValueError, OverflowError):
        return ""


def left_out_view(item: LeftOut, scope: Scope = "project") -> LeftOutView:
    """Returns the view of a left-out claim, without secrets and without instructions to an agent."""
    candidate = item.candidate
    quote = candidate.evidence[0] if candidate is not None and candidate.evidence else None
    return LeftOutView(
        id=item.id,
        reason=item.reason,
        why=DROP_REASON_TEXTS[item.reason],
        detail=_clean_text(item.detail),
        title=_clean_text(item.title),
        primitive=candidate.primitive if candidate else "",
        kind=candidate.kind if candidate else None,
        quote=_clean_text(quote.quote) if quote else "",
        who=quote.who if quote else "",
        session=item.session,
        turn=item.turn,
        platform=candidate.platform if candidate else "",
        time=format_utc(item.said),
        score=item.score,
        can_propose=candidate is not None,
        scope=scope,
    )


def _clean_text(text: str) -> str:
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
        text=text_beyond_quotes(record.title, record.body, []),
    )


def _suggested_view(proposal: Proposal) -> SuggestedView | None:
    """Returns the answer that a session's candidate suggests for a memory. Suggestions have none."""
    if not proposal.is_claim:
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
    """Returns the view of the action that can be undone, if any."""
    return UndoView(action.id, action.label) if action else None
