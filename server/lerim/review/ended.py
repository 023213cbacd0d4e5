"""How a memory that is over came to its end, as far as this installation saw it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lerim.errors import MemoryError_
from lerim.memory import files
from lerim.memory.store import Stored
from lerim.redaction import redact
from lerim.review.candidates import of_text
from lerim.review.ledger import Action, opened
from lerim.review.place import Place


@dataclass(frozen=True, slots=True)
class Ending:
    """When a memory was put away (ISO 8601) and why; "" where nothing is known of it."""

    time: str = ""
    why: str = ""


def archived_label(title: str, reason: str) -> str:
    """What the step by which a person archives a memory is called; the reason is read from it again."""
    return f"Archived: {title} ({reason})" if reason else f"Archived: {title}"


def ending(place: Place, stored: Stored) -> Ending:
    """What is known of how a memory came to where it lies below `archived/`; nothing of one that is not over.

    Raises MemoryError_ where the ledger cannot be used.
    """
    path = str(stored.path)
    if stored.status == "active" or files.is_absent(place.private / "review.sqlite3"):
        return Ending()
    with opened(place.private, place.moves) as book:
        for step in book.steps("done"):
            if any(change.path == path and change.before is None for change in step.changes):
                return Ending(step.time, redact(_why(place, step, stored.record.title)).text)
    return Ending()


def _why(place: Place, step: Action, title: str) -> str:
    """What the person gave as a reason, or the proposal they accepted."""
    if step.kind == "archive":
        begun = archived_label(title, "")
        return step.label.removeprefix(begun).strip()[1:-1] if step.label.startswith(begun) else ""
    for change in step.changes:
        if change.home == "review" and change.before is not None:
            with suppress(MemoryError_):
                return of_text(change.before, Path(change.path), place.store()).reason
    return ""
