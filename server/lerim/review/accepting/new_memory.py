"""Adding a memory that a person writes by hand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lerim import files
from lerim.errors import MemoryError_
from lerim.memory import (
    Evidence,
    LearningKind,
    MemoryRecord,
    Primitive,
    QuoteChoice,
    Store,
    StoredMemory,
    slug,
)
from lerim.redaction import redact_secrets
from lerim.review import actions
from lerim.review.accepting.accept import record_kept, verify_references
from lerim.review.accepting.effects import quotes_changes, record_file_text
from lerim.review.candidates import ACCEPTED_CONFIDENCE, PERSON_CONFIDENCE, join_lines
from lerim.review.ledger import FileChange
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


@dataclass(frozen=True, slots=True)
class SessionOrigin:
    """The words of a session that a person made a memory of. `source` is `<platform>:<session>#<turn>`, `time` when
    they were said."""

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
    confidence: float = PERSON_CONFIDENCE,
    origin: SessionOrigin | None = None,
    quotes: QuoteChoice | None = None,
) -> ReviewResult:
    """Save a memory that a person wrote by hand, without secrets; this can be undone. If an active memory has the same
    words, nothing is written and the result has the code "already".

    With `origin` it is as if a candidate from these words had been accepted: they are its evidence, its confidence is
    that of accepted candidates, and the first time in a project the result only has `ask_quotes`, unless `quotes` is
    given. Raises MemoryError_.
    """
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
        if origin is not None:
            known = store.quotes.read_choice()
            if known is None and quotes is None:
                return ReviewResult(False, "ask-quotes", "Share the quotes of memories in git?", ask_quotes=True)
            if known is None and quotes is not None:
                paths.make_private_folder()
                store.quotes.write_choice(quotes)
        states = ledger.states()
        memory = replace(memory, id=store.new_id(memory, lambda name: name in states))
        if references:
            memory = verify_references(paths, now, memory)
        path = store.path_for(memory)
        text = record_file_text(store, memory)
        changes = [
            *quotes_changes(store, memory.id, memory),
            FileChange("memory", str(store.anchor), str(path), None, text),
        ]
        label = f"Added: {memory.title}"
        action = actions.perform_action(paths, ledger, "add", label, "", ("pending", "accepted"), changes, memory.id)
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
