"""What the command line prints and the editor shows of a memory: plain structs, snake_case."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from lerim.memory.lines import format_time
from lerim.memory.record import Evidence, MemoryRecord, Primitive, Scope, Speaker
from lerim.memory.store import Stored


class EvidenceView(msgspec.Struct, frozen=True):
    """A quote ("" where it is kept elsewhere), the turn it stands in and who said it."""

    quote: str
    turn: str
    who: Speaker


class MemoryView(msgspec.Struct, frozen=True):
    """A memory. `handle` is opaque and names its file; `session` and `platform` are "" for one made by hand,
    whose `source` is `manual`. `standing` is whether what it refers to changed or is gone, where that was looked at."""

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
    evidence: list[EvidenceView]
    session: str
    platform: str
    path: str
    status: str
    scope: Scope
    source: str
    standing: Literal["", "drifted", "gone"] = ""


@lru_cache(maxsize=128)  # hovers show the same few again and again
def redact_record(record: MemoryRecord) -> MemoryRecord:
    """The memory without the secrets someone wrote into its file (which stays as it is)."""
    from lerim.redaction import redact_secrets  # its patterns are for what is shown, not for what is started

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


def memory_view(stored: Stored, scope: Scope = "project") -> MemoryView:
    """A stored memory as it is shown, without secrets."""
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
        created=format_time(record.created),
        updated=format_time(record.updated),
        tags=list(record.tags),
        references=list(record.references),
        evidence=evidence_views(record.evidence),
        session=session,
        platform=platform,
        path=str(stored.path),
        status=stored.status,
        scope=scope,
        source=record.source,
    )


def evidence_views(evidence: Iterable[Evidence]) -> list[EvidenceView]:
    """Evidence as it is shown."""
    return [EvidenceView(item.quote, item.turn, item.who) for item in evidence]


def source_parts(source: str) -> tuple[str, str, str]:
    """(platform, session id, turn id) of a record's source; empty for one made by hand."""
    platform, colon, rest = source.partition(":")
    session, _, turn = rest.rpartition("#")
    return (platform, session or turn, turn if session else "") if colon else ("", "", "")


def file_handle(path: Path) -> str:
    """The opaque name of a memory's file: 16 hex digits, the same for as long as the file has this path."""
    return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
