"""Where one project's memories, candidates and private review state lie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from lerim import files
from lerim.errors import BusyError, MemoryError_, reason_of
from lerim.memory import ARCHIVED_FOLDERS, LIVE_FOLDERS, Store
from lerim.paths import Home
from lerim.project import Project, folder, make_personal_project, make_private_folder
from lerim.review.authorship import make_our_sentence_test

_WAIT_SECONDS = 10
_HOME_TODO = "Make it writable, or set LERIM_HOME to a folder that is."


@dataclass(frozen=True, slots=True)
class ReviewPaths:
    """A project in one of its worktrees, and the person's home."""

    project: Project
    home: Home

    @property
    def private(self) -> Path:
        """The project's folder under `~/.lerim`."""
        return self.home.project(self.project.key)

    @property
    def state(self) -> Path:
        """What belongs to the project and to no branch."""
        return self.project.state_dir(self.home)

    @property
    def review(self) -> Path:
        """The folder of waiting candidates."""
        return self.state / "review"

    @property
    def state_anchor(self) -> Path:
        """The folder below which nothing of the state may be a symbolic link."""
        return self.state if self.state == self.private else self.state.parent

    @property
    def moves(self) -> list[tuple[str, str]]:
        """The folders the project was in, by its aliases, each with the one it is in now."""
        now = str(self.project.main_worktree or self.project.root)
        return [(alias, now) for alias in self.project.aliases]

    def store(self) -> Store:
        """The memories of the open worktree, or the person's own."""
        wrote = partial(make_our_sentence_test, self.private, self.moves)
        if not (self.project.is_personal or self.project.private_dir):
            return Store(self.project.memory_dir, self.private, ours=wrote)
        return Store(self.project.memory_dir, self.private, self.home.root, lambda _: self.make_private(), wrote)

    def personal(self) -> ReviewPaths:
        """The person's own memories, which belong to no repository."""
        return ReviewPaths(make_personal_project(self.home), self.home)

    def folders(self) -> list[tuple[Path, Path]]:
        """The folders we write files into, each with the folder below which nothing of it may be a link."""
        memories = [
            (self.project.memory_dir / name, self.store().anchor)
            for name in (*LIVE_FOLDERS, *ARCHIVED_FOLDERS, "summaries")
        ]
        runs = self.state / "workspace"
        with suppress(OSError):
            memories += [(path, self.state_anchor) for path in runs.iterdir()]
        state = [(path, self.state_anchor) for path in (self.state, self.review, runs)]
        private = [
            self.private,
            *(self.private / name for name in ("quotes", "windows", "summary-parts")),
            self.home.root,
        ]
        own = [] if self.project.is_personal else self.personal().folders()
        return [*memories, *state, *((path, self.home.root) for path in private), *own]

    def make_state(self) -> None:
        """Make the state folder. Raises MemoryError_, BoundaryError."""
        if self.state == self.private:
            self.make_private()
        else:
            folder.make_lerim_folder(self.state)

    def make_private(self) -> None:
        """Make the private folder, readable by the person alone. Raises MemoryError_."""
        try:
            make_private_folder(self.home, self.private)
        except OSError as error:
            message = f"This folder cannot be created: {reason_of(error)}."
            raise MemoryError_(message, where=str(self.private), todo=_HOME_TODO) from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the project's review lock: the system frees it when the process dies. Raises BusyError, MemoryError_."""
        self.make_private()
        lock = FileLock(self.private / "review.lock", timeout=_WAIT_SECONDS, mode=0o600)
        try:
            lock.acquire()
        except Timeout as error:
            todo = "Wait for it to end, then try again."
            raise BusyError(
                "Another process is changing this project's review.", where=lock.lock_file, todo=todo
            ) from error
        except OSError as error:
            message = f"The review cannot be locked: {reason_of(error)}."
            raise MemoryError_(message, where=str(self.private), todo=_HOME_TODO) from error
        try:
            yield
        finally:
            lock.release()

    def candidate_path(self, candidate_id: str) -> Path:
        """The file of a candidate. Raises BoundaryError where something on the way is a link."""
        return files.resolve_inside(self.state_anchor, self.review / f"{candidate_id}.md")
