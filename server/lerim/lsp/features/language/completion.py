"""Completes keys, kinds, tags, ids, paths and symbols in the frontmatter of a memory file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import get_args

from lsprotocol import types

from lerim.lsp.boundary import count_units
from lerim.lsp.features.language.completion_places import CompletionPlace, find_completion_place
from lerim.lsp.features.language.memory_texts import MemoryText, find_memory_text, list_entries
from lerim.lsp.features.language.symbol_places import list_symbols
from lerim.lsp.features.language.targets import ID_KEYS
from lerim.lsp.features.language.titles import find_by_words, show_titles
from lerim.lsp.window import Sidecar
from lerim.memory import KINDS, MemoryEntry, Speaker, parse_reference, primitive_of, quote_scalar, record
from lerim.project import tracked

MAX_ITEMS = 100
"""Most items of an answer; more are found by typing on."""
LIST_KEYS = frozenset(("references", "supersedes", "resolves", "related"))


async def complete_at_position(sidecar: Sidecar, params: types.CompletionParams) -> types.CompletionList | None:
    """What can be written where the person types; None outside the frontmatter of a memory file."""
    text = await find_memory_text(sidecar, params.text_document.uri)
    if text is None:
        return None
    place = find_completion_place(text, params.position.line, text.index(params.position))
    if place is None:
        return None
    items = await sidecar.run_in_thread(_list_items, sidecar, text, place)
    return types.CompletionList(is_incomplete=len(items) >= MAX_ITEMS, items=items)


def _list_items(sidecar: Sidecar, text: MemoryText, place: CompletionPlace) -> list[types.CompletionItem]:
    found: Iterable[types.CompletionItem] = ()
    if place.key == "":
        found = _key_items(text, place)
    elif place.key == "kind":
        found = (_value_item(text, place, kind, types.CompletionItemKind.EnumMember) for kind in KINDS)
    elif place.key == "evidence.who":
        found = (_value_item(text, place, who, types.CompletionItemKind.EnumMember) for who in get_args(Speaker))
    elif place.key == "tags":
        found = _tag_items(text, place, list_entries(sidecar, text.repo))
    elif place.key in ID_KEYS - {"id", "targets"}:
        found = _id_items(text, place, list_entries(sidecar, text.repo))
    elif place.key == "references" and text.repo is not None:
        found = _symbol_items(sidecar, text, place) if "#" in place.typed else _path_items(text, place)
    items = [item for item, _ in zip(found, range(MAX_ITEMS), strict=False)]
    for number, item in enumerate(items):
        item.sort_text = f"{number:03}"
    return items


def _key_items(text: MemoryText, place: CompletionPlace) -> Iterator[types.CompletionItem]:
    """The keys that are not there yet, in the order in which they are written."""
    present = {field.key for field in text.document.fields if field.key_span.start_line != place.line}
    primitive = primitive_of(text.path)
    for key in record.HEADER_KEYS:
        if key in present or (key == "kind" and primitive not in (None, "learning")):
            continue
        ending = "" if place.has_colon else ":\n  - " if key in LIST_KEYS else ": "
        yield _value_item(text, place, key, types.CompletionItemKind.Property, inserted=key + ending)


def _tag_items(
    text: MemoryText, place: CompletionPlace, entries: Iterable[MemoryEntry]
) -> Iterator[types.CompletionItem]:
    """The tags in use, the most used first."""
    counts = Counter(tag for entry in entries for tag in entry.tags)
    present = {value.text for value in text.document.values("tags")} - {place.typed}
    for tag, count in counts.most_common():
        if tag not in present and place.typed.casefold() in tag.casefold():
            yield _value_item(
                text,
                place,
                tag,
                types.CompletionItemKind.Keyword,
                f"in {count} {'memory' if count == 1 else 'memories'}",
            )


def _id_items(
    text: MemoryText, place: CompletionPlace, entries: Iterable[MemoryEntry]
) -> Iterator[types.CompletionItem]:
    """The live memories whose id or title has the words typed so far, newest first."""
    own = text.path.stem
    found = list(islice((entry for entry in find_by_words(place.typed, entries) if entry.id != own), MAX_ITEMS))
    for entry, title in zip(found, show_titles(found), strict=True):
        item = _value_item(text, place, entry.id, types.CompletionItemKind.Reference, f"{entry.label}: {title}")
        item.filter_text = f"{entry.id} {title}"
        yield item


def _path_items(text: MemoryText, place: CompletionPlace) -> Iterator[types.CompletionItem]:
    """The files that git tracks and whose path contains what was typed; those whose name begins with it come first."""
    assert text.repo is not None
    project = text.repo.project
    typed = place.typed.casefold()
    paths = [
        path
        for path in tracked.read_tracked_paths(project.root, project.common_dir)
        if typed in path.casefold() and not path.startswith(".lerim/")
    ]
    paths.sort(key=lambda path: (not path.rpartition("/")[2].casefold().startswith(typed), path.count("/"), path))
    for path in dict.fromkeys(paths):
        if path.isprintable():
            yield _value_item(text, place, path, types.CompletionItemKind.File)


def _symbol_items(sidecar: Sidecar, text: MemoryText, place: CompletionPlace) -> Iterator[types.CompletionItem]:
    """The symbols of the file before the `#`."""
    path, _, typed = place.typed.partition("#")
    reference = parse_reference(path)
    if reference is None or text.repo is None:
        return
    for name in list_symbols(sidecar, text.repo, reference.path):
        if typed.casefold() in name.casefold():
            yield _value_item(text, place, f"{path}#{name}", types.CompletionItemKind.Function)


def _value_item(
    text: MemoryText,
    place: CompletionPlace,
    value: str,
    kind: types.CompletionItemKind,
    detail: str | None = None,
    inserted: str | None = None,
) -> types.CompletionItem:
    new = quote_scalar(value, place.quote, in_list=place.in_brackets) if inserted is None else inserted
    line = text.line(place.line)
    start, end = (
        types.Position(place.line, count_units(line[:column], text.encoding)) for column in (place.start, place.end)
    )
    return types.CompletionItem(
        label=value, kind=kind, detail=detail, filter_text=value, text_edit=types.TextEdit(types.Range(start, end), new)
    )
