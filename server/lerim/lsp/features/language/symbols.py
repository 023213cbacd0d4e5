"""The outline of a memory file, its folding, and memories among the symbols of the workspace."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from lsprotocol import types

from lerim.code_fences import next_fence
from lerim.lsp.boundary import path_to_uri, shorten_text, show_hidden_characters
from lerim.lsp.features.language.definitions import START
from lerim.lsp.features.language.memory_texts import MemoryText, find_memory_text
from lerim.lsp.protocol import redact_text
from lerim.lsp.window import Repo, Sidecar
from lerim.memory import Field, MemoryEntry, TextSpan

MAX_SYMBOLS = 200
MAX_DETAIL = 80
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)")


async def list_document_symbols(
    sidecar: Sidecar, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | None:
    """Returns the keys of a memory file with their values, its quotes, and the headings of its body."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    return outline(text) if text is not None else None


def outline(text: MemoryText) -> list[types.DocumentSymbol]:
    """Returns the outline of a memory file."""
    fields = (field for field in text.document.fields if field.key.strip())
    return [*(_field_symbol(text, field) for field in fields), *_heading_symbols(text)]


async def list_folding_ranges(sidecar: Sidecar, params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
    """Returns the ranges of the frontmatter and of each of its keys that spans several lines, such as `evidence`."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    if text is None:
        return None
    head = text.document.frontmatter
    found = []
    if head is not None and text.line(head.end_line).startswith("---"):
        found.append(types.FoldingRange(max(0, head.start_line - 1), head.end_line))
    return found + [
        types.FoldingRange(field.span.start_line, field.span.end_line)
        for field in text.document.fields
        if field.span.end_line > field.span.start_line
    ]


async def list_workspace_symbols(sidecar: Sidecar, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
    """Returns the memories whose title or id contains the words of the query, newest first."""
    if not sidecar.options.settings.enabled:
        return []
    repos = await sidecar.repos.load()
    return await sidecar.run_in_thread(_find_memories, sidecar, repos, params.query)


def _find_memories(sidecar: Sidecar, repos: Sequence[Repo], query: str) -> list[types.WorkspaceSymbol]:
    sources = (*(repo.references.entries for repo in repos), sidecar.repos.list_personal_memories())
    found = list(islice(find_by_words(query, *sources), MAX_SYMBOLS))
    return [
        types.WorkspaceSymbol(
            location=types.Location(path_to_uri(entry.path), START),
            name=title or entry.id,
            kind=types.SymbolKind.String,
            container_name=entry.label,
        )
        for entry, title in zip(found, show_titles(found), strict=True)
    ]


def _field_symbol(text: MemoryText, field: Field) -> types.DocumentSymbol:
    quotes = [value for value in field.values if value.key == "evidence.quote"]
    if quotes:
        detail, kind = f"{len(quotes)} {'quote' if len(quotes) == 1 else 'quotes'}", types.SymbolKind.Array
    else:
        detail, kind = ", ".join(value.text for value in field.values), types.SymbolKind.Property
    children = [
        types.DocumentSymbol(
            name=_one_line(quote.text) or "quote",
            kind=types.SymbolKind.String,
            range=text.range(quote.span),
            selection_range=text.range(quote.span),
        )
        for quote in quotes
    ]
    return types.DocumentSymbol(
        name=field.key,
        detail=_one_line(detail),
        kind=kind,
        range=text.range(field.span),
        selection_range=text.range(field.key_span),
        children=children,
    )


def _heading_symbols(text: MemoryText) -> Iterator[types.DocumentSymbol]:
    """Yields the headings of the body, each with the lines up to the next one."""
    fence = ""
    found: list[tuple[int, str]] = []
    for number in range(text.document.body.start_line, len(text.lines)):
        line = text.line(number)
        fence = next_fence(line, fence)
        heading = _HEADING.match(line) if not fence else None
        if heading is not None:
            found.append((number, heading[2]))
    for at, (start, name) in enumerate(found):
        end = (found[at + 1][0] if at + 1 < len(found) else len(text.lines)) - 1
        yield types.DocumentSymbol(
            name=_one_line(name) or "#",
            kind=types.SymbolKind.String,
            range=text.range(TextSpan(start, 0, end, len(text.line(end)))),
            selection_range=text.range(TextSpan(start, 0, start, len(text.line(start)))),
        )


def _one_line(text: str) -> str:
    return shorten_text(show_hidden_characters(redact_text(" ".join(text.split()))), MAX_DETAIL)


def find_by_words(query: str, *sources: Iterable[MemoryEntry]) -> Iterator[MemoryEntry]:
    """Yields the memories whose id or title contains all words of a query, newest first, as each source has them."""
    words = query.casefold().split()
    for entry in heapq.merge(*sources, key=lambda entry: (entry.created, entry.name), reverse=True):
        text = f"{entry.id} {entry.title}".casefold() if words else ""
        if all(word in text for word in words):
            yield entry


def show_titles(entries: Sequence[MemoryEntry]) -> list[str]:
    """Returns the titles as they may be shown, each on one line. They are redacted together, which is faster."""
    titles = [" ".join(entry.title.split()) for entry in entries]
    together = redact_text("\n".join(titles)).split("\n")
    redacted = together if len(together) == len(titles) else map(redact_text, titles)
    return [show_hidden_characters(title) for title in redacted]
