"""Checks the header of a document: whether it can be read, its keys and values, and its links to other memories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import get_args

from lerim import files
from lerim.check.context import CheckContext
from lerim.check.findings import Finding
from lerim.errors import MemoryError_
from lerim.memory import (
    HEADER_KEYS,
    KINDS,
    DocumentKind,
    Field,
    HeaderFault,
    MemoryDocument,
    Primitive,
    TextSpan,
    Value,
    examine_values,
)

CANDIDATE_KEYS = (
    *("primitive", "action", "targets", "reason", "maker", "session", "platform", "time", "signal", "replaces"),
    *("flags", "status", "undecided", "asked"),
)
"""The keys that occur only in the files of candidates."""
FIRST_LINE = TextSpan(0, 0, 0, 3)

LINK_KEYS = ("supersedes", "resolves", "superseded_by", "resolved_by", "related")
ENDING_KEYS = ("supersedes", "resolves")
MAX_STEPS = 200
"""Maximum number of memories that are read to find a circle of links."""


def check_header(document: MemoryDocument, path: Path, kind: DocumentKind) -> Iterator[Finding]:
    """Yields the findings in the header of a document, which must not have conflict markers."""
    if document.problems:
        yield from (Finding("memory-unreadable", one.message, str(path), one.span) for one in document.problems)
        return
    yield from _check_keys(document, path, (*HEADER_KEYS, *(CANDIDATE_KEYS if kind == "candidate" else ())))
    field = document.field("primitive") if kind == "candidate" else None
    primitive = next((one for one in get_args(Primitive) if field and field.text == one), None)
    if kind == "candidate" and primitive is None:
        message = f"The candidate's primitive is not one of {', '.join(get_args(Primitive))}."
        yield Finding("memory-unreadable", message, str(path), value_span(field), get_args(Primitive) if field else ())
        return
    try:
        record, faults = examine_values(document.text, path, primitive)
    except MemoryError_ as error:
        yield Finding("memory-unreadable", error.explanation, str(path), FIRST_LINE)
        return
    for fault in faults:
        yield _make_value_finding(document, path, fault, record.primitive)


def _check_keys(document: MemoryDocument, path: Path, known: Collection[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for field in document.fields:
        if field.key in seen:
            message = f"`{field.key}` occurs twice; only this value counts. Remove one of them."
            yield Finding("repeated-key", message, str(path), field.key_span)
        seen.add(field.key)
        if field.key not in known:
            near = tuple(get_close_matches(field.key, known, 2, 0.75))
            meant = f" Did you mean `{near[0]}`?" if near else ""
            message = f"Lerim does not know the key `{field.key}`, and keeps it.{meant}"
            yield Finding("unknown-key", message, str(path), field.key_span, near)


def _make_value_finding(document: MemoryDocument, path: Path, fault: HeaderFault, primitive: Primitive) -> Finding:
    field = document.field(fault.key)
    span = _fault_span(document, field, fault)
    if field is None or fault.key not in ("id", "kind"):
        return Finding("memory-value", fault.message, str(path), span)
    if fault.key == "id":
        return Finding("memory-value", fault.message, str(path), span, (path.stem,))
    if primitive != "learning":
        return Finding("memory-value", fault.message, str(path), span)
    near = get_close_matches(field.text, KINDS, 1, 0.5)
    message = (
        f"{fault.message} To make it a decision or a question, run Lerim: Change Memory Kind or `lerim memory kind`."
    )
    return Finding("unknown-kind", message, str(path), span, tuple(dict.fromkeys((*near, *KINDS))))


def _fault_span(document: MemoryDocument, field: Field | None, fault: HeaderFault) -> TextSpan:
    """Returns the position of a fault: the wrong reference, the item of a list that is not text, or the whole value."""
    wrong: Iterable[Value] = ()
    if fault.item is not None:
        wrong = (value for value in document.items(fault.key) if value.text == fault.item)
    elif field is not None and fault.key == "references":
        wrong = (value for value in field.values if value.key != fault.key)
    return next((value.span for value in wrong), value_span(field))


def value_span(field: Field | None) -> TextSpan:
    """Returns the position of a key's value, or the first line if the key is missing."""
    return FIRST_LINE if field is None else field.values[0].span if len(field.values) == 1 else field.key_span


def check_links(document: MemoryDocument, path: Path, kind: DocumentKind, context: CheckContext) -> Iterator[Finding]:
    """Yields a finding for each link that leads nowhere or in a circle, and for other files that have this
    document's id."""
    if kind == "memory":
        yield from _check_id(document, path, context)
    for key in LINK_KEYS:
        for value in document.items(key):
            if not context.paths_of(value.text):
                message = f"There is no memory {value.text[:80]!r}."
                yield Finding("unknown-memory", message, str(path), value.span)
            elif key in ENDING_KEYS and _leads_back(value.text, path.stem, context):
                verb = "replaces" if key == "supersedes" else "resolves"
                message = f"This memory {verb} {value.text}, which in turn ends this one. Remove one of the links."
                yield Finding("link-circle", message, str(path), value.span)


def _check_id(document: MemoryDocument, path: Path, context: CheckContext) -> Iterator[Finding]:
    others = [other for other in context.paths_of(path.stem) if other != path]
    if not others or files.is_absent(path):
        return  # an open document whose file moved is not a second file
    place = " and ".join(f"{other.parent.name}/{other.name}" for other in others)
    message = f"{place} has the same id. Merge them with `lerim memory merge {path.stem}`, or rename one."
    yield Finding("memory-twice", message, str(path), value_span(document.field("id")))


def _leads_back(start: str, goal: str, context: CheckContext) -> bool:
    """Returns whether the chain of memories that `start` ends, that these end, and so on, leads to `goal`."""
    seen: set[str] = set()
    waiting = [start]
    while waiting and len(seen) < MAX_STEPS:
        here = waiting.pop()
        if here == goal:
            return True
        if here not in seen:
            seen.add(here)
            waiting += context.load_ends(here)
    return False
