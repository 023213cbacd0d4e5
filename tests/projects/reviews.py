"""Short words for what tests do with a review: a candidate is proposed, accepted, suggested, and waits."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lerim.extraction.candidate import Candidate
from lerim.jobs import maintain
from lerim.jobs.maintain import MaintainReport
from lerim.memory.record import Evidence, MemoryRecord
from lerim.memory.store import StoredMemory
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths

Make = Callable[..., Candidate]
Git = Callable[..., str]
START = datetime(2026, 8, 1, 10, 20, 30, tzinfo=UTC)


def made_candidate(
    title: str = "Use uv, not pip",
    body: str = "Installs go through `uv pip sync requirements.lock`.",
    turn: str = "0a1b2c3d4e5f",
    minutes: int = 0,
    **more: Any,
) -> Candidate:
    """A candidate of its own turn."""
    values: dict[str, Any] = {
        "primitive": "decision",
        "kind": None,
        "title": title,
        "body": body,
        "confidence": 0.8,
        "tags": ("packaging",),
        "references": ("requirements.lock",),
        "evidence": (Evidence(f"no: {title}", turn, "user"),),
        "platform": "claude",
        "session": "s1",
        "turn": turn,
        "time": START + timedelta(minutes=minutes),
        "signal": "prompt",
    }
    return Candidate(**{**values, **more})


def proposed(place: ReviewPaths, candidate: Candidate) -> queue.Proposal:
    """The candidate, which waits."""
    outcome = queue.propose_candidate(place, candidate)
    assert isinstance(outcome, queue.CandidateProposed), outcome
    return outcome.proposal


def accepted(place: ReviewPaths, candidate: Candidate, **choices: Any) -> Path:
    """The memory file that a candidate became."""
    done = queue.accept_candidate(place, proposed(place, candidate).id, quotes="shared", **choices)
    assert done.ok and done.path, done
    return Path(done.path)


def remembered(place: ReviewPaths, candidate: Candidate) -> StoredMemory:
    """The memory that a candidate became."""
    return place.store().load(accepted(place, candidate))[0]


def suggested(
    place: ReviewPaths, action: Any, targets: tuple[StoredMemory, ...], record: MemoryRecord | None = None, **more: Any
) -> queue.Proposal:
    """What maintaining proposes to do with memories, which waits."""
    suggestion = queue.Suggestion(action, record or targets[0].record, targets, "Because.", **more)
    outcome = queue.propose_suggestion(place, suggestion)
    assert isinstance(outcome, queue.CandidateProposed), outcome
    return outcome.proposal


def added(place: ReviewPaths, title: str = "Use uv", body: str = "It is fast.", primitive: Any = "decision") -> Path:
    """The file of a memory that a person wrote."""
    return Path(queue.add_memory(place, primitive, title, body).path or "")


def waiting(place: ReviewPaths) -> list[str]:
    """The titles of what waits."""
    found, problems, _ = queue.list_pending(place)
    assert problems == []
    return [one.record.title for one in found]


def titles(place: ReviewPaths) -> list[str]:
    """The titles of the memories that hold."""
    return sorted(one.record.title for one in place.store().load_all()[0] if one.status == "active")


def maintained(
    place: ReviewPaths,
    now: datetime | None = None,
    settings: str | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    dry_run: bool = False,
) -> MaintainReport:
    """What maintaining the project's memories at this time, and with these settings, did."""
    if settings is not None:
        place.home.root.mkdir(mode=0o700, exist_ok=True)
        place.home.config.write_text(settings, encoding="utf-8")
    clock = lambda: now or datetime.now(UTC)  # noqa: E731
    arguments = (place.project, place.home, os.environ, lambda _: None, cancelled, clock)
    return maintain.maintain_project(*arguments, dry_run=dry_run)


def remember(place: ReviewPaths, title: str, body: str = "", *references: str) -> str:
    """The id of a decision that a person wrote about these places."""
    return Path(queue.add_memory(place, "decision", title, body, references=references).path or "").stem
