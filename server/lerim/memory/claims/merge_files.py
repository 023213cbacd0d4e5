"""Merges two texts of one memory, from two branches or folders: keeps what each says, and lets the later one win."""

from __future__ import annotations

import re
from pathlib import Path

from lerim.errors import MemoryError_
from lerim.memory.claims.merge_text import merge_bodies
from lerim.memory.header import load_header, split_header
from lerim.memory.header_lines import HeaderValue
from lerim.memory.quotes import merge_evidence
from lerim.memory.record import HEADER_KEYS, MemoryRecord, evidence_values, parse_record, update_record_text

_KEY = re.compile(r"([^\s#:\-][^:]*):(?:\s|\Z)")


def is_older(one: MemoryRecord, other: MemoryRecord) -> bool:
    """Returns whether `one` was changed before `other`, so that `other` wins where they contradict each other."""
    return (other.updated, other.created) > (one.updated, one.created)


def merge_file_texts(one: str, other: str, path: Path) -> str:
    """Returns one memory file merged from two: the later body followed by the sentences only the earlier one has, and
    the tags, references, evidence, links and custom header keys of both. Header lines of the later file stay unless
    they must change.

    Raises MemoryError_ if a text is not a memory, or if its header cannot be changed line by line.
    """
    first, second = parse_record(one, path), parse_record(other, path)
    if is_older(first, second):
        one, other, first, second = other, one, second, first
    body = second.body if first.title == second.title else f"{second.title}\n\n{second.body}"
    changes: dict[str, HeaderValue] = {
        "created": min(first.created, second.created),
        "tags": _union(first.tags, second.tags),
        "kind": first.kind or second.kind,
        "references": _union(first.references, second.references),
        "evidence": evidence_values(merge_evidence(first.evidence, second.evidence)),
        "verified": first.verified or second.verified,
        "supersedes": _union(first.supersedes, second.supersedes),
        "resolves": _union(first.resolves, second.resolves),
        "superseded_by": first.superseded_by or second.superseded_by,
        "resolved_by": first.resolved_by or second.resolved_by,
        "related": _union(first.related, second.related),
    }
    text = (
        merge_bodies(body, first.title, first.body)
        if first.body != second.body or first.title != second.title
        else None
    )
    wanted: dict[str, HeaderValue] = {key: value for key, value in changes.items() if value}
    if first.primitive != "learning":  # the file stays in its folder, and only learnings have a kind
        wanted["kind"] = None
    return _add_custom_keys(update_record_text(one, wanted, text, str(path)), other, path)


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _add_custom_keys(text: str, other: str, path: Path) -> str:
    """Returns the text with the header lines of `other` added for custom keys that the text lacks."""
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
