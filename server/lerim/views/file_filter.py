"""Which files a filter of memories selects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from lerim.files import path_exists
from lerim.memory import MemoryRecord, Reference, parse_reference
from lerim.review import ReviewPaths


def match_referenced_files(paths: ReviewPaths, reference: Reference) -> tuple[str, ...]:
    """Returns the files, folders or symbols that a path or the end of one selects.

    That is the path itself if it exists or memories refer to it; otherwise every referenced path that ends with it,
    ignoring case; otherwise the path as it is.
    """
    path = f"{reference.path}#{reference.symbol}" if reference.symbol else reference.path
    if path_exists(paths.project.root / path):
        return (path,)
    stored, _ = paths.store().load_all(archived=True)  # the filtered command reports unreadable files
    referenced_paths = {
        reference_path
        for one in stored
        for reference_path in _list_referenced_paths(one.record, symbols=bool(reference.symbol))
    }
    if path in referenced_paths:
        return (path,)
    matching_ends = sorted(one for one in referenced_paths if f"/{one.lower()}".endswith(f"/{path.lower()}"))
    return tuple(matching_ends) or (path,)


def _list_referenced_paths(record: MemoryRecord, *, symbols: bool) -> Iterator[str]:
    """Yields what a memory refers to: symbols, or files and their folders."""
    for reference in filter(None, map(parse_reference, record.references)):
        if symbols:
            yield f"{reference.path}#{reference.symbol}"
            continue
        yield reference.path
        yield from (str(folder) for folder in PurePosixPath(reference.path).parents if folder.name)
