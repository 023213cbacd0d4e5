"""What a person types for a file of the repository: as seen from where they stand or from its root; of files that
memories speak of also the end of a path, or a name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import typer

from lerim.memory import MemoryRecord, parse_reference, parse_references
from lerim.project import Project
from lerim.review import ReviewPaths


def resolve_from_root(project: Project, typed: str) -> str:
    """A path, with a symbol perhaps, as seen from the repository's root. What stands with `./` or `../`, or is there as
    seen from the folder a person is in, is meant so; anything else is as it was typed."""
    path, separator, symbol = typed.strip().replace("\\", "/").partition("#")
    if not path or project.is_personal:
        return typed
    candidate_path = Path(os.path.normpath(Path.cwd() / path))
    if not candidate_path.is_relative_to(project.root) or candidate_path == project.root:
        return typed
    if _is_explicit_path(path) or _exists(candidate_path):
        return f"{candidate_path.relative_to(project.root).as_posix()}{separator}{symbol}"
    return typed


def _is_explicit_path(path: str) -> bool:
    return Path(path).is_absolute() or path.partition("/")[0] in (".", "..")


def _exists(path: Path) -> bool:
    """Whether there is such a file; none has a name that the system finds too long."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def parse_named_references(project: Project, references: Sequence[str]) -> tuple[str, ...]:
    """References a person typed as a memory holds them. Raises MemoryError_ for one that is no file of the
    repository."""
    return parse_references(resolve_from_root(project, one) for one in references)


def find_named_files(paths: ReviewPaths, typed: str) -> tuple[str, ...]:
    """The files, folders or symbols that a filter means: the one that is there, or that memories speak of; else those
    of the memories whose path ends so, in any case of letters; what was typed where there is none.

    Raises typer.BadParameter for what leads out of the repository.
    """
    reference = parse_reference(resolve_from_root(paths.project, typed))
    if reference is None:
        todo = "Name a file or folder of the repository, the end of its path, or its name."
        raise typer.BadParameter(todo, param_hint="--file")
    path = f"{reference.path}#{reference.symbol}" if reference.symbol else reference.path
    if _is_explicit_path(typed) or _exists(paths.project.root / path):
        return (path,)
    stored, _ = paths.store().load_all(archived=True)  # what cannot be read is told by what is narrowed
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
    """What a memory refers to: the symbols, or the files and the folders they lie in."""
    for reference in filter(None, map(parse_reference, record.references)):
        if symbols:
            yield f"{reference.path}#{reference.symbol}"
            continue
        yield reference.path
        yield from (str(folder) for folder in PurePosixPath(reference.path).parents if folder.name)
