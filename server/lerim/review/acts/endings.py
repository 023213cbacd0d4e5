"""How a memory that is over came to its end, as far as this installation saw it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lerim import files
from lerim.errors import MemoryError_
from lerim.memory import StoredMemory
from lerim.redaction import redact_secrets
from lerim.review.candidates import parse_candidate
from lerim.review.ledger import Action, open_ledger
from lerim.review.review_paths import ReviewPaths


@dataclass(frozen=True, slots=True)
class MemoryEnding:
    """When a memory was put away (ISO 8601) and why; "" where nothing is known of it."""

    time: str = ""
    why: str = ""


def archived_label(title: str, reason: str) -> str:
    """What the step by which a person archives a memory is called; the reason is read from it again."""
    return f"Archived: {title} ({reason})" if reason else f"Archived: {title}"


def find_ending(place: ReviewPaths, stored: StoredMemory) -> MemoryEnding:
    """What is known of how a memory came to where it lies below `archived/`; nothing of one that is not over.

    Raises MemoryError_ where the ledger cannot be used.
    """
    path = str(stored.path)
    if stored.status == "active" or files.is_absent(place.private / "review.sqlite3"):
        return MemoryEnding()
    with open_ledger(place.private, place.moves) as book:
        for step in book.steps("done"):
            if any(change.path == path and change.before is None for change in step.changes):
                return MemoryEnding(step.time, redact_secrets(_why(place, step, stored.record.title)).text)
    return MemoryEnding()


def _why(place: ReviewPaths, step: Action, title: str) -> str:
    """What the person gave as a reason, or the proposal they accepted."""
    if step.kind == "archive":
        begun = archived_label(title, "")
        return step.label.removeprefix(begun).strip()[1:-1] if step.label.startswith(begun) else ""
    for change in step.changes:
        if change.home == "review" and change.before is not None:
            with suppress(MemoryError_):
                return parse_candidate(change.before, Path(change.path), place.store()).reason
    return ""
