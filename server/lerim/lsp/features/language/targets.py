"""What the values of a memory file name: memories, files, symbols and turns, each with its place in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lerim.lsp.features.language.memory_texts import MemoryText
from lerim.memory import Reference, TextSpan, Value, parse_reference, source_parts

LINK_KEYS = frozenset(("supersedes", "resolves", "superseded_by", "resolved_by", "related"))
ID_KEYS = LINK_KEYS | {"id", "targets"}
"""The keys whose values are ids of memories; `targets` is a candidate's and has a hash after each id."""


@dataclass(frozen=True, slots=True)
class IdTarget:
    """A memory's id; `key` is the field that names it."""

    id: str
    key: str
    span: TextSpan


@dataclass(frozen=True, slots=True)
class PathTarget:
    """A file of the repository, without the symbol that may follow it."""

    path: str
    span: TextSpan


@dataclass(frozen=True, slots=True)
class SymbolTarget:
    """A symbol of a file, without the path before it."""

    reference: Reference
    span: TextSpan


@dataclass(frozen=True, slots=True)
class TurnTarget:
    """A session and, unless it is "", one of its turns."""

    session: str
    turn: str
    span: TextSpan


Target = IdTarget | PathTarget | SymbolTarget | TurnTarget


def find_targets(text: MemoryText) -> Iterator[Target]:
    """Yields everything that the frontmatter names, in the order of the text."""
    session = source_parts(source.text)[1] if (source := text.document.field("source")) is not None else ""
    for field in text.document.fields:
        for value in text.document.split_field(field):
            if value.key in ID_KEYS:
                yield _id_target(text, value)
            elif value.key == "references":
                yield from _place_targets(text, value)
            elif value.key == "source" and session:
                yield TurnTarget(session, source_parts(value.text)[2], value.span)
            elif value.key == "evidence.turn" and session:
                yield TurnTarget(session, value.text, value.span)


def find_target_at(text: MemoryText, line: int, character: int) -> Target | None:
    """Returns what the value at this place names; None if it names nothing."""
    return next((one for one in find_targets(text) if one.span.contains(line, character)), None)


def _id_target(text: MemoryText, value: Value) -> IdTarget:
    name = value.text.partition("@")[0] if value.key == "targets" else value.text
    is_plain = text.part(value.span) == value.text
    return IdTarget(name, value.key, _part_span(value.span, 0, len(name)) if is_plain else value.span)


def _place_targets(text: MemoryText, value: Value) -> Iterator[Target]:
    reference = parse_reference(value.text)
    if reference is None:
        return
    sign = value.text.find("#")
    if not reference.symbol or sign < 0 or text.part(value.span) != value.text:
        yield PathTarget(reference.path, value.span)
        return
    yield PathTarget(reference.path, _part_span(value.span, 0, sign))
    yield SymbolTarget(reference, _part_span(value.span, sign + 1, len(value.text)))


def _part_span(span: TextSpan, start: int, end: int) -> TextSpan:
    """Returns the part of a span on one line, by offsets from its start."""
    first = span.start_character
    return replace(span, start_character=first + start, end_character=first + end)
