"""Finds the memories about the code that a change touches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from lerim.check.findings import shown_path
from lerim.errors import UsageError
from lerim.memory import MemoryEntry, Reference, ReferenceMap, SourceReader, baseline_in, reference_text
from lerim.project import Git, Project, open_git

NOTHING_TOUCHED = "No memory is about the code of this change."


class TouchedMemory(msgspec.Struct, frozen=True):
    """A live memory, and those of its references whose code a change touches. `path` is the path of its file,
    relative to the repository's root if the file is inside it; `kind` is its primitive or, for a learning, its kind."""

    id: str
    path: str
    kind: str
    title: str
    references: tuple[str, ...]


def find_touched_memories(project: Project, environ: Mapping[str, str], revision: str) -> list[TouchedMemory]:
    """Returns the memories, by title, whose code differs between HEAD and the commit at which HEAD left `revision`.

    A reference to a symbol counts if the definition of the symbol differs in more than comments and formatting. A
    reference to a file or folder counts if the file, or any file in the folder, differs. Raises UsageError if git
    does not know the revision.
    """
    git = open_git(project.root, environ)
    base = git.find_fork_point(revision) if git is not None else ""
    changed = git.list_changed_paths(base) if git is not None and base else None
    if git is None or changed is None:
        todo = "Name a branch, tag or commit. In CI, fetch the whole history: with a shallow one git cannot compare."
        raise UsageError("Git cannot compare HEAD with this.", where=revision[:200], todo=todo)
    live = ReferenceMap(project.memory_dir, project.root)
    live.scan()
    return _select_touched(git, project.root, base, changed, live.entries)


def _select_touched(
    git: Git, root: Path, base: str, changed: set[str], entries: Iterable[MemoryEntry]
) -> list[TouchedMemory]:
    folders = {path[: slash.start()] for path in changed for slash in re.finditer("/", path)}
    places = changed | folders
    concerned = [(entry, reference) for entry in entries for reference in entry.references if reference.path in places]
    symbols = [(base, reference.path) for _, reference in concerned if reference.symbol]
    before = git.read_texts(symbols)
    reader = SourceReader(root)
    touched: dict[str, tuple[MemoryEntry, list[str]]] = {}
    for entry, reference in concerned:
        if not reference.symbol or _is_changed(reader, reference, before.get((base, reference.path))):
            touched.setdefault(entry.id, (entry, []))[1].append(reference_text(reference))
    found = [
        TouchedMemory(
            entry.id,
            shown_path(str(root), str(entry.path)),
            entry.kind or entry.primitive,
            entry.title,
            tuple(references),
        )
        for entry, references in touched.values()
    ]
    return sorted(found, key=lambda one: (one.title.casefold(), one.id))


def _is_changed(reader: SourceReader, reference: Reference, before: str | None) -> bool:
    now = reader.baseline(reference)
    if before is None or now is None:
        return True
    then = baseline_in(reference, before)
    return not then.digest or not now.digest or then.digest != now.digest
