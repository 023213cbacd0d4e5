"""Completes the id of a memory or candidate from a prefix that no other id has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import takewhile
from pathlib import PurePath

from lerim.errors import NotFoundError, UsageError
from lerim.memory import find_memory_files
from lerim.review import ReviewPaths, queue

MAX_LISTED = 5
DATE_PREFIX_LENGTH = len("20260801-")


def make_memory_id_finder(paths: ReviewPaths) -> Callable[[str], str]:
    """Returns a function that completes the prefix of a memory's id, active or archived.

    The function returns the text unchanged if no id is similar; the later lookup then fails. It raises UsageError if
    several ids have the prefix, and NotFoundError with a suggestion if an id is similar.
    """
    store = paths.store()
    ids = {PurePath(one.name).stem for one in find_memory_files(store.memory_dir, store.anchor, archived=True)[0]}

    def find_id(typed: str) -> str:
        if not paths.project.is_personal and paths.personal().store().path_of(typed) is not None:
            return typed  # the lookup says that it is a personal memory
        return _complete_id(typed, ids, "memory", "lerim memory list")

    return find_id


def make_candidate_id_finder(paths: ReviewPaths) -> Callable[[str], str]:
    """Returns a function that completes the prefix of a pending candidate's id, like `make_memory_id_finder`.

    The prefix of a candidate that was already decided on counts only if no waiting candidate has it. A candidate
    that would change a memory has the memory's id plus a number, so the memory's own id names no candidate.
    """
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
        decided = [one for one in states if typed and one.startswith(typed)]
        return decided[0] if len(decided) == 1 else _complete_id(typed, ids, "candidate", "lerim review list")

    return find_id


def shortest_prefix(full_id: str, ids: Collection[str]) -> str:
    """Returns the shortest prefix of an id that no other of `ids` has.

    It consists of whole words, at least one. A number at the end is never cut off alone, because the id without it
    may be that of a memory.
    """
    others = [other for other in ids if other != full_id]
    words = full_id[DATE_PREFIX_LENGTH:].split("-")
    for count in range(1, len(words) - words[-1].isdigit()):
        prefix = full_id[:DATE_PREFIX_LENGTH] + "-".join(words[:count])
        if not any(other.startswith(prefix) for other in others):
            return prefix
    return full_id


def _complete_id(typed: str, ids: Collection[str], noun: str, list_command: str) -> str:
    if typed in ids or not typed:
        return typed
    matches = sorted(one for one in ids if one.startswith(typed))
    if len(matches) == 1:
        return matches[0]
    if matches:
        listing = ", ".join(matches[:MAX_LISTED]) + (
            f" and {len(matches) - MAX_LISTED} more" if len(matches) > MAX_LISTED else ""
        )
        raise UsageError(
            f"Several {noun} ids begin with {typed[:80]!r}: {listing}.", todo="Give more characters of the id."
        )
    if similar := _find_similar_ids(typed, ids):
        todo = f"Did you mean {' or '.join(similar[:MAX_LISTED])}? `{list_command}` lists them all."
        raise NotFoundError(f"There is no {noun} {typed[:80]!r}.", todo=todo)
    return typed


def _find_similar_ids(typed: str, ids: Collection[str]) -> list[str]:
    """Returns the ids that begin with the most words of what was typed, with or without a day; none if not even the
    first word of the title is the same."""
    words = typed.split("-")
    given = words[1:] if words[0].isdigit() else words
    shared = {one: _count_same(given, one[DATE_PREFIX_LENGTH:].split("-")) for one in ids}
    most = max(shared.values(), default=0)
    return sorted(one for one, count in shared.items() if count == most) if most else []


def _count_same(first: Sequence[str], second: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
