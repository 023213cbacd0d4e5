"""Checks the references of a document: whether the files and symbols that they name exist, and how these have
changed since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from lerim.check.context import CheckContext
from lerim.check.findings import Finding
from lerim.memory import (
    MemoryDocument,
    Reference,
    TextSpan,
    Value,
    can_be_written,
    describe_missing,
    find_defining_places,
    is_missing,
    list_meanings,
    parse_reference,
    reference_text,
    searched_word,
)

MAX_REPLACEMENTS = 5
MAX_NAMES = 2_000
_NO_SYMBOL_ENDINGS = (
    ".md .markdown .mdx .rst .txt .adoc .json .jsonc .yaml .yml .toml .ini .cfg .env .lock .csv .xml .html .css"
)
_NO_SYMBOLS = frozenset(_NO_SYMBOL_ENDINGS.split())
"""Endings of files without definitions. In a reference to such a file, the part after `#` may be a heading or a key."""


def check_reference_values(document: MemoryDocument, path: Path, context: CheckContext) -> Iterator[Finding]:
    """Yields a finding for each reference that names nothing or several things, or whose target was moved or has
    changed."""
    if context.project.is_personal:
        return
    moves = context.moves.get(path.stem, {})
    drift = context.drifts.get(path.stem)
    for value in document.items("references"):
        if value.span.start_line != value.span.end_line:
            yield _make_continued_finding(path, value)
            continue
        reference = parse_reference(value.text)
        if reference is None:
            continue  # a fault of the value, which the header's check reports
        written = reference_text(reference)
        moved_to = moves.get(written) or (drift.moved_to if drift and drift.reference == written else "")
        found = _check_reference(path, value, reference, moved_to, context)
        if found is not None:
            yield found
        elif drift is not None and drift.state == "drifted" and drift.reference == written:
            said = drift.detail[:200] or f"{written} changed"
            message = (
                f"{said} since this memory was verified. Check it, then mark it as still true, change or archive it."
            )
            yield Finding("drifted", message, str(path), value.span)


def _make_continued_finding(path: Path, value: Value) -> Finding:
    """Returns the finding for a reference to which YAML adds the next lines, because of their indentation."""
    message = "YAML reads this line as part of the reference above. Indent both lines alike, and begin each with `- `."
    span = TextSpan(value.span.start_line + 1, 0, value.span.end_line, value.span.end_character)
    return Finding("memory-value", message, str(path), span)


def _check_reference(
    path: Path, value: Value, reference: Reference, moved_to: str, context: CheckContext
) -> Finding | None:
    written = reference_text(reference)
    if not context.reader.stamp(reference.path):
        moved_to = moved_to or _find_renamed(reference, context)
        near = (moved_to,) if moved_to else _likely_places(reference, context, _similar_files)
        message = f"{describe_missing(Reference(reference.path))}.{_name_replacements(near, moved_to)}"
        return Finding("reference-gone", message, str(path), value.span, near)
    if moved_to and moved_to != written:
        message = f"{written} is {moved_to} now."
        return Finding("reference-moved", message, str(path), value.span, (moved_to,))
    return _check_symbol(path, value, reference, context) if reference.symbol else None


def _find_renamed(reference: Reference, context: CheckContext) -> str:
    """Returns the reference to the file under its new name, with its symbol if the file still has it; "" if git
    knows no new name."""
    renamed = Reference(context.renamed_file(reference.path), reference.symbol)
    if not renamed.path or not can_be_written(renamed):
        return ""
    return reference_text(Reference(renamed.path) if is_missing(context.reader, renamed) else renamed)


def _check_symbol(path: Path, value: Value, reference: Reference, context: CheckContext) -> Finding | None:
    if Path(reference.path).suffix.lower() in _NO_SYMBOLS:
        return None
    if is_missing(context.reader, reference):
        near = _likely_places(reference, context, _similar_symbols)
        message = f"{describe_missing(reference)}.{_name_replacements(near, '')}"
        return Finding("reference-gone", message, str(path), value.span, near)
    names = list_meanings(context.reader, reference)
    if len(names) < 2:
        return None
    places = tuple(reference_text(Reference(reference.path, name)) for name in names[:MAX_REPLACEMENTS])
    message = f"{reference.symbol} is in {reference.path} more than once: {', '.join(names[:3])}."
    return Finding("reference-ambiguous", message, str(path), value.span, places)


def _likely_places(
    reference: Reference, context: CheckContext, find_similar: Callable[[Reference, CheckContext], tuple[str, ...]]
) -> tuple[str, ...]:
    """Returns where the symbol is defined now, according to the files that git tracks, followed by references that
    look similar."""
    word = searched_word(reference)
    defined = find_defining_places(context.reader, reference, context.files_with(word)) if word else []
    return tuple(dict.fromkeys((*defined, *find_similar(reference, context))))[:MAX_REPLACEMENTS]


def _similar_symbols(reference: Reference, context: CheckContext) -> tuple[str, ...]:
    outline = context.reader.outline_now(reference.path)
    shorts = {name.rpartition(".")[2]: name for name in (outline.names if outline is not None else ())}
    last = reference.symbol.rpartition(".")[2]
    similar = get_close_matches(last, list(shorts)[:MAX_NAMES], MAX_REPLACEMENTS, 0.6)
    return tuple(reference_text(Reference(reference.path, shorts[name])) for name in similar)


def _similar_files(reference: Reference, context: CheckContext) -> tuple[str, ...]:
    """Returns references to tracked files of the same name, those with the most folders in common first."""
    name, folders = reference.path.rpartition("/")[2], set(reference.path.split("/"))
    named = (Reference(path, reference.symbol) for path in context.tracked_files_named(name))
    same = [one for one in named if can_be_written(one) and context.reader.stamp(one.path)]
    same.sort(key=lambda one: (-len(folders & set(one.path.split("/"))), one.path))
    return tuple(map(reference_text, same[:MAX_REPLACEMENTS]))


def _name_replacements(near: Sequence[str], moved_to: str) -> str:
    if moved_to:
        return f" It was renamed to {moved_to}."
    return f" Did you mean {near[0]}?" if near else ""
