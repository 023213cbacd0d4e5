"""Finds where a missing referenced file went: by git's renames, else by the most similar new file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from lerim.memory.freshness.baselines import Baseline, Baselines
from lerim.memory.freshness.fingerprint import MIN_SHARE_KEPT, kept_share
from lerim.memory.freshness.sources import SourceReader
from lerim.project import Project, read_head_commit, tracked

if TYPE_CHECKING:
    from lerim.project import Git

MAX_CANDIDATES = 200


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
            place = self._new_path_by_git(path) or self._most_similar_file(path, baseline, reader)
            self._new_paths[key] = place if place and reader.stamp(place) else ""
        return self._new_paths[key]

    def find_old_path(self, path: str, commit: str) -> str:
        """Returns what a file that did not exist at a commit was called there; "" if git does not know."""
        return next((old for old, new in self._moves(commit).items() if new == path), "")

    def _new_path_by_git(self, path: str) -> str:
        moves = self._moves(self._commit_by_path.get(path, ""))
        return moves.get(path, "") or _moved_folder(path, moves)

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
        """Returns the files that are in git's index and were not before, by ending."""
        if self._new_by_ending is None:
            self._new_by_ending = {}
            stamp, before = self._database.read_index_paths()
            for path in tracked.read_tracked_paths(self._project.root, self._project.common_dir) if stamp else ():
                if tracked.digest_path(path) not in before:
                    self._new_by_ending.setdefault(PurePosixPath(path).suffix, []).append(path)
        return self._new_by_ending


def _moved_folder(path: str, moves: Mapping[str, str]) -> str:
    """Returns the new path of a folder if all its files moved to one folder under the same names; "" otherwise."""
    went = [(old[len(path) :], new) for old, new in moves.items() if old.startswith(f"{path}/")]
    found = {new.removesuffix(name) if new.endswith(name) else "" for name, new in went}
    return found.pop() if len(found) == 1 else ""


def _similarity(path: str, baseline: Baseline, reader: SourceReader) -> float:
    source = reader.source(path) if reader.stamp(path) else None
    return kept_share(baseline.sketch, source.text) if source is not None and source.text is not None else 0.0
