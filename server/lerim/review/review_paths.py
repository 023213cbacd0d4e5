"""The paths of one project's memories, candidates and private review state, and access to the memory store and the
ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from lerim import files
from lerim.errors import BusyError, MemoryError_, error_reason
from lerim.memory import (
    ARCHIVED_FOLDERS,
    LIVE_FOLDERS,
    IsWrittenByLerim,
    Store,
    never_written_by_lerim,
    split_sentences,
)
from lerim.paths import Home
from lerim.project import Project, folder, make_personal_project, make_private_folder
from lerim.review.ledger import Ledger, open_ledger

_WAIT_SECONDS = 10
_HOME_TODO = "Make it writable, or set LERIM_HOME to a folder that is."


@dataclass(frozen=True, slots=True)
class ReviewPaths:
    """The review's paths for a project, in one of its worktrees, and the person's home."""

    project: Project
    home: Home

    @property
    def private(self) -> Path:
        """The project's folder under `~/.lerim`."""
        return self.home.project(self.project.key)

    @property
    def state(self) -> Path:
        """The folder for state that belongs to the project rather than to a branch."""
        return self.project.state_dir(self.home)

    @property
    def review(self) -> Path:
        """The folder of waiting candidates."""
        return self.state / "review"

    @property
    def state_anchor(self) -> Path:
        """The anchor of the state folder: no path of the state below it may be a symbolic link."""
        return self.state if self.state == self.private else self.state.parent

    @property
    def moves(self) -> list[tuple[str, str]]:
        """Pairs of a former folder of the project (from its aliases) and its present folder."""
        present_folder = str(self.project.main_worktree or self.project.root)
        return [(alias, present_folder) for alias in self.project.aliases]

    def store(self) -> Store:
        """Returns the memory store of this worktree, or of the person's own memories."""
        make_sentence_test = partial(_make_lerim_sentence_test, self.private, self.moves)
        if not (self.project.is_personal or self.project.private_dir):
            return Store(self.project.memory_dir, self.private, written_by_lerim=make_sentence_test)
        return Store(
            self.project.memory_dir,
            self.private,
            self.home.root,
            lambda _: self.make_private_folder(),
            make_sentence_test,
        )

    def open_ledger(self) -> AbstractContextManager[Ledger]:
        """Opens the project's review ledger, creating it if necessary. Raises MemoryError_."""
        return open_ledger(self.private, self.moves)

    def has_ledger(self) -> bool:
        """Returns whether anything was ever proposed or done in the review of this project."""
        return not files.is_absent(self.private / "review.sqlite3")

    @contextmanager
    def open_ledger_if_any(self) -> Iterator[Ledger | None]:
        """Opens the ledger, or yields None if there is none: reading does not create one. Raises MemoryError_."""
        if not self.has_ledger():
            yield None
            return
        with self.open_ledger() as ledger:
            yield ledger

    def personal(self) -> ReviewPaths:
        """Returns the paths of the person's own memories, which belong to no repository."""
        return ReviewPaths(make_personal_project(self.home), self.home)

    def written_folders(self) -> list[tuple[Path, Path]]:
        """Returns the folders that Lerim writes files into, as (folder, anchor); nothing below the anchor may be a
        link."""
        anchor, state_anchor, private = self.store().anchor, self.state_anchor, self.private
        memory_folders = (*LIVE_FOLDERS, *ARCHIVED_FOLDERS, "summaries", "journal")
        found = [(self.project.memory_dir / name, anchor) for name in memory_folders]
        run_folders = self.state / "workspace"
        found += [(path, state_anchor) for path in (self.state, self.review, run_folders)]
        with suppress(OSError):
            found += [(path, state_anchor) for path in run_folders.iterdir()]
        in_home = (private, private / "quotes", private / "windows", private / "summary-parts", self.home.root)
        found += [(path, self.home.root) for path in in_home]
        return found if self.project.is_personal else [*found, *self.personal().written_folders()]

    def make_state_folder(self) -> None:
        """Creates the state folder if it is missing. Raises MemoryError_, BoundaryError."""
        if self.state == self.private:
            self.make_private_folder()
        else:
            folder.make_lerim_folder(self.state)

    def make_private_folder(self) -> None:
        """Creates the private folder if it is missing, readable only by the person. Raises MemoryError_."""
        try:
            make_private_folder(self.home, self.private)
        except OSError as error:
            message = f"This folder cannot be created: {error_reason(error)}."
            raise MemoryError_(message, where=str(self.private), todo=_HOME_TODO) from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the project's review lock. The system releases it when the process dies. Raises BusyError if another
        process holds it for ten seconds, MemoryError_."""
        self.make_private_folder()
        lock = FileLock(self.private / "review.lock", timeout=_WAIT_SECONDS, mode=0o600)
        try:
            lock.acquire()
        except Timeout as error:
            todo = "Wait for it to end, then try again."
            raise BusyError(
                "Another process is changing this project's review.", where=lock.lock_file, todo=todo
            ) from error
        except OSError as error:
            message = f"The review cannot be locked: {error_reason(error)}."
            raise MemoryError_(message, where=str(self.private), todo=_HOME_TODO) from error
        try:
            yield
        finally:
            lock.release()

    def candidate_path(self, candidate_id: str) -> Path:
        """Returns the path of a candidate's file. Raises BoundaryError if a part of it is a symbolic link."""
        return files.resolve_inside(self.state_anchor, self.review / f"{candidate_id}.md")


def _make_lerim_sentence_test(
    private: Path, moves: Sequence[tuple[str, str]], memory_id: str, text_hash: str
) -> IsWrittenByLerim:
    """Returns a function that says whether Lerim wrote a sentence of this memory. `text_hash` is the hash of the text
    of the memory's file.

    If no person edited the text, Lerim wrote all of its sentences; otherwise it wrote the sentences of the claims
    that were accepted into the memory. Raises MemoryError_ if the ledger cannot be used.
    """
    if files.is_absent(private / "review.sqlite3"):
        return never_written_by_lerim
    with open_ledger(private, moves) as ledger:
        if ledger.is_ours(text_hash):
            return lambda _: True
        accepted_claims = [
            ledger.load_proposed(one.id) for one in ledger.claims_about([memory_id]) if one.state == "accepted"
        ]
    texts = [
        text for claim in accepted_claims if claim is not None for text in (claim.title, f"{claim.title}.", claim.body)
    ]
    lerim_sentences = {sentence for text in texts for sentence in split_sentences(text)}
    return lerim_sentences.__contains__
