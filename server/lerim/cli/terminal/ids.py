"""What a person types for the id of a memory or candidate: all of it, or a beginning that no other id has."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from pathlib import PurePath

from lerim.errors import NotFoundError, UsageError
from lerim.memory import find_memory_files
from lerim.review import ReviewPaths, queue

_TOLD = 5
_DAY = len("20260801-")


def make_memory_id_finder(place: ReviewPaths) -> Callable[[str], str]:
    """Gives the id of the memory, live or archived, that the text is the beginning of; the text itself where no memory
    is near it, for what then looks it up. Raises UsageError where several begin so, NotFoundError with the nearest."""
    store = place.store()
    ids = {PurePath(one.name).stem for one in find_memory_files(store.memory_dir, store.anchor, archived=True)[0]}

    def named(given: str) -> str:
        if not place.project.is_personal and place.personal().store().path_of(given) is not None:
            return given  # what looks it up says that it is the person's own
        return _named(given, ids, "memory", "lerim memory list")

    return named


def make_candidate_id_finder(place: ReviewPaths) -> Callable[[str], str]:
    """The same of the candidates that wait; one that was decided is named by all of its id. What would change a memory
    is called like it, and a number: the memory's own id names no candidate."""
    states = queue.claim_states(place)
    ids = {one for one, state in states.items() if state == "pending"}
    store = place.store()

    def named(given: str) -> str:
        if given in states:
            return given
        if store.path_of(given) is not None:
            near = ", ".join(sorted(one for one in ids if one.startswith(given))[:_TOLD])
            todo = f"Give the whole id: {near}." if near else "See `lerim review list`."
            raise NotFoundError(f"{given[:80]!r} is a memory, not a candidate.", todo=todo)
        return _named(given, ids, "candidate", "lerim review list")

    return named


def shortest_prefix(one: str, ids: Collection[str]) -> str:
    """The shortest beginning of an id, of whole words and with the first of them, that no other of `ids` has; the whole
    of one that differs by a number at its end from what may be a memory's."""
    others = [other for other in ids if other != one]
    words = one[_DAY:].split("-")
    for count in range(1, len(words) - words[-1].isdigit()):
        head = one[:_DAY] + "-".join(words[:count])
        if not any(other.startswith(head) for other in others):
            return head
    return one


def _named(given: str, ids: Collection[str], what: str, where: str) -> str:
    if given in ids or not given:
        return given
    found = sorted(one for one in ids if one.startswith(given))
    if len(found) == 1:
        return found[0]
    if found:
        told = ", ".join(found[:_TOLD]) + (f" and {len(found) - _TOLD} more" if len(found) > _TOLD else "")
        raise UsageError(
            (f"Several ids of a {what} begin with {given[:80]!r}: {told}."), todo="Give more characters of the id."
        )
    heads = {part[: len(given)]: one for one in sorted(ids) for part in (one[_DAY:], one)}
    near = difflib.get_close_matches(given[:100], heads, n=1)
    if near:
        todo = f"The nearest is {heads[near[0]]!r}; `{where}` lists them all."
        raise NotFoundError(f"There is no {what} {given[:80]!r}.", todo=todo)
    return given
