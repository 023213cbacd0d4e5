"""Merges memories that have different ids and say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lerim.errors import MemoryError_
from lerim.memory import (
    MemoryRecord,
    Store,
    StoredMemory,
    claim_text,
    inherit_baselines,
    load_all,
    merge_evidence,
    with_current_status,
)
from lerim.review.accepting import rewrite_effects
from lerim.review.ledger import FileChange
from lerim.review.review_paths import ReviewPaths


def plan_duplicate_merge(
    paths: ReviewPaths, store: Store, path: Path, *, preview: bool
) -> tuple[list[FileChange], Path]:
    """Returns the changes that merge the memory in `path` with all active memories of its primitive that have the same
    title and text, apart from differences in form, and the path of the file that remains, whose change comes first.

    The oldest memory keeps its id and wording, and gets the tags, references and evidence of all. The others are
    archived as superseded by it. Without `preview`, the recorded states of the code that the others are about become
    those of the oldest one. Raises MemoryError_ if no other memory says the same.
    """
    kept, *others = _find_same_claims(paths, store, path)
    merged = _join_records([kept.record, *(stored.record for stored in others)])

    def verify(memory: MemoryRecord, sources: Sequence[MemoryRecord]) -> MemoryRecord:
        return memory if preview else inherit_baselines(paths.project, paths.home, memory, sources)

    *ended, rewritten = rewrite_effects(store, merged, kept, others, verify).changes
    return [rewritten, *ended], kept.path


def _find_same_claims(paths: ReviewPaths, store: Store, path: Path) -> list[StoredMemory]:
    """Returns the memories to merge, oldest first; at least two."""
    memories, _ = load_all(paths.project, paths.home, store)
    file_counts = Counter(stored.record.id for stored in memories)
    active = [
        one for one in with_current_status(memories) if one.status == "active" and file_counts[one.record.id] == 1
    ]
    own = next((one.record for one in active if one.path == path), None)
    if own is not None:
        claim = claim_text(own.title, own.body)
        found = [
            one
            for one in active
            if one.record.primitive == own.primitive and claim_text(one.record.title, one.record.body) == claim
        ]
        if len(found) > 1:
            return sorted(found, key=lambda one: (one.record.created, one.record.id))
    message = "Only one file has this id, git left no conflict in it, and no other memory says the same."
    raise MemoryError_(message, where=str(path), todo="There is nothing to merge.")


def _join_records(records: Sequence[MemoryRecord]) -> MemoryRecord:
    joined, *others = records
    for other in others:
        joined = replace(
            joined,
            updated=max(joined.updated, other.updated),
            confidence=max(joined.confidence, other.confidence),
            kind=joined.kind or other.kind,
            tags=tuple(dict.fromkeys((*joined.tags, *other.tags))),
            references=tuple(dict.fromkeys((*joined.references, *other.references))),
            evidence=merge_evidence(other.evidence, joined.evidence),
        )
    return joined
