"""One memory's file under the review lock, and the actions that change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lerim.errors import MemoryError_, NotFoundError, StaleError
from lerim.memory import (
    HeaderValue,
    MemoryRecord,
    Primitive,
    Status,
    Store,
    lifecycle,
    parse_record,
    record,
    status_of,
)
from lerim.review import actions
from lerim.review.accepting import note_kept
from lerim.review.ledger import Action, ActionKind, FileChange, Ledger
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths

UNCHANGED_MESSAGE = "Nothing was changed."
_MAX_TRIES = 4
_KEEPING_ACTS: tuple[ActionKind, ...] = ("change", "restore", "kind", "verify", "join")
"""What a person does only with a memory that shall stay."""


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """A memory's file while the review lock is held. `text` is the file's, `record` what it says."""

    place: ReviewPaths
    book: Ledger
    store: Store
    path: Path
    text: str
    record: MemoryRecord

    @property
    def archived(self) -> bool:
        return self.path.is_relative_to(self.store.memory_dir / "archived")

    @property
    def status(self) -> Status:
        return status_of(self.record, self.archived)

    def may(self, status: Status, primitive: Primitive | None = None) -> bool:
        """Whether it can come to be in this status, by the table of the lives of memories."""
        return lifecycle.is_transition_allowed(self.status, status, primitive or self.record.primitive)

    def rewritten(self, text: str) -> FileChange:
        """The change of its text."""
        return file_change(self.store, self.path, self.text, text)

    def moved(self, to: Path, text: str | None = None) -> list[FileChange]:
        """The change of its place: the new file first, so that no instant is without it."""
        if to == self.path:
            return [self.rewritten(self.text if text is None else text)]
        return [
            file_change(self.store, to, None, self.text if text is None else text),
            file_change(self.store, self.path, self.text, None),
        ]

    def updated(self, changes: dict[str, HeaderValue], body: str | None = None) -> str:
        """Its text with other values of these keys. Raises MemoryError_."""
        return record.update_record_text(self.text, changes, body, str(self.path))

    def do(self, kind: ActionKind, label: str, changes: Sequence[FileChange], path: Path | None = None) -> ReviewResult:
        """Perform it. Raises StaleError, MemoryError_."""
        return perform_act(self.place, self.book, kind, label, changes, self.record.id, path or self.path)


def perform_act(
    place: ReviewPaths,
    book: Ledger,
    kind: ActionKind,
    label: str,
    changes: Sequence[FileChange],
    memory: str,
    path: Path,
) -> ReviewResult:
    """Perform an act by hand and say so."""
    action = actions.perform_action(place, book, kind, label, "", ("accepted", "accepted"), changes, memory)
    if kind in _KEEPING_ACTS:
        note_kept(place, memory)
    return ReviewResult(True, kind, label, action.id, str(path))


def file_change(store: Store, path: Path, before: str | None, after: str | None) -> FileChange:
    """A change of a memory's file."""
    return FileChange("memory", str(store.anchor), str(path), before, after)


@contextmanager
def hold_memory(place: ReviewPaths, memory_id: str) -> Iterator[HeldMemory]:
    """A memory by its id, and the review lock. Raises NotFoundError, MemoryError_, BusyError."""
    with actions.locked_ledger(place) as book:
        store = place.store()
        paths = store.paths_of(memory_id)
        names = {str(path) for path in paths}
        actions.require_finished(place, book, _changes_any_of(names))
        if not paths:
            raise _unknown_memory(place, memory_id)
        if len(paths) > 1:
            todo = f"Merge them with `lerim memory merge {memory_id}`, or move one away."
            raise MemoryError_("Two files have this id.", where=str(paths[0]), todo=todo)
        text = store.read_text(paths[0])
        yield HeldMemory(place, book, store, paths[0], text, parse_record(text, paths[0]))


def _changes_any_of(names: set[str]) -> Callable[[Action], bool]:
    return lambda action: any(one.path in names for one in action.changes)


def _unknown_memory(place: ReviewPaths, memory_id: str) -> NotFoundError:
    todo = "See `lerim memory list`."
    own = place.personal()
    if not place.project.is_personal and own.store().path_of(memory_id):
        todo = "It is one of your own, which belong to no repository: add --global."
    return NotFoundError(f"There is no memory {memory_id[:80]!r}.", where=str(place.project.memory_dir), todo=todo)


def current_second() -> datetime:
    """The time now (UTC), without microseconds."""
    return datetime.now(UTC).replace(microsecond=0)


def retry_if_stale(place: ReviewPaths, memory_id: str, act: Callable[[HeldMemory], ReviewResult]) -> ReviewResult:
    """Does what goes for a memory whatever its text says: if a person saves it meanwhile, it starts over."""
    for _ in range(_MAX_TRIES):
        with suppress(StaleError), hold_memory(place, memory_id) as memory:
            return act(memory)
    with hold_memory(place, memory_id) as memory:
        return act(memory)
