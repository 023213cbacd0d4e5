"""What a check of one document needs to know of the project around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from lerim.check.contradictions import RulesFileIndex, index_rules_files
from lerim.errors import BoundaryError, MemoryError_
from lerim.export import list_rules_lines
from lerim.memory import Drift, SourceReader, Store
from lerim.project import Project, tracked

NO_RULES_FILES = index_rules_files(())


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The project that a document is checked in.

    `drifts` are the memories that are known to have drifted or moved, by id; `moves` says by memory where its
    references are now. `rules_files` has the statements of rules files. `load_ends` returns the ids that a memory
    replaces or resolves. `paths_of` returns the files that an id has.
    """

    project: Project
    reader: SourceReader
    paths_of: Callable[[str], list[Path]]
    load_ends: Callable[[str], tuple[str, ...]]
    drifts: Mapping[str, Drift] = field(default_factory=dict)
    moves: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rules_files: RulesFileIndex = NO_RULES_FILES

    def list_files(self) -> list[str]:
        """The files that git tracks, from the repository's root."""
        return tracked.read_tracked_paths(self.project.root, self.project.common_dir)


def make_check_context(
    project: Project,
    store: Store,
    reader: SourceReader | None = None,
    *,
    drifts: Mapping[str, Drift] | None = None,
    moves: Mapping[str, Mapping[str, str]] | None = None,
    rules_files: RulesFileIndex = NO_RULES_FILES,
    known_paths: Mapping[str, list[Path]] = MappingProxyType({}),
) -> CheckContext:
    """Returns the context of a check that looks at the disk as it is now. `reader` may have read source files before;
    refresh it first. `known_paths` are the files of ids that were listed just now, if they were."""

    def load_ends(memory_id: str) -> tuple[str, ...]:
        try:
            record = store.load_by_id(memory_id).record
        except (MemoryError_, BoundaryError):
            return ()
        return (*record.supersedes, *record.resolves)

    def paths_of(memory_id: str) -> list[Path]:
        return known_paths.get(memory_id) or store.paths_of(memory_id)

    reader = reader or SourceReader(project.root)
    return CheckContext(project, reader, paths_of, load_ends, drifts or {}, moves or {}, rules_files)


def read_rules_file_index(project: Project) -> RulesFileIndex:
    """Returns the statements of the repository's rules files (AGENTS.md, CLAUDE.md and others). Files that cannot be
    read are skipped: they are not Lerim's to report."""
    return NO_RULES_FILES if project.is_personal else index_rules_files(list_rules_lines(project.root))
