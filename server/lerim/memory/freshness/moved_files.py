"""Finds in git's history where a missing referenced file went, by git's renames or else by the most similar new file,
and the baselines of memories that were verified elsewhere, at the verified commit.

A memory may name a symbol by a name that it got later, because it was updated after a rename. Then the first version
that has this name is found: there, the symbol must be the same as another one at the verified commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from lerim.memory.freshness.baselines import Baseline, Baselines
from lerim.memory.freshness.fingerprint import MIN_SHARE_KEPT, FileOutline, kept_share, outline_file, sketch_text
from lerim.memory.freshness.sources import SourceReader, make_baseline
from lerim.memory.reference import Reference, can_be_written
from lerim.project import Project, read_head_commit, tracked

if TYPE_CHECKING:
    from lerim.project import Git

MAX_CANDIDATES = 200
WantedBaseline = tuple[str, Reference, str]
"""A memory's id, one of its references, and the commit it was verified at."""


class MovedFiles:
    """The renames of one worktree. A file counts as new if git's index did not contain it when it was last read."""

    def __init__(self, project: Project, database: Baselines, git: Git | None = None) -> None:
        self._project = project
        self._database = database
        self._git = git
        self._head = ""
        self._commit_by_path: Mapping[str, str] = {}
        self._new_by_ending: dict[str, list[str]] | None = None
        self._new_paths: dict[tuple[str, bytes], str] = {}

    def record_files_once(self) -> None:
        """Records which files there are, if that was never done. Call it inside a transaction."""
        if not self._database.read_index_paths()[0]:
            self.record_files()

    def record_files(self) -> None:
        """Records which files there are now. Call it inside a transaction."""
        stamp = tracked.read_index_stamp(self._project.root)
        if stamp and stamp != self._database.read_index_paths()[0]:
            paths = tracked.read_tracked_paths(self._project.root, self._project.common_dir)
            self._database.store_index_paths(stamp, map(tracked.digest_path, paths))

    def set_missing(self, missing: Mapping[str, str]) -> None:
        """Sets the files that `find_new_path` will be asked for, each with a commit that had it ("" if not known)."""
        self._commit_by_path = missing

    def find_new_path(self, path: str, baseline: Baseline, reader: SourceReader) -> str:
        """Returns where a missing file is now; "" if that is not known."""
        key = (path, baseline.sketch)
        if key not in self._new_paths:
            moves = self._moves(self._commit_by_path.get(path, ""))
            place = moves.get(path, "") or _moved_folder(path, moves) or self._most_similar_file(path, baseline, reader)
            is_found = place and reader.stamp(place) and can_be_written(Reference(place))
            self._new_paths[key] = place if is_found else ""
        return self._new_paths[key]

    def find_old_path(self, path: str, commit: str) -> str:
        """Returns what a file that did not exist at a commit was called there; "" if git does not know."""
        return next((old for old, new in self._moves(commit).items() if new == path), "")

    def _moves(self, commit: str) -> Mapping[str, str]:
        if self._git is None or not commit:
            return {}
        self._head = self._head or read_head_commit(self._project.root, self._project.common_dir)
        return self._git.find_moves(commit, self._head)

    def _most_similar_file(self, path: str, baseline: Baseline, reader: SourceReader) -> str:
        """Returns the new file with the same ending that has most of its lines; "" if none has half, or if two have as
        many."""
        if not baseline.sketch:
            return ""
        alike = self._new_files().get(PurePosixPath(path).suffix, [])[:MAX_CANDIDATES]
        ranked = sorted(((_similarity(one, baseline, reader), one) for one in alike), reverse=True)
        if not ranked or ranked[0][0] < MIN_SHARE_KEPT or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return ""
        return ranked[0][1]

    def _new_files(self) -> dict[str, list[str]]:
        if self._new_by_ending is None:
            self._new_by_ending = {}
            stamp, before = self._database.read_index_paths()
            for path in tracked.read_tracked_paths(self._project.root, self._project.common_dir) if stamp else ():
                if tracked.digest_path(path) not in before:
                    self._new_by_ending.setdefault(PurePosixPath(path).suffix, []).append(path)
        return self._new_by_ending


def _moved_folder(path: str, moves: Mapping[str, str]) -> str:
    went = [(old[len(path) :], new) for old, new in moves.items() if old.startswith(f"{path}/")]
    found = {new.removesuffix(name) if new.endswith(name) else "" for name, new in went}
    return found.pop() if len(found) == 1 else ""


def _similarity(path: str, baseline: Baseline, reader: SourceReader) -> float:
    text = reader.text(path) if reader.stamp(path) else None
    return kept_share(baseline.sketch, text) if text is not None else 0.0


def committed_baselines(
    git: Git, reader: SourceReader, where: MovedFiles, head: str, wanted: Sequence[WantedBaseline]
) -> dict[tuple[str, Reference], Baseline]:
    """Returns the baseline of each of these references whose file git has at its commit, by memory and reference;
    `head` is the commit checked out."""
    asked = [(commit, reference.path) for _, reference, commit in wanted]
    texts = git.read_texts(asked)
    missing = {
        (commit, path): where.find_old_path(path, commit) for commit, path in asked if (commit, path) not in texts
    }
    texts |= git.read_texts([(commit, old) for (commit, _), old in missing.items() if old])
    found: dict[tuple[str, Reference], Baseline] = {}
    for memory, reference, commit in wanted:
        pair = (commit, reference.path)
        text = texts.get((commit, missing.get(pair, "")) if pair in missing else pair)
        if text is None:
            continue
        then = outline_file(reference.path, text) if reference.symbol else None
        renamed_outline = (
            _outline_after_rename(git, reader, head, reference, commit, then) if then is not None else None
        )
        found[memory, reference] = make_baseline(reference, text, sketch_text(text), renamed_outline or then)
    return found


def _outline_after_rename(
    git: Git, reader: SourceReader, head: str, reference: Reference, commit: str, then: FileOutline
) -> FileOutline | None:
    """Returns the outline of the first version of the file that has the symbol under its new name; None if the commit
    already had the symbol, if no version has it, or if it was not a rename."""
    text = reader.text(reference.path) if not then.fingerprints(reference.symbol) else None
    now = _outline_defining(reference, text) if text is not None else None
    if now is None:
        return None
    versions = git.list_changing_commits(reference.path, commit, head)
    low, high = 0, len(versions)
    while low < high:
        middle = (low + high) // 2
        pair = (versions[middle], reference.path)
        found = _outline_defining(reference, git.read_texts([pair]).get(pair, ""))
        low, high, now = (low, middle, found) if found is not None else (middle + 1, high, now)
    prints = now.fingerprints(reference.symbol)
    return now if len(prints) == 1 and then.find_renamed(reference.symbol, prints[0], ()) else None


def _outline_defining(reference: Reference, text: str) -> FileOutline | None:
    found = outline_file(reference.path, text)
    return found if found is not None and found.fingerprints(reference.symbol) else None
