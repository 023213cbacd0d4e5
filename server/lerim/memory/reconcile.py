"""What a candidate is to the memories there are: something new, a change of one of them, or nothing new.

similarity = (overlap(titles) + overlap(titles and bodies)) / 2, where overlap is 2·|common| / (|one| + |other|) over
the sets of normalised words (`claim.py`); for `update` denials are left out, so that a reversal changes the memory it
reverses. Alike is not the same: where each title has a word the other lacks (`make check`, `make ci`), they are two
rules, and both stand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lerim.extraction.candidate import Candidate
from lerim.memory.claim import another, bare, claim, similarity
from lerim.memory.record import MemoryRecord

UPDATE_FROM = 0.72
SAME_FROM = 0.9


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
    then `band` has the memories it may belong to, and the action is the one that loses nothing.
    """

    action: Literal["add", "update", "supersede", "noop"]
    target: MemoryRecord | None = None
    similarity: float = 0.0
    resolves: tuple[MemoryRecord, ...] = ()
    sure: bool = True
    band: tuple[MemoryRecord, ...] = ()
    reason: str = ""


def decide(candidate: Candidate, neighbours: Iterable[Neighbour]) -> Decision:
    """Compare a candidate with the live memories near it; of its primitive the most similar decides.

    noop: at least 0.9 alike with the same denials, and all code, paths, numbers, flags and names of the candidate are
    there; or an update by an older turn, because the later turn wins. update: at least 0.72 alike, and no other rule
    (`claim.another`). add: everything else.
    """
    wanted = claim(candidate.title, candidate.body)
    best = Decision("add")
    for neighbour in neighbours:
        memory = neighbour.record
        if memory.primitive != candidate.primitive:
            continue
        known = claim(memory.title, memory.body)
        about = similarity(bare(wanted), bare(known))
        if about < UPDATE_FROM or about < best.similarity or another(wanted, known):
            continue
        same = similarity(wanted, known) >= SAME_FROM and wanted.hard <= known.words
        older = candidate.time < neighbour.said
        action: Literal["update", "noop"] = "noop" if same or older else "update"
        reason = "" if same or not older else "said otherwise later"
        best = Decision(action, memory, round(about, 4), reason=reason)
    return best
