"""Two texts of one memory, from two branches or in two folders, made one: what each says is kept, the later wins."""

from __future__ import annotations

import re
from pathlib import Path

from lerim.errors import MemoryError_
from lerim.memory.header import load_header, split_header
from lerim.memory.lines import Value
from lerim.memory.merge_text import merge_bodies
from lerim.memory.quotes import merge_evidence
from lerim.memory.record import HEADER_KEYS, MemoryRecord, evidence_values, parse_record, update_record_text

_KEY = re.compile(r"([^\s#:\-][^:]*):(?:\s|\Z)")


def is_later(one: MemoryRecord, other: MemoryRecord) -> bool:
    """Whether the other was changed after this one, and so wins where they contradict each other."""
    return (other.updated, other.created) > (one.updated, one.created)


def merge_file_texts(one: str, other: str, path: Path) -> str:
    """One file's text for both: the later's words, and after them every sentence it does not say again; tags, places,
    evidence, links and keys of the person's own of both. Every line of the later's header that need not change stays.

    Raises MemoryError_ where one of them is no memory, or has a header that cannot be changed line by line.
    """
    first, second = parse_record(one, path), parse_record(other, path)
    if is_later(first, second):
        one, other, first, second = other, one, second, first
    body = second.body if first.title == second.title else f"{second.title}\n\n{second.body}"
    changes: dict[str, Value] = {
        "created": min(first.created, second.created),
        "tags": _both(first.tags, second.tags),
        "kind": first.kind or second.kind,
        "references": _both(first.references, second.references),
        "evidence": evidence_values(merge_evidence(first.evidence, second.evidence)),
        "verified": first.verified or second.verified,
        "supersedes": _both(first.supersedes, second.supersedes),
        "resolves": _both(first.resolves, second.resolves),
        "superseded_by": first.superseded_by or second.superseded_by,
        "resolved_by": first.resolved_by or second.resolved_by,
        "related": _both(first.related, second.related),
    }
    text = (
        merge_bodies(body, first.title, first.body)
        if first.body != second.body or first.title != second.title
        else None
    )
    wanted: dict[str, Value] = {key: value for key, value in changes.items() if value}
    if first.primitive != "learning":  # the folder of this file says what it is
        wanted["kind"] = None
    return _with_own_keys(update_record_text(one, wanted, text, str(path)), other, path)


def _both(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _with_own_keys(text: str, other: str, path: Path) -> str:
    """The text with the lines of the other's keys that are no keys of ours and that it lacks."""
    parts, others = split_header(text), split_header(other)
    assert parts is not None and others is not None
    head = text[parts.start : parts.end]
    known = load_header(head, str(path))
    found = load_header(other[others.start : others.end], str(path))
    lines: list[str] = []
    key = ""
    for line in other[others.start : others.end].splitlines():
        begun = _KEY.match(line)
        key = begun[1].strip().strip("\"'") if begun else key
        if key in found and key not in known and key not in HEADER_KEYS:
            lines.append(line + parts.newline)
    if head and not head.endswith("\n"):
        head += parts.newline
    wanted = {**found, **known}
    merged = head + "".join(lines)
    if load_header(merged, str(path)) != {key: wanted[key] for key in wanted if key in known or key not in HEADER_KEYS}:
        todo = "Resolve the conflict by hand."
        raise MemoryError_("The keys of both sides cannot be merged.", where=str(path), todo=todo)
    return text[: parts.start] + merged + text[parts.end :]
