"""Resolves the paths that a person types: relative to the current folder or to the repository's root. For files that
memories refer to, the end of a path or a name is enough."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from lerim.files import path_exists
from lerim.memory import parse_reference, parse_references
from lerim.project import Project
from lerim.review import ReviewPaths
from lerim.views import match_referenced_files


def resolve_from_root(project: Project, typed: str) -> str:
    """Returns `PATH[#SYMBOL]` relative to the repository's root.

    A path that begins with `./` or `../`, is absolute, or exists relative to the current folder is resolved from there.
    Anything else is returned as typed.
    """
    path, separator, symbol = typed.strip().replace("\\", "/").partition("#")
    if not path or project.is_personal:
        return typed
    try:
        candidate_path = Path(os.path.normpath(Path.cwd() / path))
    except OSError:  # the current folder was removed
        return typed
    if not candidate_path.is_relative_to(project.root) or candidate_path == project.root:
        return typed
    if _is_explicit_path(path) or path_exists(candidate_path):
        return f"{candidate_path.relative_to(project.root).as_posix()}{separator}{symbol}"
    return typed


def _is_explicit_path(path: str) -> bool:
    return Path(path).is_absolute() or path.partition("/")[0] in (".", "..")


def parse_typed_references(project: Project, references: Sequence[str]) -> tuple[str, ...]:
    """Parses references that a person typed into the form in which a memory stores them. Raises MemoryError_ for one
    outside the repository."""
    return parse_references(resolve_from_root(project, one) for one in references)


def resolve_file_filter(paths: ReviewPaths, typed: str) -> tuple[str, ...]:
    """Returns the files, folders or symbols that a filter selects.

    That is the path itself if it exists or memories refer to it; otherwise every referenced path that ends with it,
    ignoring case; otherwise the path as typed. Raises typer.BadParameter for a path outside the repository.
    """
    reference = parse_reference(resolve_from_root(paths.project, typed))
    if reference is None:
        todo = "Name a file or folder of the repository, the end of its path, or its name."
        raise typer.BadParameter(todo, param_hint="--file")
    path = f"{reference.path}#{reference.symbol}" if reference.symbol else reference.path
    return (path,) if _is_explicit_path(typed) else match_referenced_files(paths, reference)
