"""Archives, restores and deletes a memory, and finds when and why one was archived."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lerim.errors import MemoryError_
from lerim.memory import HeaderValue, Store, StoredMemory, links, memory_search, record
from lerim.redaction import redact_secrets
from lerim.review.accepting import file_change
from lerim.review.acts.held_memory import HeldMemory, hold_memory, retry_if_stale
from lerim.review.candidates import join_lines, parse_candidate
from lerim.review.ledger import Action, FileChange
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def archive_memory(paths: ReviewPaths, memory_id: str, reason: str = "") -> ReviewResult:
    """Archives a memory: its file moves to `archived/` unchanged. Raises the same errors as `edit_memory`."""

    def put_away(memory: HeldMemory) -> ReviewResult:
        if not memory.can_become("archived"):
            return ReviewResult(True, "already", f"It is {memory.status} already.", path=str(memory.path))
        to = memory.store.path_for(memory.record, archived=True)
        return memory.perform(
            "archive", archived_label(memory.record.title, join_lines(reason)), memory.move_changes(to), to
        )

    return retry_if_stale(paths, memory_id, put_away)


def restore_memory(paths: ReviewPaths, memory_id: str) -> ReviewResult:
    """Restores a memory that was archived, superseded or resolved.

    The links to the memory that ended it are removed on both sides. Raises the same errors as `edit_memory`.
    """

    def bring_back(memory: HeldMemory) -> ReviewResult:
        old = memory.record
        memories, _ = memory_search.load_all(paths.project, paths.home, memory.store)
        enders = links.find_enders(memories, memory_id)
        if not memory.can_become("active") and not enders:
            return ReviewResult(True, "already", "It is active.", path=str(memory.path))
        to = memory.store.path_for(old)
        changes = [_unlink(memory.store, ender, memory_id) for ender in enders if ender.record.id != memory_id]
        ended: dict[str, HeaderValue] = {
            "superseded_by": None,
            "resolved_by": None,
            **links.changes_without_link(old, memory_id),
        }
        changes += memory.move_changes(to, memory.updated_text(ended))
        return memory.perform("restore", f"Restored: {old.title}", changes, to)

    return retry_if_stale(paths, memory_id, bring_back)


def _unlink(store: Store, ender: StoredMemory, memory_id: str) -> FileChange:
    text = store.read_text(ender.path)
    gone = links.changes_without_link(ender.record, memory_id)
    return file_change(store, ender.path, text, record.update_record_text(text, gone, where=str(ender.path)))


def delete_theme(paths: ReviewPaths, memory_id: str) -> ReviewResult:
    """Deletes the file of a theme; memories of any other primitive are archived rather than deleted. Raises the same
    errors as `edit_memory`."""
    with hold_memory(paths, memory_id) as memory:
        if memory.record.primitive != "theme":
            todo = f"Archive it: `lerim memory archive {memory_id}`."
            raise MemoryError_("Only themes are deleted.", where=str(memory.path), todo=todo)
        gone = file_change(memory.store, memory.path, memory.text, None)
        return memory.perform("delete", f"Deleted: {memory.record.title}", [gone])


@dataclass(frozen=True, slots=True)
class MemoryEnding:
    """When a memory was archived (ISO 8601) and why; both are "" if unknown."""

    time: str = ""
    why: str = ""


def archived_label(title: str, reason: str) -> str:
    """Returns the label of the action that archives a memory. `_why` extracts the reason from it again."""
    return f"Archived: {title} ({reason})" if reason else f"Archived: {title}"


def find_ending(paths: ReviewPaths, stored: StoredMemory) -> MemoryEnding:
    """Returns when and why a memory moved to `archived/`; empty for an active memory.

    Raises MemoryError_ where the ledger cannot be used.
    """
    path = str(stored.path)
    if stored.status == "active":
        return MemoryEnding()
    with paths.open_ledger_if_any() as ledger:
        for step in ledger.list_actions("done") if ledger is not None else ():
            if any(change.path == path and change.before is None for change in step.changes):
                return MemoryEnding(step.time, redact_secrets(_why(paths, step, stored.record.title)).text)
    return MemoryEnding()


def _why(paths: ReviewPaths, step: Action, title: str) -> str:
    if step.kind == "archive":
        begun = archived_label(title, "")
        return step.label.removeprefix(begun).strip()[1:-1] if step.label.startswith(begun) else ""
    for change in step.changes:
        if change.home == "review" and change.before is not None:
            with suppress(MemoryError_):
                return parse_candidate(change.before, Path(change.path), paths.store()).reason
    return ""
