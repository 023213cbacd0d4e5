"""Memories as the command line prints them and the editor shows them: plain structs in snake_case."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from lerim.memory.record import Evidence, MemoryRecord, Primitive, Scope
from lerim.memory.reference import DriftState
from lerim.memory.store import StoredMemory
from lerim.times import format_utc


class MemoryView(msgspec.Struct, frozen=True):
    """A memory. `handle` is an opaque name for its file; `session` and `platform` are "" for a memory written by hand,
    which has the `source` `manual`. `drift` says whether its references drifted or are gone, if that was checked."""

    id: str
    handle: str
    primitive: Primitive
    kind: str | None
    title: str
    body: str
    confidence: float
    created: str
    updated: str
    tags: list[str]
    references: list[str]
    evidence: list[Evidence]
    session: str
    platform: str
    path: str
    status: str
    scope: Scope
    source: str
    drift: Literal["", "drifted", "gone"] = ""


@lru_cache(maxsize=128)  # hovers show the same few again and again
def redact_record(record: MemoryRecord) -> MemoryRecord:
    """Returns the memory without secrets that someone wrote into its file (the file stays as it is)."""
    from lerim.redaction import redact_secrets  # imported late: needed for display, not at startup

    def cut(text: str) -> str:
        return redact_secrets(text).text

    return replace(
        record,
        title=cut(record.title),
        body=cut(record.body),
        tags=tuple(cut(tag) for tag in record.tags),
        references=tuple(cut(reference) for reference in record.references),
        evidence=tuple(replace(item, quote=cut(item.quote)) for item in record.evidence),
    )


def memory_view(stored: StoredMemory, scope: Scope = "project", drift: DriftState = "unknown") -> MemoryView:
    """Returns a stored memory for display, without secrets. Of its drift, only what is wrong is shown."""
    record = redact_record(stored.record)
    platform, session, _ = source_parts(record.source)
    return MemoryView(
        id=record.id,
        handle=file_handle(stored.path),
        primitive=record.primitive,
        kind=record.kind if record.primitive == "learning" else None,
        title=record.title,
        body=record.body,
        confidence=record.confidence,
        created=format_utc(record.created),
        updated=format_utc(record.updated),
        tags=list(record.tags),
        references=list(record.references),
        evidence=list(record.evidence),
        session=session,
        platform=platform,
        path=str(stored.path),
        status=stored.status,
        scope=scope,
        source=record.source,
        drift=drift if drift == "drifted" or drift == "gone" else "",
    )


def source_parts(source: str) -> tuple[str, str, str]:
    """Returns (platform, session id, turn id) of a record's source; all empty for a memory written by hand."""
    platform, colon, rest = source.partition(":")
    session, _, turn = rest.rpartition("#")
    return (platform, session or turn, turn if session else "") if colon else ("", "", "")


def file_handle(path: Path) -> str:
    """Returns the opaque name of a memory's file: 16 hex digits, stable as long as the path is."""
    return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
