"""One memory out of two: a file in which git left both sides of a merge, or two files of one id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lerim.errors import MemoryError_, NotFoundError
from lerim.memory.conflicts import sides
from lerim.memory.record import parse
from lerim.memory.store import Store
from lerim.memory.twins import joined_text, later
from lerim.review import actions
from lerim.review.acts import change, done
from lerim.review.decisions import ReviewResult
from lerim.review.ledger import Change
from lerim.review.place import Place
from lerim.review.rewrite import difference


@dataclass(frozen=True, slots=True)
class Joined:
    """How a memory's file changes when both sides become one. `result` is what was done, None for a preview."""

    diff: str
    result: ReviewResult | None = None


def merge_conflict(place: Place, path: Path, *, preview: bool = False) -> Joined:
    """Join both sides of a memory's file that has conflict markers, or the files that have the id of this one.

    Nothing is written for a `preview`. Raises NotFoundError where there is nothing to join, MemoryError_ where a side
    is no memory, StaleError, BusyError, BoundaryError.
    """
    if preview:
        changes, _ = _joining(place.store(), path)
        return Joined(_difference(changes))
    with actions.ledger(place) as book:
        store = place.store()
        changes, kept = _joining(store, path)
        title = parse(changes[0].after or "", kept).title
        result = done(place, book, "join", f"Joined: {title}", changes, kept.stem, kept)
        return Joined(_difference(changes), result)


def _joining(store: Store, path: Path) -> tuple[list[Change], Path]:
    """What joins all there is of an id: the change of the file that stays first, and that file."""
    store.name(path)
    paths = store.paths_of(path.stem)
    if not paths:
        raise NotFoundError(f"There is no memory {path.stem[:80]!r}.", where=str(path), todo="Look at the list again.")
    texts = {one: store.text(one) for one in paths}
    found = [(one, side) for one in paths for side in sides(texts[one]) or (texts[one],)]
    if len(found) == 1:
        todo = "Nothing is to be joined."
        raise MemoryError_("Only one file has this id, and git left no conflict in it.", where=str(paths[0]), todo=todo)
    kept, text = found[0]
    for other, side in found[1:]:
        if later(parse(text, kept), parse(side, other)):
            kept = other
        text = joined_text(text, side, kept)
    record = parse(text, kept)
    live = [one for one in paths if not one.is_relative_to(store.memory_dir / "archived")]
    if record.superseded_by or record.resolved_by:
        kept = store.place(record, archived=True)
    elif live and kept not in live:
        kept = live[0]
    changes = [change(store, kept, texts.get(kept), text)]
    changes += [change(store, one, texts[one], None) for one in paths if one != kept]
    return changes, kept


def _difference(changes: Sequence[Change]) -> str:
    parts = [difference(one.before or "", one.after or "", Path(one.path).name) for one in changes]
    return "\n".join(part for part in parts if part)
