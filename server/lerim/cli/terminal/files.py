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


def path_from_root(project: Project, typed: str) -> str:
    """A path, with a symbol perhaps, as seen from the repository's root. What stands with `./` or `../`, or is there as
    seen from the folder a person is in, is meant so; anything else is as it was typed."""
    path, mark, symbol = typed.strip().replace("\\", "/").partition("#")
    if not path or project.is_personal:
        return typed
    near = Path(os.path.normpath(Path.cwd() / path))
    if not near.is_relative_to(project.root) or near == project.root:
        return typed
    if _is_exact(path) or _is_there(near):
        return f"{near.relative_to(project.root).as_posix()}{mark}{symbol}"
    return typed


def _is_exact(path: str) -> bool:
    return Path(path).is_absolute() or path.partition("/")[0] in (".", "..")


def _is_there(path: Path) -> bool:
    """Whether there is such a file; none has a name that the system finds too long."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def parse_named_references(project: Project, references: Sequence[str]) -> tuple[str, ...]:
    """References a person typed as a memory holds them. Raises MemoryError_ for one that is no file of the
    repository."""
    return parse_references(path_from_root(project, one) for one in references)


def find_named_files(place: ReviewPaths, typed: str) -> tuple[str, ...]:
    """The files, folders or symbols that a filter means: the one that is there, or that memories speak of; else those
    of the memories whose path ends so, in any case of letters; what was typed where there is none.

    Raises typer.BadParameter for what leads out of the repository.
    """
    wanted = parse_reference(path_from_root(place.project, typed))
    if wanted is None:
        todo = "Name a file or folder of the repository, the end of its path, or its name."
        raise typer.BadParameter(todo, param_hint="--file")
    path = f"{wanted.path}#{wanted.symbol}" if wanted.symbol else wanted.path
    if _is_exact(typed) or _is_there(place.project.root / path):
        return (path,)
    stored, _ = place.store().load_all(archived=True)  # what cannot be read is told by what is narrowed
    known = {named for one in stored for named in _places(one.record, symbols=bool(wanted.symbol))}
    if path in known:
        return (path,)
    ends = sorted(one for one in known if f"/{one.lower()}".endswith(f"/{path.lower()}"))
    return tuple(ends) or (path,)


def _places(record: MemoryRecord, *, symbols: bool) -> Iterator[str]:
    """What a memory refers to: the symbols, or the files and the folders they lie in."""
    for reference in filter(None, map(parse_reference, record.references)):
        if symbols:
            yield f"{reference.path}#{reference.symbol}"
            continue
        yield reference.path
        yield from (str(folder) for folder in PurePosixPath(reference.path).parents if folder.name)
