"""Merges memory files: a file with git conflict markers, files with the same id, or memories that say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lerim.errors import ConflictError, NotFoundError, Problem
from lerim.memory import Store, is_older, merge_file_texts, parse_record, split_conflict
from lerim.process import format_command_line
from lerim.project import find_half_removed_paths, read_merge_stages
from lerim.review import actions
from lerim.review.accepting import file_change
from lerim.review.acts.duplicate_merge import plan_duplicate_merge
from lerim.review.acts.held_memory import perform_act
from lerim.review.candidates import redacted_diff
from lerim.review.ledger import FileChange
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths

_FOLDER = ".lerim/memory/"
MergeKind = Literal["sides", "files", "memories"]
"""What is merged: the sides of a conflict in one or more files, files with the same id, or memories that say the
same."""


@dataclass(frozen=True, slots=True)
class ConflictMerge:
    """What is merged, the diff of doing so, and the result (None for a preview)."""

    kind: MergeKind
    diff: str
    result: ReviewResult | None = None


def merge_conflict(paths: ReviewPaths, path: Path, *, preview: bool = False) -> ConflictMerge:
    """Merges both sides of a memory's file that has conflict markers, or the files that have the same id as this one,
    or else the memories that say the same as this one (`duplicate_merge.py`). With `preview`, nothing is written.

    Raises NotFoundError if there is nothing to merge, ConflictError if one side removed the memory, MemoryError_ if
    a side is not a memory, StaleError, BusyError, BoundaryError.
    """
    if preview:
        store = paths.store()
        kind, changes, _ = _plan_merge(paths, store, path, preview=True)
        return ConflictMerge(kind, _describe_changes(store, changes))
    with actions.locked_ledger(paths) as ledger:
        store = paths.store()
        kind, changes, kept = _plan_merge(paths, store, path)
        title = parse_record(changes[0].after or "", kept).title
        result = perform_act(paths, ledger, "join", f"Merged: {title}", changes, kept.stem, kept)
        conflicts = [one.path for one in changes if one.before is not None and split_conflict(one.before)]
        conflicts += [str(one) for one, found in _merge_stages(paths).items() if found - {0} and one.stem == kept.stem]
        if conflicts:
            command = format_command_line("git", "add", *dict.fromkeys((str(kept), *conflicts)))
            result = replace(result, message=f"{result.message}. Tell git with `{command}`.")
        return ConflictMerge(kind, _describe_changes(store, changes), result)


def find_merged_file(paths: ReviewPaths, changes: Sequence[FileChange]) -> Path | None:
    """Returns the file among these changes that git already lists as merged and in which undoing them would restore
    conflict markers; None if there is none."""
    if not any(one.before and split_conflict(one.before) for one in changes):
        return None
    known = _merge_stages(paths)
    found = {path: known[path] for path in (Path(one.path) for one in changes) if path in known}
    whole = [path for path, how in found.items() if how == {0}]
    return whole[0] if whole and len(whole) == len(found) else None


def _merge_stages(paths: ReviewPaths) -> dict[Path, set[int]]:
    project = paths.project
    if project.is_personal or project.private_dir:  # git has none of a person's home
        return {}
    return {
        project.root / path: found
        for path, found in read_merge_stages(project.root, project.common_dir, _FOLDER).items()
    }


def find_unmerged_problems(paths: ReviewPaths) -> list[Problem]:
    """Returns a problem for each memory that one branch changed and the other removed, while git waits for a
    decision."""
    project = paths.project
    if project.is_personal or project.private_dir:
        return []
    found = find_half_removed_paths(project.root, project.common_dir, _FOLDER)
    errors = [_removed_error(project.root / path) for path in found]
    return [error.problem() for error in errors]


def _removed_error(path: Path) -> ConflictError:
    todo = (
        f"`{format_command_line('git', 'add', path)}` to keep it, "
        f"`{format_command_line('git', 'rm', path)}` to remove it."
    )
    message = "One branch changed this memory and the other removed it; git kept the changed text."
    return ConflictError(message, where=str(path), todo=todo)


def _plan_merge(
    paths: ReviewPaths, store: Store, path: Path, *, preview: bool = False
) -> tuple[MergeKind, list[FileChange], Path]:
    """Returns what is merged, the changes that merge it, and the path of the file that remains. Its change comes
    first."""
    store.relative_name(path)
    memory_files = store.paths_of(path.stem)
    if not memory_files:
        raise NotFoundError(f"There is no memory {path.stem[:80]!r}.", where=str(path), todo="List the memories again.")
    texts = {one: store.read_text(one) for one in memory_files}
    found = [(one, side) for one in memory_files for side in split_conflict(texts[one]) or (texts[one],)]
    if len(found) == 1:
        if any(one.path == str(memory_files[0]) for one in find_unmerged_problems(paths)):
            raise _removed_error(memory_files[0])
        return "memories", *plan_duplicate_merge(paths, store, memory_files[0], preview=preview)
    kept, text = found[0]
    for other, side in found[1:]:
        if is_older(parse_record(text, kept), parse_record(side, other)):
            kept = other
        text = merge_file_texts(text, side, kept)
    record = parse_record(text, kept)
    live = [one for one in memory_files if not one.is_relative_to(store.memory_dir / "archived")]
    if record.superseded_by or record.resolved_by:
        kept = store.path_for(record, archived=True)
    elif live and kept not in live:
        kept = live[0]
    changes = [file_change(store, kept, texts.get(kept), text)]
    changes += [file_change(store, one, texts[one], None) for one in memory_files if one != kept]
    return "sides" if len(found) > len(memory_files) else "files", changes, kept


def _describe_changes(store: Store, changes: Sequence[FileChange]) -> str:
    kept, *others = changes
    parts = [redacted_diff(kept.before or "", kept.after or "", store.relative_name(Path(kept.path)))]
    archived = {Path(one.path).name for one in others if one.after is not None}
    for path in (Path(one.path) for one in others if one.after is None):
        what = "archived" if path.name in archived else "removed"
        parts.append(f"{store.relative_name(path)} is {what}; the file above has its text.")
    return "\n".join(filter(None, parts))
