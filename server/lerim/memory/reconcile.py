"""What a candidate is to the memories there are: new, nothing new, a change of one of them, or in place of one.

Two claims are compared in the order of their turns, whichever was synced first, so that of two that contradict each
other the later one wins in any order (`contrast.py` has the measure, docs/MEMORY_FORMAT.md the table). Alike is not
the same: where each title has a word the other claim lacks (`make check`, `make ci`), they are two rules, and both
stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Literal

from lerim.extraction.candidate import Candidate
from lerim.memory.answers import answers
from lerim.memory.contrast import Contrast, Said, contrast, read, reworded, spans
from lerim.memory.order import reordered
from lerim.memory.record import MemoryRecord
from lerim.memory.stance import on_one_ground, restated, stance
from lerim.memory.substance import differ

UPDATE_FROM = 0.72
"""From here on what one claim adds to another is surely a change of it; a value that changed from `CONTAINED_FROM`."""
CONTAINED_FROM = 0.5
DOUBTED_BELOW = 0.3
"""Where the cues speak so little for it, words alone do not surely end a memory."""
BAND_FROM = 0.45
"""Two rules so alike, or so probably not apart, may be one, though each says what the other does not: somebody may
look."""
ENDED_FROM = 0.75
"""How probable it must be by its cues alone that a claim ends another, or changes it: chosen so that on the labelled
pairs not set aside nine of ten found so are right."""
CHANGED_FROM = 0.5
IN_BAND = 3
_WORD = re.compile(r"[^\W_]+")
SAID_LATER = "contradicted later"

Relation = Literal["same", "changed", "ended", "apart"]
_RANK: dict[Relation, int] = {"apart": 0, "changed": 1, "same": 1, "ended": 1}


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory near a candidate. `said` is the latest turn that says it, never before its `updated`."""

    record: MemoryRecord
    said: datetime


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of a candidate, and why.

    `target` is the memory to change (update), to end (supersede) or the one that already says it or has been said
    later (noop); None for add. `resolves` are the open questions it answers. `sure` is False between the clear cases:
    then `band` has the memories it may belong to, and the action is the one that loses nothing. With a `flag` (of a
    lead's decision) it waits for a person.
    """

    action: Literal["add", "update", "supersede", "noop"]
    target: MemoryRecord | None = None
    similarity: float = 0.0
    resolves: tuple[MemoryRecord, ...] = ()
    sure: bool = True
    band: tuple[MemoryRecord, ...] = ()
    reason: str = ""
    flag: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """How a candidate stands to one memory of its primitive; `by_cues`: its words do not tell it, `stance` does."""

    relation: Relation
    about: float
    sure: bool
    neighbour: Neighbour
    by_cues: bool = False


def relation(one: Said, other: Said) -> tuple[Relation, Contrast]:
    """What the later of two claims is to the earlier one, both as `contrast.read` gives them, and how they differ.

    same: it says nothing more, but for a few scattered words. ended: it affirms what the other denies, or denies what
    it affirms, of the same things. changed: only a number, version or date differs, or it says all of the other's
    title and more. apart: each title says what the other claim does not, or too little is common.
    """
    found = contrast(one, other)
    if one.claim == other.claim and not found.moved:
        return "changed" if _otherwise(one, other) else "same", found
    least = min(len(one.bare.title), len(other.bare.title))
    alike = found.about >= CONTAINED_FROM
    two = bool(found.lost and found.new)
    if found.reversed and (not two or found.same_ground) and len(found.shared) >= max(min(2, least), least / 2):
        return "ended", found
    if found.beside:
        return "apart", found
    if found.chosen_anew or (found.opposite and alike):
        return "ended", found
    if found.values and alike:
        return "changed", found
    if found.other_value and len(found.shared) > 1:
        return "ended", found
    if two or not alike:
        return "apart", found
    if found.hard or found.reversed or found.moved or found.new or not reworded(one, other, found.more):
        return "changed", found
    return "changed" if _otherwise(one, other) else "same", found


def _otherwise(one: Said, other: Said) -> bool:
    """Whether the words of single sentences tell apart what their bags of words do not."""
    return differ(one.written, other.written) or reordered(one.written, other.written)


def contradicts(later: MemoryRecord, older: MemoryRecord) -> bool:
    """Whether a later memory of the same primitive says the contrary of an older one on the same ground."""
    if later.primitive != older.primitive:
        return False
    return relation(read(older.title, older.body), read(later.title, later.body))[0] == "ended"


def decide(candidate: Candidate, neighbours: Iterable[Neighbour]) -> Decision:
    """Compare a candidate with the live memories near it, of its primitive for what it does to them; the nearest that
    is not `apart` from it decides. An older turn changes nothing: it is a noop with the reason `SAID_LATER`.

    A decision or learning resolves the open questions it answers, if it was said after them.
    """
    found: list[_Found] = []
    resolves: list[MemoryRecord] = []
    for neighbour in neighbours:
        memory = neighbour.record
        if memory.primitive == candidate.primitive:
            found.append(_compared(candidate, neighbour))
        elif memory.primitive == "question" and _settles(candidate, neighbour):
            resolves.append(memory)
    found.sort(key=lambda one: (_RANK[one.relation], not one.by_cues, one.about), reverse=True)
    near = [one for one in found if one.relation != "apart" or one.about >= BAND_FROM]
    best = found[0] if found and found[0].relation != "apart" else None
    sure = best.sure if best else not near
    band = () if sure else tuple(one.neighbour.record for one in near[:IN_BAND])
    if best is None:
        return Decision("add", resolves=tuple(resolves), sure=sure, band=band)
    older = candidate.time < best.neighbour.said
    action: Literal["update", "supersede", "noop"] = (
        "noop" if older or best.relation == "same" else "update" if best.relation == "changed" else "supersede"
    )
    return Decision(
        action,
        best.neighbour.record,
        round(best.about, 4),
        tuple(resolves),
        sure,
        band,
        SAID_LATER if older and best.relation != "same" else "",
    )


def _settles(candidate: Candidate, asked: Neighbour) -> bool:
    if candidate.primitive not in ("decision", "learning") or candidate.time <= asked.said:
        return False
    return answers(asked.record, candidate.title, candidate.body)


def _compared(candidate: Candidate, neighbour: Neighbour) -> _Found:
    memory = neighbour.record
    wanted, known = read(candidate.title, candidate.body), read(memory.title, memory.body)
    older = candidate.time < neighbour.said
    first, second = (wanted, known) if older else (known, wanted)
    ground = memory.primitive == "theme" and _worked_on_one(memory, candidate)
    if not candidate.replaces and not ground and not _starts(candidate.title) & _starts(memory.title):
        return _by_cues(first, second, 0.0, neighbour)
    what, found = relation(first, second)
    two = bool(found.lost and found.new)
    if not older and what != "same" and _put_in_place(candidate, wanted, known):
        # Two choices of one file or of none: else "instead of x in one.py" would end what is used in two.py.
        if what != "ended" and not _elsewhere(memory, candidate):
            return _Found("ended", found.about, True, neighbour)
        if what == "ended" and _in_one_place(memory, candidate):
            return _Found("ended", found.about, True, neighbour)
    if what == "apart" and ground:
        return _Found("ended", found.about, True, neighbour)
    if what == "apart" and not found.beside:
        return _by_cues(first, second, found.about, neighbour)
    sure = (
        what != "apart"
        and (what == "same" or not two)
        and found.about >= (UPDATE_FROM if what == "changed" and not found.values else CONTAINED_FROM)
        and (what != "ended" or found.chosen_anew or stance(first, second).ended >= DOUBTED_BELOW)
    )
    return _Found(what, found.about, sure, neighbour)


def _places(references: Iterable[str]) -> frozenset[str]:
    return frozenset(reference.partition("#")[0] for reference in references)


def _in_one_place(memory: MemoryRecord, candidate: Candidate) -> bool:
    """Whether both refer to a file, and to one in common."""
    return bool(_places(memory.references) & _places(candidate.references))


def _elsewhere(memory: MemoryRecord, candidate: Candidate) -> bool:
    """Whether the candidate names a file of its own, and the memory refers to others."""
    mine, theirs = _places(candidate.references), _places(memory.references)
    return bool(theirs) and not mine & theirs and any(place in candidate.title for place in mine)


def _worked_on_one(memory: MemoryRecord, candidate: Candidate) -> bool:
    """Whether two themes are about one ground: their titles name it in backticks, or half of the files that either
    refers to are the other's, too."""
    one, other = ({place.partition("#")[0] for place in places} for places in (memory.references, candidate.references))
    common = len(one & other)
    return bool(spans(memory.title) & spans(candidate.title) or (common and 2 * common >= max(len(one), len(other))))


def _by_cues(earlier: Said, later: Said, about: float, neighbour: Neighbour) -> _Found:
    """What two claims are whose words alone set them apart: never surely, and never the same."""
    if not on_one_ground(earlier, later):
        return _Found("apart", about, True, neighbour)
    likely = stance(earlier, later)
    about = max(about, min(1 - likely.apart, UPDATE_FROM))
    if likely.ended >= ENDED_FROM:
        return _Found("ended", about, False, neighbour, by_cues=True)
    if likely.changed >= CHANGED_FROM and restated(earlier, later):
        return _Found("changed", about, False, neighbour, by_cues=True)
    return _Found("apart", about, False, neighbour)


@lru_cache(maxsize=8192)
def _starts(title: str) -> frozenset[str]:
    """The beginnings of a title's words; two titles that share none are of two rules, whatever their texts share."""
    return frozenset(word[:3].lower() for word in _WORD.findall(title))


def _put_in_place(candidate: Candidate, wanted: Said, known: Said) -> bool:
    """Whether the candidate says that it puts its own in place of what this memory prefers, on the same ground: of the
    rest of the memory's title it says at least half, too. What the memory refuses is no ground that has to be said."""
    title = known.claim.title
    affirmed = frozenset(word for word in title if not word.startswith("!"))
    for value in candidate.replaces:
        words = read(value, "").bare.title
        rest = affirmed - words
        if words and words <= title and 2 * len(rest & wanted.bare.words) >= len(rest):
            return True
    return False
