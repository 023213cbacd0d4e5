"""Adding a memory that a person writes by hand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from lerim import files
from lerim.errors import MemoryError_
from lerim.memory import (
    LearningKind,
    MemoryRecord,
    Primitive,
    Store,
    StoredMemory,
    render_record,
    slug,
)
from lerim.redaction import redact_secrets
from lerim.review import actions
from lerim.review.accepting.accept import record_kept, verify_references
from lerim.review.candidates import (
    PERSON_CONFIDENCE,
    join_lines,
)
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
    """Write a memory a person made by hand, secrets cut out; it can be undone. One that is there in the same words is
    left as it is, and said. Raises MemoryError_."""
    if not join_lines(title):
        raise MemoryError_("A memory needs a title.", where="title", todo="Write one.")
    if not 0 <= confidence <= 1:
        raise MemoryError_("The confidence is not a number from 0 to 1.", where="confidence", todo="Use 0.9, say.")
    now = datetime.now(UTC).replace(microsecond=0)
    clean = [
        redact_secrets(text) for text in (join_lines(title), files.path_to_text(body).strip(), *map(join_lines, tags))
    ]
    title, body, *tags = (part.text for part in clean)
    memory = MemoryRecord(
        *("", primitive, title, now, now, "manual", confidence, tuple(tags), body),
        kind=kind if primitive == "learning" else None,
        references=tuple(references),
    )
    with actions.locked_ledger(paths) as ledger:
        store = paths.store()
        there = _find_same_memory(store, memory)
        if there is not None:
            told = f"It exists already: {there.record.title} ({there.record.id})"
            return ReviewResult(True, "already", told, path=str(there.path))
        states = ledger.states()
        memory = replace(memory, id=store.new_id(memory, lambda name: name in states))
        if references:
            memory = verify_references(paths, now, memory)
        path = store.path_for(memory)
        change = FileChange("memory", str(store.anchor), str(path), None, render_record(memory))
        label = f"Added: {memory.title}"
        done = actions.perform_action(paths, ledger, "add", label, "", ("pending", "accepted"), [change], memory.id)
        record_kept(paths, memory.id)
        cut = sum(part.count for part in clean)
        told = f"{label}\n{cut} secret{'s were' if cut > 1 else ' was'} removed." if cut else label
        return ReviewResult(True, "added", told, done.id, str(path))


def _find_same_memory(store: Store, memory: MemoryRecord) -> StoredMemory | None:
    """The active memory of this primitive that has the same title and text, in any case of letters; of those alone that
    were named after this title."""
    name = slug.make_slug(memory.title)
    for path in (store.path_of(one) for one in sorted(store.all_ids()) if slug.matches_slug(one, name)):
        if path is None:
            continue
        with suppress(MemoryError_):  # a file that cannot be read says nothing
            stored = store.load(path)[0]
            if stored.status == "active" and _normalized_words(stored.record) == _normalized_words(memory):
                return stored
    return None


def _normalized_words(memory: MemoryRecord) -> tuple[str, str, str]:
    return memory.primitive, join_lines(memory.title).casefold(), " ".join(memory.body.split()).casefold()
