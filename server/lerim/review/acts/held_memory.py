"""A memory held under the review lock, and the functions that perform actions on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lerim.errors import MemoryError_, NotFoundError, StaleError
from lerim.memory import HeaderValue, MemoryRecord, Primitive, Status, Store, lifecycle, parse_record, record, status_of
from lerim.review import actions
from lerim.review.accepting import file_change, record_kept
from lerim.review.ledger import Action, ActionKind, FileChange, Ledger
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths

UNCHANGED_MESSAGE = "Nothing was changed."
_MAX_TRIES = 4
_KEEPING_ACTS: tuple[ActionKind, ...] = ("change", "restore", "kind", "verify", "join")
"""Actions that show that the person wants to keep the memory."""


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """A memory under the review lock: the `text` of its file and the `record` parsed from it."""

    paths: ReviewPaths
    ledger: Ledger
    store: Store
    path: Path
    text: str
    record: MemoryRecord

    @property
    def is_archived(self) -> bool:
        return self.path.is_relative_to(self.store.memory_dir / "archived")

    @property
    def status(self) -> Status:
        return status_of(self.record, self.is_archived)

    def can_become(self, status: Status, primitive: Primitive | None = None) -> bool:
        """Returns whether the lifecycle allows a transition to this status."""
        return lifecycle.is_transition_allowed(self.status, status, primitive or self.record.primitive)

    def rewrite_change(self, text: str) -> FileChange:
        """Returns the file change that replaces the memory's text."""
        return file_change(self.store, self.path, self.text, text)

    def move_changes(self, to: Path, text: str | None = None) -> list[FileChange]:
        """Returns the file changes that move the memory. The new file is written first, so that the memory always
        exists."""
        if to == self.path:
            return [self.rewrite_change(self.text if text is None else text)]
        return [
            file_change(self.store, to, None, self.text if text is None else text),
            file_change(self.store, self.path, self.text, None),
        ]

    def updated_text(self, changes: dict[str, HeaderValue], body: str | None = None) -> str:
        """Returns the memory's text with these keys changed. Raises MemoryError_."""
        return record.update_record_text(self.text, changes, body, str(self.path))

    def perform(
        self, kind: ActionKind, label: str, changes: Sequence[FileChange], path: Path | None = None
    ) -> ReviewResult:
        """Performs an action on this memory. Raises StaleError, MemoryError_."""
        return perform_act(self.paths, self.ledger, kind, label, changes, self.record.id, path or self.path)


def perform_act(
    paths: ReviewPaths,
    ledger: Ledger,
    kind: ActionKind,
    label: str,
    changes: Sequence[FileChange],
    memory: str,
    path: Path,
) -> ReviewResult:
    """Performs a manual action and returns its result."""
    action = actions.perform_action(paths, ledger, kind, label, "", ("accepted", "accepted"), changes, memory)
    if kind in _KEEPING_ACTS:
        record_kept(paths, memory)
    return ReviewResult(True, kind, label, action.id, str(path))


@contextmanager
def hold_memory(paths: ReviewPaths, memory_id: str) -> Iterator[HeldMemory]:
    """Holds the review lock and loads a memory by its id. Raises NotFoundError, MemoryError_, BusyError."""
    with actions.locked_ledger(paths) as ledger:
        store = paths.store()
        memory_files = store.paths_of(memory_id)
        names = {str(path) for path in memory_files}
        actions.require_finished(paths, ledger, _changes_any_of(names))
        if not memory_files:
            raise _unknown_memory(paths, memory_id)
        if len(memory_files) > 1:
            todo = f"Merge them with `lerim memory merge {memory_id}`, or move one away."
            raise MemoryError_("Two files have this id.", where=str(memory_files[0]), todo=todo)
        text = store.read_text(memory_files[0])
        yield HeldMemory(paths, ledger, store, memory_files[0], text, parse_record(text, memory_files[0]))


def _changes_any_of(names: set[str]) -> Callable[[Action], bool]:
    return lambda action: any(one.path in names for one in action.changes)


def _unknown_memory(paths: ReviewPaths, memory_id: str) -> NotFoundError:
    todo = "See `lerim memory list`."
    own = paths.personal()
    if not paths.project.is_personal and own.store().path_of(memory_id):
        todo = "It is one of your own, which belong to no repository: add --global."
    return NotFoundError(f"There is no memory {memory_id[:80]!r}.", where=str(paths.project.memory_dir), todo=todo)


def current_second() -> datetime:
    """Returns the current time (UTC), without microseconds."""
    return datetime.now(UTC).replace(microsecond=0)


def retry_if_stale(paths: ReviewPaths, memory_id: str, act: Callable[[HeldMemory], ReviewResult]) -> ReviewResult:
    """Performs an action that does not depend on the memory's text. Retries it if a person saves the file meanwhile."""
    for _ in range(_MAX_TRIES):
        with suppress(StaleError), hold_memory(paths, memory_id) as memory:
            return act(memory)
    with hold_memory(paths, memory_id) as memory:
        return act(memory)
