"""Checks one memory or candidate file, given as text. The check is quick enough to run while the file is edited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lerim.check.context import CheckContext
from lerim.check.findings import Finding
from lerim.check.header_rules import check_header, check_links, value_span
from lerim.check.reference_rules import check_reference_values
from lerim.memory import DocumentKind, MemoryDocument, split_conflict, text_span
from lerim.redaction import redact_secrets


def check_document(document: MemoryDocument, path: Path, kind: DocumentKind, context: CheckContext) -> list[Finding]:
    """Returns the findings in a document, in the order of its lines.

    `path` need not exist. An archived memory is about the past, so neither its references nor contradictions with
    rules files are checked.
    """
    found = [*_check_secrets(document, path)]
    if split_conflict(document.text) is not None:
        found.append(_make_conflict_finding(document, path))
    else:
        found += check_header(document, path, kind)
        found += check_links(document, path, kind, context)
        if "archived" not in path.parts[-4:]:
            found += check_reference_values(document, path, context)
            found += _check_against_rules_files(document, path, context)
            if kind == "memory":
                found += _check_same_claims(document, path, context)
    return sorted(found, key=lambda one: (one.span.start_line, one.span.start_character))


def _make_conflict_finding(document: MemoryDocument, path: Path) -> Finding:
    start = document.text.index("<<<<<<<")
    end = document.text.find("\n", start)
    todo = f"Merge them in the Memories view, with `lerim memory merge {path.stem}`, or by hand."
    message = f"Two branches changed this memory, and git left both sides in it. {todo}"
    span = text_span(document.text, start, end if end >= 0 else len(document.text))
    return Finding("memory-conflict", message, str(path), span)


def _check_secrets(document: MemoryDocument, path: Path) -> Iterator[Finding]:
    for secret in redact_secrets(document.text).spans:
        message = (
            f"This looks like a secret ({secret.kind}). Remove it; if it was committed, replace it where it is used."
        )
        yield Finding(
            "secret",
            message,
            str(path),
            text_span(document.text, secret.start, secret.end),
            (f"[redacted:{secret.kind}]",),
        )


def _check_against_rules_files(document: MemoryDocument, path: Path, context: CheckContext) -> Iterator[Finding]:
    if context.rules_files is None:
        return
    title = document.field("title")
    line = context.rules_files.find_contradiction(f"{title.text if title else ''}\n{_body_of(document)}")
    if line is not None:
        said = " ".join(redact_secrets(line.text).text.split())[:200]
        message = f"{line.path}, line {line.line}, says the opposite: “{said}”"
        yield Finding("contradiction", message, str(path), value_span(title))


def _check_same_claims(document: MemoryDocument, path: Path, context: CheckContext) -> Iterator[Finding]:
    title = document.field("title")
    same = context.list_same_claims(path, title.text, _body_of(document)) if title is not None else []
    if same:
        others = f"{same[0].id} says" if len(same) == 1 else f"{len(same)} memories, such as {same[0].id}, say"
        message = f"{others} the same. Merge them with `lerim memory merge {path.stem}`, or archive one."
        yield Finding("same-memory", message, str(path), value_span(title))


def _body_of(document: MemoryDocument) -> str:
    lines = document.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(lines[document.body.start_line :])
