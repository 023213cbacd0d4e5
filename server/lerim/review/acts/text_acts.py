"""Edits, verifies and rates memories."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from lerim.errors import MemoryError_, MissingReferenceError
from lerim.files import hash_text
from lerim.memory import (
    Feedback,
    HeaderValue,
    Uses,
    check_references,
    lifecycle,
    parse_record,
    summarize_problems,
    verifying,
)
from lerim.redaction import redact_secrets
from lerim.review.accepting import record_kept, withdraw_archiving
from lerim.review.acts.held_memory import UNCHANGED_MESSAGE, HeldMemory, current_second, hold_memory
from lerim.review.candidates import (
    ACCEPTED_CONFIDENCE,
    PERSON_CONFIDENCE,
    clean_edit,
    join_lines,
    text_with_references,
)
from lerim.review.decisions import MemoryEdit
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def edit_memory(paths: ReviewPaths, memory_id: str, edit: MemoryEdit) -> ReviewResult:
    """Changes a memory's words, tags or references, without secrets.

    If the words change, its confidence becomes at least `PERSON_CONFIDENCE`, `updated` becomes the current time, and
    its references count as verified now. Raises NotFoundError, MemoryError_, StaleError, BusyError.
    """
    with hold_memory(paths, memory_id) as memory:
        text = _edited_text(memory, edit)
        if text == memory.text:
            return ReviewResult(True, "unchanged", UNCHANGED_MESSAGE, path=str(memory.path))
        label = f"Edited: {parse_record(text, memory.path).title}"
        return memory.perform("change", label, [memory.rewrite_change(text)])


def _edited_text(memory: HeldMemory, edit: MemoryEdit) -> str:
    """Returns the edited text. A part that comes back exactly as it was shown (with secrets removed) is left
    unchanged."""
    old = memory.record
    words = clean_edit(edit, memory.path)
    changes: dict[str, HeaderValue] = {}
    if words.title not in (None, redact_secrets(join_lines(old.title)).text):
        changes["title"] = words.title
    new_body = words.body if words.body != redact_secrets(old.body.replace("\r\n", "\n").strip()).text else None
    if changes or new_body is not None:
        changes |= {"confidence": max(old.confidence, PERSON_CONFIDENCE), "updated": max(old.updated, current_second())}
    if words.tags not in (None, tuple(redact_secrets(join_lines(tag)).text for tag in old.tags)):
        changes["tags"] = words.tags
    with_references = old if words.references is None else replace(old, references=words.references)
    if with_references.references != old.references:
        changes["references"] = with_references.references or None
    # new words verify the references, as an accepted update does
    verify_now = "updated" in changes and with_references.references
    if verify_now or "references" in changes:
        paths = memory.paths
        before = None if verify_now else old
        now = current_second()
        verified = verifying.verify_record(paths.project, paths.home, with_references, now, before=before)
        changes["verified"] = verified.verified or None
        if verified.references != old.references:
            changes["references"] = verified.references or None
    return memory.updated_text(changes, new_body)


def verify_memory(paths: ReviewPaths, memory_id: str) -> ReviewResult:
    """Confirms that a memory is still true: its references are compared with their current state from now on,
    references whose place moved are updated, and its confidence becomes at least `ACCEPTED_CONFIDENCE`.

    Raises the same errors as `edit_memory`, MissingReferenceError if a reference is not found, and MemoryError_ if
    that state cannot be saved.
    """
    with hold_memory(paths, memory_id) as memory:
        unverified = replace(memory.record, verified="")
        verified = verifying.verify_record(paths.project, paths.home, unverified, current_second())
        if not verified.verified:
            _require_found(memory)
            todo = "Free some space or make the folder writable, then try again."
            raise MemoryError_("The state of its references could not be saved.", where=str(paths.private), todo=todo)
        changes: dict[str, HeaderValue] = {"verified": verified.verified}
        if memory.record.confidence < ACCEPTED_CONFIDENCE:  # saying so is as good as accepting it
            changes["confidence"] = ACCEPTED_CONFIDENCE
        text = memory.updated_text(changes)
        moved = [one for one in verified.references if one not in memory.record.references]
        if moved:
            text = text_with_references(text, memory.path, verified.references)
        label = f"Marked as still true: {memory.record.title}"
        if text == memory.text:
            record_kept(paths, memory_id)
            return ReviewResult(True, "verify", label, path=str(memory.path))
        done = memory.perform("verify", label, [memory.rewrite_change(text)])
        return replace(done, message=f"{label} (it refers to {', '.join(moved)} now)") if moved else done


def _require_found(memory: HeldMemory) -> None:
    problems = check_references(memory.paths.project.root, memory.record.references)
    missing = [problem for problem in problems if problem.state == "not-found"]
    if missing:
        likely = ", ".join(place for problem in missing for place in problem.likely)
        raise MissingReferenceError(
            f"Not marked as still true: {summarize_problems(missing)}",
            where=str(memory.path),
            todo=f"Correct its references, or archive it.{f' Likely places: {likely}.' if likely else ''}",
        )


def give_feedback(paths: ReviewPaths, memory_id: str, said: Feedback) -> ReviewResult:
    """Records a person's rating of a memory and changes its confidence (`lifecycle.confidence_after_feedback`).

    If it is rated useful, waiting proposals to archive it are withdrawn. Raises the same errors as `edit_memory`.
    """
    with hold_memory(paths, memory_id) as memory:
        old = memory.record
        new_confidence = lifecycle.confidence_after_feedback(old.confidence, said)
        uses, at = Uses(paths.private), datetime.now(UTC)
        uses.record_feedback(memory_id, said, at)
        if said == "useful":
            uses.record_use([memory_id], "useful", at)
            withdraw_archiving(paths, memory.ledger, memory_id, "it was rated useful since")
        text = memory.updated_text({"confidence": new_confidence})
        if text == memory.text:
            return ReviewResult(
                True, "unchanged", f"Saved; its confidence stays {new_confidence * 100:.0f} %.", path=str(memory.path)
            )
        label = f"Marked as {said}: {old.title}"
        if said != "useful" and memory.ledger.is_ours(hash_text(memory.text)):
            # only the confidence changed, and the person does not want to keep the memory
            memory.ledger.record_our_text(text)
        done = memory.perform("feedback", label, [memory.rewrite_change(text)])
        change = f"(confidence {old.confidence * 100:.0f} %, now {new_confidence * 100:.0f} %)"
        return replace(done, message=f"{label} {change}")
