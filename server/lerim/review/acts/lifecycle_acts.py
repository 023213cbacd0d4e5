"""Archiving, restoring and deleting a memory."""

from __future__ import annotations

from lerim.errors import MemoryError_
from lerim.memory import (
    HeaderValue,
    Store,
    StoredMemory,
    links,
    record,
)
from lerim.review.acts.endings import archived_label
from lerim.review.acts.held_memory import HeldMemory, file_change, hold_memory, retry_if_stale
from lerim.review.candidates import join_lines
from lerim.review.ledger import FileChange
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def archive_memory(paths: ReviewPaths, memory_id: str, reason: str = "") -> ReviewResult:
    """Archive a memory: its file moves to `archived/` unchanged. Raises as `edit_memory`."""

    def put_away(memory: HeldMemory) -> ReviewResult:
        if not memory.can_become("archived"):
            return ReviewResult(True, "already", f"It is {memory.status} already.", path=str(memory.path))
        to = memory.store.path_for(memory.record, archived=True)
        return memory.perform(
            "archive", archived_label(memory.record.title, join_lines(reason)), memory.move_changes(to), to
        )

    return retry_if_stale(paths, memory_id, put_away)


def restore_memory(paths: ReviewPaths, memory_id: str) -> ReviewResult:
    """Restore a memory that was archived, superseded or resolved; the links that ended it are removed on both sides.

    Raises as `edit_memory`.
    """

    def bring_back(memory: HeldMemory) -> ReviewResult:
        old = memory.record
        enders = links.find_enders(links.find_linked_memories(memory.store), memory_id)
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
    """The file change that removes the link by which `ender` ended the memory."""
    text = store.read_text(ender.path)
    gone = links.changes_without_link(ender.record, memory_id)
    return file_change(store, ender.path, text, record.update_record_text(text, gone, where=str(ender.path)))


def delete_theme(paths: ReviewPaths, memory_id: str) -> ReviewResult:
    """Delete a theme's file; everything else is archived, not deleted. Raises as `edit_memory`."""
    with hold_memory(paths, memory_id) as memory:
        if memory.record.primitive != "theme":
            todo = f"Archive it: `lerim memory archive {memory_id}`."
            raise MemoryError_("Only themes are deleted.", where=str(memory.path), todo=todo)
        gone = file_change(memory.store, memory.path, memory.text, None)
        return memory.perform("delete", f"Deleted: {memory.record.title}", [gone])
