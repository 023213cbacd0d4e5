"""The information about a project that the check of one document needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lerim.check.contradictions import RulesFileIndex, index_rules_files
from lerim.errors import BoundaryError, MemoryError_
from lerim.memory import Drift, MemoryEntry, ReferenceMap, SourceReader, Store, claim_text
from lerim.project import Git, Project, find_word, find_words, tracked
from lerim.rules_files import list_rules_lines

MAX_RENAMES_ASKED = 100
"""Maximum number of files that git is asked about in one check, because each question may take seconds in a long
history."""
MAX_TITLES_COMPARED = 20
"""Maximum number of memories with the same title that are read to compare them with one."""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The project that a document is checked in, in its current state on the disk.

    `reader` may have read source files before; refresh it first. `drifts` are the memories that are known to have
    drifted or moved, by id; `moves` maps memories to the current places of their references. `rules_files` has the
    statements of rules files. `known_paths` maps ids to their files if these were listed just now. If `environ` is
    given, git is asked where a missing symbol is defined now. `renamed_files` maps files that are gone to their new
    paths, "" if git does not know one; for files that are not in it, `git` is asked. `live` has the live memories;
    without it, none is found that says the same as another. `load_unmerged` returns the pairs of memories, by their
    ids, that the person does not want to merge.
    """

    project: Project
    store: Store
    reader: SourceReader
    drifts: Mapping[str, Drift] = field(default_factory=dict)
    moves: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rules_files: RulesFileIndex | None = None
    known_paths: Mapping[str, list[Path]] = field(default_factory=dict)
    environ: Mapping[str, str] | None = None
    renamed_files: dict[str, str] = field(default_factory=dict)
    git: Git | None = None
    live: ReferenceMap | None = None
    load_unmerged: Callable[[], Collection[frozenset[str]]] = frozenset
    _tracked: dict[str, list[str]] = field(default_factory=dict)
    _files_by_word: dict[str, list[str]] = field(default_factory=dict)
    _claims: dict[str, str] = field(default_factory=dict)

    def paths_of(self, memory_id: str) -> list[Path]:
        """Returns the files that have an id."""
        return self.known_paths.get(memory_id) or self.store.paths_of(memory_id)

    def tracked_files_named(self, name: str) -> list[str]:
        """Returns the paths of the files with this name that git tracks. Git's index, which may be large, is read
        only once."""
        if not self._tracked:
            for path in tracked.read_tracked_paths(self.project.root, self.project.common_dir):
                self._tracked.setdefault(path.rpartition("/")[2], []).append(path)
        return self._tracked.get(name, [])

    def renamed_file(self, path: str) -> str:
        """Returns the new path of a file that is gone, or "" if git does not know one."""
        is_asked = path in self.renamed_files or len(self.renamed_files) >= MAX_RENAMES_ASKED
        if self.git is not None and not is_asked:
            self.renamed_files[path] = self.git.find_renamed_file(path)
        return self.renamed_files.get(path, "")

    def search_words(self, words: Iterable[str]) -> None:
        """Searches, all at once, for the words that `files_with` will be asked for."""
        if self.environ is not None:
            self._files_by_word.update(find_words(self.project.root, words, self.environ))

    def files_with(self, word: str) -> list[str]:
        """Returns the paths of the files in which git finds a word."""
        if self.environ is None:
            return []
        if word not in self._files_by_word:
            self._files_by_word[word] = find_word(self.project.root, word, self.environ)
        return self._files_by_word[word]

    def list_same_claims(self, path: Path, title: str, body: str) -> list[MemoryEntry]:
        """Returns the live memories of the same primitive as the memory in `path` that say what this title and body
        say, newest first, without those that the person does not want to merge with it. Only files of memories with
        the same title are read, each once, and at most MAX_TITLES_COMPARED of them. Empty if the memory in `path` is
        not live."""
        own = self.live.entry_for(path) if self.live is not None else None
        if self.live is None or own is None:
            return []
        titled = [
            entry for entry in self.live.titled_like(title) if entry.primitive == own.primitive and entry.id != own.id
        ]
        claim = claim_text(title, body)
        same = [entry for entry in titled[:MAX_TITLES_COMPARED] if self._load_claim(entry.id) == claim]
        unmerged = self.load_unmerged() if same else ()
        return [entry for entry in same if frozenset((entry.id, own.id)) not in unmerged]

    def _load_claim(self, memory_id: str) -> str:
        if memory_id not in self._claims:
            try:
                record = self.store.load_by_id(memory_id).record
                self._claims[memory_id] = claim_text(record.title, record.body)
            except (MemoryError_, BoundaryError):
                self._claims[memory_id] = ""
        return self._claims[memory_id]

    def load_ends(self, memory_id: str) -> tuple[str, ...]:
        """Returns the ids that a memory replaces or resolves."""
        try:
            record = self.store.load_by_id(memory_id).record
        except (MemoryError_, BoundaryError):
            return ()
        return (*record.supersedes, *record.resolves)


def read_rules_file_index(project: Project) -> RulesFileIndex:
    """Returns the statements of the repository's rules files (AGENTS.md, CLAUDE.md and others). Files that cannot be
    read are skipped, because it is not Lerim's task to report them."""
    return index_rules_files(() if project.is_personal else list_rules_lines(project.root))
