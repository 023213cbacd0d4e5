"""Adds a memory that a person writes by hand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lerim import files
from lerim.errors import BoundaryError, MemoryError_
from lerim.memory import (
    Evidence,
    LearningKind,
    MemoryRecord,
    Primitive,
    QuoteChoice,
    Store,
    StoredMemory,
    slug,
    verifying,
)
from lerim.redaction import redact_secrets
from lerim.review import actions
from lerim.review.accepting.accept import record_kept
from lerim.review.accepting.effects import file_change, quotes_changes, record_file_text
from lerim.review.candidates import ACCEPTED_CONFIDENCE, PERSON_CONFIDENCE, join_lines
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


@dataclass(frozen=True, slots=True)
class SessionOrigin:
    """The words of a session from which a person made a memory. `source` is `<platform>:<session>#<turn>`; `time` is
    when they were said."""

    source: str
    time: datetime
    evidence: Evidence


def add_memory(
    paths: ReviewPaths,
    primitive: Primitive,
    title: str,
    body: str,
    *,
    kind: LearningKind | None = None,
    tags: Sequence[str] = (),
    references: Sequence[str] = (),
    origin: SessionOrigin | None = None,
    quotes: QuoteChoice | None = None,
) -> ReviewResult:
    """Saves a memory that a person wrote by hand, without secrets; this can be undone. If an active memory has the same
    words, nothing is written and the result has the code "already".

    With `origin`, the result is the same as if a candidate made from these words had been accepted: the words are
    its evidence, its confidence is that of accepted candidates, and the first time in a project the result only has
    `ask_quotes`, unless `quotes` is given. Raises MemoryError_.
    """
    if not join_lines(title):
        raise MemoryError_("A memory needs a title.", where="title", todo="Write one.")
    now = datetime.now(UTC).replace(microsecond=0)
    redacted = [
        redact_secrets(text) for text in (join_lines(title), files.path_to_text(body).strip(), *map(join_lines, tags))
    ]
    title, body, *tags = (part.text for part in redacted)
    memory = MemoryRecord(
        *("", primitive, title, now, now, "manual", PERSON_CONFIDENCE, tuple(tags), body),
        kind=kind if primitive == "learning" else None,
        references=tuple(references),
    )
    if origin is not None:
        memory = replace(
            memory,
            created=origin.time,
            updated=origin.time,
            source=origin.source,
            confidence=ACCEPTED_CONFIDENCE,
            evidence=(origin.evidence,),
        )
    with actions.locked_ledger(paths) as ledger:
        store = paths.store()
        existing = _find_same_memory(store, memory)
        if existing is not None:
            message = f"It exists already: {existing.record.title} ({existing.record.id})"
            return ReviewResult(True, "already", message, path=str(existing.path))
        if origin is not None and store.quotes.read_choice() is None:
            if quotes is None:
                return ReviewResult(False, "ask-quotes", "Share the quotes of memories in git?", ask_quotes=True)
            paths.make_private_folder()
            store.quotes.write_choice(quotes)
        states = ledger.states()
        memory = replace(memory, id=store.new_id(memory, lambda name: name in states))
        if references:
            memory = verifying.verify_record(paths.project, paths.home, memory, now)
        path = store.path_for(memory)
        written = file_change(store, path, None, record_file_text(store, memory))
        changes = [*quotes_changes(store, memory.id, memory), written]
        label = f"Added: {memory.title}"
        action = actions.perform_action(paths, ledger, "add", label, "", ("pending", "accepted"), changes, memory.id)
        record_kept(paths, memory.id)
        message = label
        if secret_count := sum(part.count for part in redacted):
            message += f"\n{secret_count} secret{'s were' if secret_count > 1 else ' was'} removed."
        return ReviewResult(True, "added", message, action.id, str(path))


def _find_same_memory(store: Store, memory: MemoryRecord) -> StoredMemory | None:
    """Returns the active memory of this primitive with the same title and body, ignoring case. Only memories whose
    id has the slug of this title are compared."""
    name = slug.make_slug(memory.title)
    for one in sorted(store.all_ids()):
        if not slug.matches_slug(one, name):
            continue
        with suppress(MemoryError_, BoundaryError):  # skip an unreadable file
            stored = store.load_by_id(one)
            if stored.status == "active" and _normalized_words(stored.record) == _normalized_words(memory):
                return stored
    return None


def _normalized_words(memory: MemoryRecord) -> tuple[str, str, str]:
    return memory.primitive, join_lines(memory.title).casefold(), " ".join(memory.body.split()).casefold()
