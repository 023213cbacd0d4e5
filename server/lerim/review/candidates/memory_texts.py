"""Computes the new texts of memory files for an accepted proposal. No function here writes a file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from lerim.files import hash_text
from lerim.memory import (
    Evidence,
    HeaderValue,
    MemoryRecord,
    Quotes,
    Store,
    evidence_values,
    merge_bodies,
    merge_evidence,
    parse_record,
    record,
    strip_quotes,
    without_quotes,
)
from lerim.redaction import redact_secrets

ACCEPTED_CONFIDENCE = 0.9
"""The minimum confidence of a memory that a person accepted. A candidate's confidence says how likely it is worth
keeping, and the person has now decided that. It is below `candidates.PERSON_CONFIDENCE` because they did not write the
words."""


def accepted_record(memory: MemoryRecord) -> MemoryRecord:
    """Returns the memory as it is saved when a person accepts it: with a confidence of at least
    `ACCEPTED_CONFIDENCE`."""
    return replace(memory, confidence=max(memory.confidence, ACCEPTED_CONFIDENCE))


def updated_text(
    new: MemoryRecord,
    before: str,
    path: Path,
    store: Store,
    ended: Sequence[MemoryRecord] = (),
    *,
    overwrite_body: bool = False,
) -> str:
    """Returns a memory file's text after an update: with the words of `new` and the tags, references and evidence of
    both.

    The old body is merged into the new one: its sentences, and the old title, stay unless the new record repeats
    them (`memory/claims/merge_text.py`). With `overwrite_body`, the new body replaces the old one. `ended` are
    memories that the update ends; the new text links to them. Raises MemoryError_.
    """
    old = parse_record(before, path)
    written_by_lerim = store.written_by_lerim(old.id, hash_text(before))
    changes: dict[str, HeaderValue] = {
        "title": new.title,
        "updated": max(new.updated, old.updated),
        "source": new.source if new.updated >= old.updated else old.source,
        "confidence": max(new.confidence, old.confidence),
        "tags": _join_unique(old.tags, new.tags),
        "kind": new.kind or old.kind,
        "references": _join_unique(old.references, new.references),
        "evidence": evidence_values(_merged_evidence(new.evidence, old, store.quotes)),
        **_ended_links(old, ended),
    }
    body = without_quotes(new.body) if store.quotes.read_choice() == "local" else new.body
    if not overwrite_body:
        body = merge_bodies(f"{old.title}\n\n{old.body}", new.title, body, written_by_lerim)
    return record.update_record_text(before, {key: value for key, value in changes.items() if value}, body, str(path))


def linked_text(before: str, path: Path, ended: Iterable[MemoryRecord]) -> str:
    """Returns a memory file's text with links to the memories it ended, otherwise unchanged. Raises MemoryError_."""
    return record.update_record_text(before, _ended_links(parse_record(before, path), ended), where=str(path))


def ended_text(before: str, path: Path, old: MemoryRecord, heir_id: str, heir: MemoryRecord) -> str:
    """Returns the text of an ended memory's file, with a link to the memory `heir`, which will have the id
    `heir_id`. Raises MemoryError_."""
    return record.update_record_text(
        before, {"resolved_by" if is_answered(old, heir) else "superseded_by": heir_id}, where=str(path)
    )


def text_with_references(before: str, path: Path, references: Sequence[str]) -> str:
    """Returns a memory file's text with other references, otherwise unchanged. Raises MemoryError_."""
    return record.update_record_text(before, {"references": tuple(references) or None}, where=str(path))


def ended_ids(new: MemoryRecord, ended: Iterable[MemoryRecord]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the ids that a memory supersedes and the ids that it resolves, including these `ended` memories."""
    ended = tuple(ended)
    supersedes = _join_unique(new.supersedes, (one.id for one in ended if not is_answered(one, new)))
    return supersedes, _join_unique(new.resolves, (one.id for one in ended if is_answered(one, new)))


def is_answered(old: MemoryRecord, by: MemoryRecord) -> bool:
    """Returns whether the memory `old`, which the memory `by` ended, is a question that was answered. Otherwise it
    was replaced."""
    return old.primitive == "question" and by.primitive != "question"


def redacted_diff(before: str, after: str, name: str) -> str:
    """Returns the change of a file as a unified diff without secrets, for display."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="")
    return redact_secrets("\n".join(lines)).text


def _ended_links(old: MemoryRecord, ended: Iterable[MemoryRecord]) -> dict[str, HeaderValue]:
    supersedes, resolves = ended_ids(old, ended)
    return {key: value for key, value in (("supersedes", supersedes), ("resolves", resolves)) if value}


def _merged_evidence(new: tuple[Evidence, ...], old: MemoryRecord, quotes: Quotes) -> tuple[Evidence, ...]:
    """Returns the merged evidence in the form in which it is written to the file. Duplicates are recognised by their
    quotes, including the quotes in the private folder."""
    old_evidence = quotes.join_quotes(old)[0].evidence[: len(old.evidence)]
    file_evidence = dict(zip(old_evidence, old.evidence, strict=True))
    if quotes.read_choice() == "local":
        file_evidence = {**dict(zip(new, strip_quotes(new), strict=True)), **file_evidence}
    else:
        file_evidence |= dict(zip(new, new, strict=True))
    return tuple(file_evidence[item] for item in merge_evidence(new, old_evidence))


def _join_unique(*parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for part in parts for item in part))
