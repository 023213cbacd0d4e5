"""Checks the links of a document to other memories, and whether no other memory has its id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lerim.check.context import CheckContext
from lerim.check.findings import Finding
from lerim.check.header_rules import FIRST_LINE
from lerim.memory import DocumentKind, MemoryDocument

LINK_KEYS = ("supersedes", "resolves", "superseded_by", "resolved_by", "related")
ENDING_KEYS = ("supersedes", "resolves")
MAX_STEPS = 200
"""Memories that are read to find a circle."""


def check_links(document: MemoryDocument, path: Path, kind: DocumentKind, context: CheckContext) -> Iterator[Finding]:
    """Yields links that lead nowhere or in a circle, and the other files that have this document's id."""
    if kind == "memory":
        yield from _check_id(document, path, context)
    for key in LINK_KEYS:
        for value in document.values(key):
            if not context.paths_of(value.text):
                message = f"There is no memory {value.text[:80]!r}."
                yield Finding("unknown-memory", message, str(path), value.span)
            elif key in ENDING_KEYS and _leads_back(value.text, path.stem, context):
                verb = "replaces" if key == "supersedes" else "resolves"
                message = f"This memory {verb} {value.text}, which in turn ends this one. Remove one of the links."
                yield Finding("link-circle", message, str(path), value.span)


def _check_id(document: MemoryDocument, path: Path, context: CheckContext) -> Iterator[Finding]:
    others = [other for other in context.paths_of(path.stem) if other != path]
    if not others:
        return
    field = document.field("id")
    place = " and ".join(f"{other.parent.name}/{other.name}" for other in others)
    message = f"{place} has the same id. Merge them with `lerim memory merge {path.stem}`, or rename one."
    yield Finding("memory-twice", message, str(path), field.values[0].span if field and field.values else FIRST_LINE)


def _leads_back(start: str, goal: str, context: CheckContext) -> bool:
    """Whether `goal` is reached by following what `start` ends, what that ends, and so on."""
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
