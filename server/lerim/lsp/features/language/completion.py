"""Completes keys, kinds, tags, ids, paths and symbols in the frontmatter of a memory file; tags, paths and symbols in
the review's form, too.

What is being typed is found line by line: while a person types, the frontmatter is often no valid YAML.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import get_args

from lsprotocol import types

from lerim.lsp.boundary import count_units
from lerim.lsp.features.language.memory_texts import MemoryText, find_memory_text, list_entries
from lerim.lsp.features.language.symbol_places import list_symbols
from lerim.lsp.features.language.symbols import find_by_words, show_titles
from lerim.lsp.features.language.targets import ID_KEYS
from lerim.lsp.window import Repo, Sidecar
from lerim.memory import KINDS, MemoryEntry, MemoryRecord, Speaker, parse_reference, primitive_of, quote_scalar, record
from lerim.project import tracked

MAX_ITEMS = 100
"""Most items of an answer; more are found by typing on."""
LIST_KEYS = frozenset(("references", "supersedes", "resolves", "related"))

MAX_LINES_ABOVE = 300
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+|$)")
_PART_OF_KEY = re.compile(r"[\w-]*")
_LEAD = re.compile(r"[ \t]*(?:-(?:[ \t]+|$))?")
_VALUE_END = re.compile(r"""(?:[^\s,\[\]"'#]|(?<=\S)\#)*""")


@dataclass(frozen=True, slots=True)
class CompletionPlace:
    """What is being typed: the key it belongs to ("" if it is a key itself), the text before the cursor, and the
    characters of its line to replace. `quote` is the quotation mark it began with, `in_brackets` whether it is in a
    list in brackets, `has_colon` whether a key is already followed by one."""

    key: str
    typed: str
    line: int
    start: int
    end: int
    quote: str = ""
    in_brackets: bool = False
    has_colon: bool = False


async def complete_at_position(sidecar: Sidecar, params: types.CompletionParams) -> types.CompletionList | None:
    """Returns what can be written where the person types; None outside the frontmatter of a memory file."""
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
        found = (_value_item(text, place, one, types.CompletionItemKind.EnumMember) for one in KINDS)
    elif place.key == "evidence.who":
        found = (_value_item(text, place, who, types.CompletionItemKind.EnumMember) for who in get_args(Speaker))
    elif place.key == "tags":
        found = _tag_items(text, place, list_entries(sidecar, text.repo))
    elif place.key in ID_KEYS - {"id", "targets"}:
        found = _id_items(text, place, list_entries(sidecar, text.repo))
    elif place.key == "references" and text.repo is not None:
        kind = types.CompletionItemKind.Function if "#" in place.typed else types.CompletionItemKind.File
        references = suggest_references(sidecar, text.repo, place.typed)
        found = (_value_item(text, place, reference, kind) for reference in references)
    items = list(islice(found, MAX_ITEMS))
    for number, item in enumerate(items):
        item.sort_text = f"{number:03}"
    return items


def _key_items(text: MemoryText, place: CompletionPlace) -> Iterator[types.CompletionItem]:
    """Yields the keys that are not there yet, in the order in which they are written."""
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
    """Yields the tags in use, the most used first."""
    present = {value.text for value in text.document.values("tags")} - {place.typed}
    for tag, note in suggest_tags(place.typed, present, entries):
        yield _value_item(text, place, tag, types.CompletionItemKind.Keyword, note)


def _id_items(
    text: MemoryText, place: CompletionPlace, entries: Iterable[MemoryEntry]
) -> Iterator[types.CompletionItem]:
    """Yields the live memories whose id or title has the words typed so far, newest first."""
    own = text.path.stem
    found = list(islice((entry for entry in find_by_words(place.typed, entries) if entry.id != own), MAX_ITEMS))
    for entry, title in zip(found, show_titles(found), strict=True):
        item = _value_item(text, place, entry.id, types.CompletionItemKind.Reference, f"{entry.label}: {title}")
        item.filter_text = f"{entry.id} {title}"
        yield item


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


def find_completion_place(text: MemoryText, line: int, character: int) -> CompletionPlace | None:
    """Returns what is being typed at a place; None outside the frontmatter, and in a comment."""
    head = text.document.frontmatter
    written = text.line(line)
    if head is None or not head.start_line <= line <= head.end_line or written.startswith("---"):
        return None
    key_part = _PART_OF_KEY.match(written)
    if key_part is not None and character <= key_part.end():
        has_colon = written[key_part.end() :].lstrip().startswith(":")
        return CompletionPlace("", written[:character], line, 0, key_part.end(), has_colon=has_colon)
    if written.lstrip().startswith("#"):
        return None
    key, start = find_key(text, line)
    if key == "" or character < start:
        return None
    return _value_place(written, key, line, start, character)


def find_key(text: MemoryText, line: int) -> tuple[str, int]:
    """Returns the key that a line's value belongs to, dotted in an entry of `evidence`, and where the value begins."""
    written = text.line(line)
    own = _KEY.match(written)
    if own is not None:
        return own[1], own.end()
    lead = _LEAD.match(written)
    start = lead.end() if lead is not None else 0
    for above in range(line - 1, max(-1, line - MAX_LINES_ABOVE), -1):
        outer = _KEY.match(text.line(above))
        if outer is not None:
            inner = _KEY.match(written, start)
            return (f"{outer[1]}.{inner[1]}", inner.end()) if inner is not None else (outer[1], start)
        if text.line(above).startswith("---"):
            break
    return "", 0


def _value_place(written: str, key: str, line: int, start: int, character: int) -> CompletionPlace:
    before = written[start:character]
    in_brackets = before.lstrip().startswith("[")
    if in_brackets:
        start += max(before.rfind("["), before.rfind(",")) + 1
        start += len(written[start:character]) - len(written[start:character].lstrip())
    quote = written[start : start + 1] if written[start : start + 1] in ("'", '"') and start < character else ""
    start += len(quote)
    end = _VALUE_END.match(written, character)
    return CompletionPlace(
        key,
        written[start:character],
        line,
        start,
        end.end() if end is not None else character,
        quote,
        in_brackets,
    )


def suggest_tags(
    typed: str,
    present: Collection[str],
    entries: Iterable[MemoryEntry | MemoryRecord],
    nouns: tuple[str, str] = ("memory", "memories"),
) -> Iterator[tuple[str, str]]:
    """Yields the tags of `entries` that contain `typed`, without those in `present` at the start, the most used
    first; with each, how many use it, as text. `nouns` say what the entries are, one and several."""
    counts = Counter(tag for entry in entries for tag in entry.tags if tag not in present)
    for tag, count in counts.most_common():
        if typed.casefold() in tag.casefold():
            yield tag, f"in {count} {nouns[count != 1]}"


def suggest_references(sidecar: Sidecar, repo: Repo, typed: str) -> Iterator[str]:
    """Returns the files of the repository whose path contains `typed`; after a `#`, the symbols of the file before
    it (blocking)."""
    return _suggest_symbols(sidecar, repo, typed) if "#" in typed else _suggest_paths(repo, typed.casefold())


def _suggest_paths(repo: Repo, typed: str) -> Iterator[str]:
    """Returns the files that git tracks and whose path contains what was typed; those whose name begins with it come
    first."""
    root = repo.project.root
    listed = _list_paths(root, repo.project.common_dir, tracked.read_index_stamp(root))
    paths = [path for path in listed if typed in path.casefold()]
    paths.sort(key=lambda path: (not path.rpartition("/")[2].casefold().startswith(typed), path.count("/"), path))
    return iter(paths)


@lru_cache(maxsize=1)
def _list_paths(root: Path, common_dir: Path, _stamp: str) -> tuple[str, ...]:
    """Returns the tracked files that a reference can name. Kept while git's index is as `_stamp` says: reading the
    index at each letter that is typed would take longer than all else."""
    paths = dict.fromkeys(tracked.read_tracked_paths(root, common_dir))
    return tuple(path for path in paths if path.isprintable() and not path.startswith(".lerim/"))


def _suggest_symbols(sidecar: Sidecar, repo: Repo, typed: str) -> Iterator[str]:
    path, _, name_part = typed.partition("#")
    reference = parse_reference(path)
    for name in list_symbols(sidecar, repo, reference.path) if reference is not None else ():
        if name_part.casefold() in name.casefold():
            yield f"{path}#{name}"
