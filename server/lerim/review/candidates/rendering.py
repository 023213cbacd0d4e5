"""Renders the text of a candidate file: a memory in its usual form plus the keys that only the review needs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lerim.extraction import Candidate, raise_confidence
from lerim.memory import Evidence, HeaderValue, MemoryRecord, evidence_values, merge_evidence, record, render_record
from lerim.review.candidates.proposal import Maker, Proposal, ProposedAction, Target, join_lines


def new_record(candidate: Candidate, candidate_id: str) -> MemoryRecord:
    """Returns the memory that a candidate would become."""
    return MemoryRecord(
        id=candidate_id,
        primitive=candidate.primitive,
        title=join_lines(candidate.title),
        created=candidate.time,
        updated=candidate.time,
        source=candidate.source,
        confidence=round(candidate.confidence, 4),
        tags=candidate.tags,
        body=candidate.body.strip(),
        kind=candidate.kind,
        references=candidate.references,
        evidence=candidate.evidence,
    )


def candidate_text(
    candidate: Candidate,
    memory: MemoryRecord,
    action: ProposedAction,
    targets: Sequence[Target],
    reason: str = "",
    maker: Maker | None = None,
) -> str:
    """Returns the text of the candidate file for a session's candidate. `memory` is the result of `new_record`.
    `maker` is "person" if a person asked for the candidate; by default, it follows from the signal."""
    maker = maker or ("model" if candidate.signal == "model" else "rules")
    return render_record(
        memory,
        {
            "primitive": candidate.primitive,
            **action_fields(action, targets, reason, maker),
            "session": candidate.session,
            "platform": candidate.platform,
            "time": candidate.time,
            "signal": candidate.signal,
            **({"replaces": candidate.replaces} if candidate.replaces else {}),
            "flags": candidate.flags,
            "status": "pending",
        },
    )


def suggestion_text(
    memory: MemoryRecord,
    action: ProposedAction,
    targets: Sequence[Target],
    reason: str,
    maker: Maker,
    time: datetime,
    flags: Sequence[str] = (),
) -> str:
    """Returns the text of the candidate file for a suggestion, which has no session."""
    extra = action_fields(action, targets, reason, maker)
    return render_record(
        memory, {"primitive": memory.primitive, **extra, "time": time, "flags": flags, "status": "pending"}
    )


def action_fields(
    action: ProposedAction, targets: Sequence[Target], reason: str, maker: Maker
) -> dict[str, HeaderValue]:
    """Returns the keys of a candidate file that define what accepting it does. Empty ones are omitted."""
    return {
        "action": action,
        **({"targets": tuple(f"{one.id}@{one.hash}" for one in targets)} if targets else {}),
        **({"reason": reason} if reason else {}),
        "maker": maker,
    }


def add_repeat(waiting: Proposal, again: Candidate) -> str:
    """Returns the text of the candidate file after its claim was found again: with the new quotes, three at most, and
    with a higher confidence for each new quote of the user.

    A quote that contains a known quote of the same turn, or is contained in one, is not new. If either candidate is
    flagged, nothing is added. Raises MemoryError_.
    """
    if again.flags or waiting.flags:
        return waiting.text
    old_evidence = waiting.record.evidence
    new_evidence = [item for item in again.evidence if not any(_same_words(item, one) for one in old_evidence)]
    merged = merge_evidence(old_evidence, new_evidence)
    user_quotes = sum(item.who == "user" for item in merged[len(old_evidence) :])
    changes: dict[str, HeaderValue] = {
        "confidence": raise_confidence(waiting.record.confidence, user_quotes),
        "updated": max(waiting.record.updated, again.time),
        "evidence": evidence_values(merged),
    }
    return record.update_record_text(waiting.text, changes, where=str(waiting.path))


def _same_words(one: Evidence, other: Evidence) -> bool:
    if (one.turn, one.who) != (other.turn, other.who):
        return False
    return one.quote in other.quote or other.quote in one.quote
