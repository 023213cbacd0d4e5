"""What a candidate is to the memories that exist: what its own words suggest, and the memories near it.

Two texts say the same only if they are equal once normalised (`claims/similarity.py`). Everything else is an addition
that is shown with its neighbours, and a person, or a model before them, says what it is to each. A candidate suggests
by itself that it takes a memory's place only if it says what is given up and a neighbour's title holds that.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from lerim.errors import BoundaryError, MemoryError_
from lerim.extraction import Candidate
from lerim.memory import MemoryRecord, MemorySearch, Store, StoredMemory, normalise_claim, strip_boilerplate, word_stems
from lerim.review.comparing.neighbour_choices import NeighbourAnswer

MAX_SHOWN_NEIGHBOURS = 3
"""How many neighbours of a candidate are shown."""
MAX_SEARCHED_NEIGHBOURS = 10
"""How many neighbours are searched for one with the same text."""
MIN_NEAR_SIMILARITY = 0.3
"""Minimum similarity at which a neighbour prevents automatic acceptance of a candidate."""

_GIVES_UP = re.compile(
    r"\b(?:instead of|rather than|in place of|(?:don['’]?t|do not|not) use"
    r"|no longer(?: (?:use|uses|using|need|needs|want|wants|run|runs|call|calls))?"
    r"|(?:switch|mov|migrat|chang)(?:e|ed|es|ing) (?:over |away )?from|replac(?:e|es|ed|ing)|supersed(?:e|es|ed|ing)"
    r"|drop(?:s|ped|ping)?|stop(?:s|ped|ping)? using|g[eo]t rid of|giv(?:e|es|ing) up|gave up)"
    r" +(?P<what>[^.,;:()\n]{1,80})",
    re.IGNORECASE,
)
"""Matches phrases that come before the thing given up."""
_GIVEN_UP = re.compile(
    r"(?P<what>[^.,;:()\n]{1,80}?) +(?:is|are|was|were|has been|have been) +(?:now +)?"
    r"(?:no longer\b|replaced (?:by|with)\b|superseded by\b|obsolete\b|retired\b|dropped\b|gone\b)",
    re.IGNORECASE,
)
"""Matches phrases that come after the thing given up."""
_ENDS_THERE = re.compile(
    r" +(?:to|with|by|in favou?r of|because|since|for|and|but|when|where|so|in|on|any ?more|any longer)\b.*",
    re.IGNORECASE,
)
_NOT = re.compile(r"(?:\b(?:not|never|without)|n['’]t) +$", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|never|no(?!,)|without|avoid|instead of|rather than)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NearMemory:
    """An active memory near a candidate. `similarity` is from 0 to 1."""

    stored: StoredMemory
    similarity: float


@dataclass(frozen=True, slots=True)
class SuggestedAnswer:
    """A suggested answer for a memory, with its reason as a sentence."""

    answer: NeighbourAnswer
    memory: MemoryRecord
    reason: str


def find_neighbours(
    memories: MemorySearch,
    store: Store,
    title: str,
    body: str,
    most: int = MAX_SHOWN_NEIGHBOURS,
    skip: Container[str] = (),
) -> tuple[NearMemory, ...]:
    """The active memories of this store near a claim, the most similar first; those in `skip` are left out."""
    found: list[NearMemory] = []
    for one in memories.nearest(title, strip_boilerplate(body), most, skip, own=True):
        path = store.path_of(one.id)
        if path is not None:
            with suppress(MemoryError_, BoundaryError):  # it is reported with the memories
                stored = store.load(path)[0]
                found += [NearMemory(stored, one.similarity)] if stored.status == "active" else []
    return tuple(found)


def says_the_same(candidate: Candidate, memory: MemoryRecord) -> bool:
    """Whether a memory has the text of a candidate, once both are normalised."""
    if candidate.primitive != memory.primitive:
        return False
    return normalise_claim(candidate.title, strip_boilerplate(candidate.body)) == normalise_claim(
        memory.title, strip_boilerplate(memory.body)
    )


def suggest_from_words(
    candidate: Candidate, near: Iterable[MemoryRecord], said: Mapping[str, datetime]
) -> SuggestedAnswer | None:
    """What the candidate's own words suggest: that it replaces a memory whose title holds what the candidate gives up,
    or answers it, where that is a question. The nearest such memory counts.

    `said` has the time of the latest turn that says a memory, where the ledger knows it. A candidate of an earlier turn
    suggests nothing.
    """
    if candidate.primitive == "question":
        return None
    given_up = [*candidate.replaces, *find_given_up(candidate.title), *find_given_up(strip_boilerplate(candidate.body))]
    for memory in near:
        latest = max(memory.updated, said.get(memory.id, memory.updated))
        if candidate.time < latest or memory.primitive not in (candidate.primitive, "question"):
            continue
        held = word_stems(_DENIES.split(memory.title)[0] if memory.primitive != "question" else memory.title)
        for what in given_up:
            if (words := word_stems(what)) and words <= held:
                answer: NeighbourAnswer = "answers" if memory.primitive == "question" else "replaces"
                return SuggestedAnswer(answer, memory, f"It says that “{what.strip()}” no longer holds.")
    return None


def find_given_up(text: str) -> Iterator[str]:
    """What a text says is given up, in its words: `pip` of "Use uv instead of pip", `retry uploads` of "We no longer
    retry uploads"."""
    for pattern in (_GIVES_UP, _GIVEN_UP):
        for found in pattern.finditer(text):
            if pattern is _GIVES_UP and _NOT.search(text[max(0, found.start() - 12) : found.start()]):
                continue
            what = _ENDS_THERE.sub("", found["what"]) if pattern is _GIVES_UP else found["what"]
            if what.strip(" `\"'“”"):
                yield what.strip(" `\"'“”")
