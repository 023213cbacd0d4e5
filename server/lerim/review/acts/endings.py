"""When and why a memory was archived, as far as this installation's ledger knows."""

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
    """When a memory was archived (ISO 8601) and why; both are "" if unknown."""

    time: str = ""
    why: str = ""


def archived_label(title: str, reason: str) -> str:
    """The label of the action that archives a memory. `_why` reads the reason back from it."""
    return f"Archived: {title} ({reason})" if reason else f"Archived: {title}"


def find_ending(paths: ReviewPaths, stored: StoredMemory) -> MemoryEnding:
    """When and why a memory moved to `archived/`; empty for an active memory.

    Raises MemoryError_ where the ledger cannot be used.
    """
    path = str(stored.path)
    if stored.status == "active" or files.is_absent(paths.private / "review.sqlite3"):
        return MemoryEnding()
    with open_ledger(paths.private, paths.moves) as ledger:
        for step in ledger.list_actions("done"):
            if any(change.path == path and change.before is None for change in step.changes):
                return MemoryEnding(step.time, redact_secrets(_why(paths, step, stored.record.title)).text)
    return MemoryEnding()


def _why(paths: ReviewPaths, step: Action, title: str) -> str:
    """The reason the person gave, or that of the proposal they accepted."""
    if step.kind == "archive":
        begun = archived_label(title, "")
        return step.label.removeprefix(begun).strip()[1:-1] if step.label.startswith(begun) else ""
    for change in step.changes:
        if change.home == "review" and change.before is not None:
            with suppress(MemoryError_):
                return parse_candidate(change.before, Path(change.path), paths.store()).reason
    return ""
