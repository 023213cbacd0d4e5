"""What a tag or a reference can be, for what was typed of it: in a memory's file and in the review's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from lerim.lsp.features.language.symbol_places import list_symbols
from lerim.lsp.window import Repo, Sidecar
from lerim.memory import MemoryEntry, parse_reference
from lerim.project import tracked


def suggest_tags(typed: str, present: Collection[str], entries: Iterable[MemoryEntry]) -> Iterator[tuple[str, str]]:
    """The tags of the memories `entries` that contain `typed`, without those in `present`, the most used first; with
    each, how many memories use it, as text."""
    counts = Counter(tag for entry in entries for tag in entry.tags)
    for tag, count in counts.most_common():
        if tag not in present and typed.casefold() in tag.casefold():
            yield tag, f"in {count} {'memory' if count == 1 else 'memories'}"


def suggest_references(sidecar: Sidecar, repo: Repo, typed: str) -> Iterator[str]:
    """The files of the repository whose path contains `typed`; after a `#`, the symbols of the file before it
    (blocking)."""
    return _suggest_symbols(sidecar, repo, typed) if "#" in typed else _suggest_paths(repo, typed.casefold())


def _suggest_paths(repo: Repo, typed: str) -> Iterator[str]:
    """The files that git tracks and whose path contains what was typed; those whose name begins with it come first."""
    root = repo.project.root
    listed = _list_paths(root, repo.project.common_dir, tracked.read_index_stamp(root))
    paths = [path for path in listed if typed in path.casefold()]
    paths.sort(key=lambda path: (not path.rpartition("/")[2].casefold().startswith(typed), path.count("/"), path))
    return iter(paths)


@lru_cache(maxsize=1)
def _list_paths(root: Path, common_dir: Path, _stamp: str) -> tuple[str, ...]:
    """The tracked files that a reference can name. Kept while git's index is as `_stamp` says: reading the index at
    each letter that is typed would take longer than all else."""
    paths = dict.fromkeys(tracked.read_tracked_paths(root, common_dir))
    return tuple(path for path in paths if path.isprintable() and not path.startswith(".lerim/"))


def _suggest_symbols(sidecar: Sidecar, repo: Repo, typed: str) -> Iterator[str]:
    path, _, name_part = typed.partition("#")
    reference = parse_reference(path)
    for name in list_symbols(sidecar, repo, reference.path) if reference is not None else ():
        if name_part.casefold() in name.casefold():
            yield f"{path}#{name}"
