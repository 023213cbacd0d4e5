"""Adding a memory that a person writes by hand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from lerim import files
from lerim.errors import MemoryError_
from lerim.memory import LearningKind, MemoryRecord, Primitive, Store, StoredMemory, render_record, slug
from lerim.redaction import redact_secrets
from lerim.review import actions
from lerim.review.accepting.accept import record_kept, verify_references
from lerim.review.candidates import PERSON_CONFIDENCE, join_lines
from lerim.review.ledger import FileChange
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def add_memory(
    paths: ReviewPaths,
    primitive: Primitive,
    title: str,
    body: str,
    *,
    kind: LearningKind | None = None,
    tags: Sequence[str] = (),
    references: Sequence[str] = (),
    confidence: float = PERSON_CONFIDENCE,
) -> ReviewResult:
    """Save a memory that a person wrote by hand, without secrets; this can be undone. If an active memory has the same
    words, nothing is written and the result has the code "already". Raises MemoryError_."""
    if not join_lines(title):
        raise MemoryError_("A memory needs a title.", where="title", todo="Write one.")
    if not 0 <= confidence <= 1:
        raise MemoryError_("The confidence is not a number from 0 to 1.", where="confidence", todo="Use 0.9, say.")
    now = datetime.now(UTC).replace(microsecond=0)
    redacted = [
        redact_secrets(text) for text in (join_lines(title), files.path_to_text(body).strip(), *map(join_lines, tags))
    ]
    title, body, *tags = (part.text for part in redacted)
    memory = MemoryRecord(
        *("", primitive, title, now, now, "manual", confidence, tuple(tags), body),
        kind=kind if primitive == "learning" else None,
        references=tuple(references),
    )
    with actions.locked_ledger(paths) as ledger:
        store = paths.store()
        existing = _find_same_memory(store, memory)
        if existing is not None:
            message = f"It exists already: {existing.record.title} ({existing.record.id})"
            return ReviewResult(True, "already", message, path=str(existing.path))
        states = ledger.states()
        memory = replace(memory, id=store.new_id(memory, lambda name: name in states))
        if references:
            memory = verify_references(paths, now, memory)
        path = store.path_for(memory)
        change = FileChange("memory", str(store.anchor), str(path), None, render_record(memory))
        label = f"Added: {memory.title}"
        action = actions.perform_action(paths, ledger, "add", label, "", ("pending", "accepted"), [change], memory.id)
        record_kept(paths, memory.id)
        secret_count = sum(part.count for part in redacted)
        message = (
            f"{label}\n{secret_count} secret{'s were' if secret_count > 1 else ' was'} removed."
            if secret_count
            else label
        )
        return ReviewResult(True, "added", message, action.id, str(path))


def _find_same_memory(store: Store, memory: MemoryRecord) -> StoredMemory | None:
    """The active memory of this primitive with the same title and body, ignoring case. Only memories whose id has the
    slug of this title are compared."""
    name = slug.make_slug(memory.title)
    for path in (store.path_of(one) for one in sorted(store.all_ids()) if slug.matches_slug(one, name)):
        if path is None:
            continue
        with suppress(MemoryError_):  # skip an unreadable file
            stored = store.load(path)[0]
            if stored.status == "active" and _normalized_words(stored.record) == _normalized_words(memory):
                return stored
    return None


def _normalized_words(memory: MemoryRecord) -> tuple[str, str, str]:
    return memory.primitive, join_lines(memory.title).casefold(), " ".join(memory.body.split()).casefold()
