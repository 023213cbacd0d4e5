"""What a person types for the id of a memory or candidate: all of it, or a beginning that no other id has."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from pathlib import PurePath

from lerim.errors import NotFoundError, UsageError
from lerim.memory import find_memory_files
from lerim.review import ReviewPaths, queue

MAX_LISTED = 5
DATE_PREFIX_LENGTH = len("20260801-")


def make_memory_id_finder(paths: ReviewPaths) -> Callable[[str], str]:
    """Gives the id of the memory, live or archived, that the text is the beginning of; the text itself where no memory
    is near it, for what then looks it up. Raises UsageError where several begin so, NotFoundError with the nearest."""
    store = paths.store()
    ids = {PurePath(one.name).stem for one in find_memory_files(store.memory_dir, store.anchor, archived=True)[0]}

    def find_id(typed: str) -> str:
        if not paths.project.is_personal and paths.personal().store().path_of(typed) is not None:
            return typed  # what looks it up says that it is the person's own
        return _complete_id(typed, ids, "memory", "lerim memory list")

    return find_id


def make_candidate_id_finder(paths: ReviewPaths) -> Callable[[str], str]:
    """The same of the candidates that wait; one that was decided is named by all of its id. What would change a memory
    is called like it, and a number: the memory's own id names no candidate."""
    states = queue.claim_states(paths)
    ids = {one for one, state in states.items() if state == "pending"}
    store = paths.store()

    def find_id(typed: str) -> str:
        if typed in states:
            return typed
        if store.path_of(typed) is not None:
            similar = ", ".join(sorted(one for one in ids if one.startswith(typed))[:MAX_LISTED])
            todo = f"Give the whole id: {similar}." if similar else "See `lerim review list`."
            raise NotFoundError(f"{typed[:80]!r} is a memory, not a candidate.", todo=todo)
        return _complete_id(typed, ids, "candidate", "lerim review list")

    return find_id


def shortest_prefix(one: str, ids: Collection[str]) -> str:
    """The shortest beginning of an id, of whole words and with the first of them, that no other of `ids` has; the whole
    of one that differs by a number at its end from what may be a memory's."""
    others = [other for other in ids if other != one]
    words = one[DATE_PREFIX_LENGTH:].split("-")
    for count in range(1, len(words) - words[-1].isdigit()):
        prefix = one[:DATE_PREFIX_LENGTH] + "-".join(words[:count])
        if not any(other.startswith(prefix) for other in others):
            return prefix
    return one


def _complete_id(typed: str, ids: Collection[str], noun: str, list_command: str) -> str:
    if typed in ids or not typed:
        return typed
    found = sorted(one for one in ids if one.startswith(typed))
    if len(found) == 1:
        return found[0]
    if found:
        listing = ", ".join(found[:MAX_LISTED]) + (
            f" and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
        )
        raise UsageError(
            (f"Several ids of a {noun} begin with {typed[:80]!r}: {listing}."), todo="Give more characters of the id."
        )
    ids_by_prefix = {part[: len(typed)]: one for one in sorted(ids) for part in (one[DATE_PREFIX_LENGTH:], one)}
    similar = difflib.get_close_matches(typed[:100], ids_by_prefix, n=1)
    if similar:
        todo = f"The nearest is {ids_by_prefix[similar[0]]!r}; `{list_command}` lists them all."
        raise NotFoundError(f"There is no {noun} {typed[:80]!r}.", todo=todo)
    return typed
