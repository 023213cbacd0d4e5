"""Plans `lerim import`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from lerim.errors import Problem
from lerim.export.importing.claims import make_file_claims
from lerim.export.importing.sources import read_personal_memories, read_project_memories, read_rules_files
from lerim.review import (
    AlreadyKnown,
    ClaimBlocked,
    FileClaim,
    ReviewPaths,
    preview_file_claims,
)


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would propose. `known` are claims that would not be: a memory says the same, they wait already or
    were rejected. `files` are the names of the files read; `with_secret` and `too_many` count the lines left out."""

    files: tuple[str, ...]
    new: tuple[FileClaim, ...]
    known: tuple[tuple[FileClaim, ClaimBlocked | AlreadyKnown], ...]
    with_secret: int
    too_many: int
    problems: tuple[Problem, ...]


def plan_import(
    paths: ReviewPaths, environ: Mapping[str, str], now: datetime, *, with_local: bool = False
) -> ImportPlan:
    """Reads the rules files of a repository and what agents remember of it, or, for the personal project, what they
    remember of the person. `with_local`: also CLAUDE.local.md. Proposes nothing. Raises MemoryError_, BusyError."""
    project = paths.project
    if project.is_personal:
        sources, problems = read_personal_memories(environ)
    else:
        sources, problems = read_rules_files(project.root, with_local=with_local)
        remembered, more = read_project_memories(project.main_worktree or project.root, environ)
        sources, problems = [*sources, *remembered], [*problems, *more]
    found = make_file_claims(sources, project, now)
    new: list[FileClaim] = []
    known: list[tuple[FileClaim, ClaimBlocked | AlreadyKnown]] = []
    for claim, outcome in zip(found.claims, preview_file_claims(paths, found.claims), strict=True):
        if outcome is None:
            new.append(claim)
        else:
            known.append((claim, outcome))
    names = tuple(source.name for source in sources)
    return ImportPlan(names, tuple(new), tuple(known), found.with_secret, found.too_many, tuple(problems))
