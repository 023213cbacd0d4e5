"""Compares a candidate with existing memories: finds the memories near it, and what its own words suggest about them.

Two texts say the same only if they are equal after normalisation (`similarity.py`). Any other candidate is an
addition that is shown with its neighbours; a person, or a model before them, decides how it relates to each. A
candidate by itself suggests replacing a memory only if it names what is given up and the memory's title contains that.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from lerim.errors import BoundaryError, MemoryError_
from lerim.extraction import Candidate
from lerim.memory import (
    MemoryRecord,
    MemorySearch,
    Store,
    StoredMemory,
    claim_text,
    strip_boilerplate,
    without_replied_to,
    word_stems,
)
from lerim.review.decisions import NeighbourAnswer

MAX_SHOWN_NEIGHBOURS = 3
"""Maximum number of neighbours that are shown with a candidate."""
MAX_SEARCHED_NEIGHBOURS = 10
"""Maximum number of neighbours that are checked for the same text."""
MIN_NEAR_SIMILARITY = 0.3
"""Minimum similarity at which a neighbour prevents automatic acceptance of a candidate."""

_BEFORE_GIVEN_UP = re.compile(
    r"\b(?:instead of|rather than|in place of|(?:don['’]?t|do not|not) use"
    r"|no longer(?! \w+ed\b)(?: (?:use|uses|using|need|needs|want|wants|run|runs|call|calls))?"
    r"|(?:switch|(?:switch|mov|migrat|chang)(?:e|ed|es|ing)) (?:over |away )?from"
    r"|replac(?:e|es|ed|ing)|supersed(?:e|es|ed|ing)"
    r"|drop(?:s|ped|ping)?|stop(?:s|ped|ping)? using|g[eo]t rid of|giv(?:e|es|ing) up|gave up)"
    r" +(?P<what>[^.,;:()\n]{1,80})",
    re.IGNORECASE,
)
"""Matches phrases that precede the thing that is given up."""
_AFTER_GIVEN_UP = re.compile(
    r"(?P<what>[^.,;:()\n]{1,80}?) +(?:is|are|was|were|has been|have been) +(?:now +)?"
    r"(?:no longer\b|replaced (?:by|with)\b|superseded by\b|obsolete\b|retired\b|dropped\b|gone\b)",
    re.IGNORECASE,
)
"""Matches phrases that follow the thing that is given up."""
_PHRASE_END = re.compile(
    r" +(?:to|with|by|in favou?r of|because|since|for|and|but|when|where|so|in|on|any ?more|any longer)\b.*",
    re.IGNORECASE,
)
_NEGATED_BEFORE = re.compile(r"(?:\b(?:not|never|without)|n['’]t) +$", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|never|no(?!,)|without|avoid|instead of|rather than)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NearMemory:
    """An active memory that is similar to a candidate. `similarity` is from 0 to 1."""

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
    """Returns the active memories of this store near a claim, the most similar first: at most `most`, without the
    ids in `skip`."""
    found: list[NearMemory] = []
    for one in memories.nearest(title, strip_boilerplate(without_replied_to(body)), most, skip):
        path = store.path_of(one.id)
        if path is not None:
            with suppress(MemoryError_, BoundaryError):  # the list of memories reports it
                stored = store.load(path)[0]
                found += [NearMemory(stored, one.similarity)] if stored.status == "active" else []
    return tuple(found)


def says_the_same(candidate: Candidate, memory: MemoryRecord) -> bool:
    """Returns whether a memory and a candidate have the same primitive and, after normalisation, the same text."""
    same_text = claim_text(candidate.title, candidate.body) == claim_text(memory.title, memory.body)
    return candidate.primitive == memory.primitive and same_text


def suggest_from_words(
    candidate: Candidate, near: Iterable[MemoryRecord], last_said: Mapping[str, datetime]
) -> SuggestedAnswer | None:
    """Returns the answer that the candidate's own words suggest: that it replaces a memory whose title contains what
    the candidate gives up, or answers that memory if it is a question. The first such memory in `near` counts.

    `last_said` has the time of the latest turn that states a memory, by memory id, if the ledger knows it. A
    candidate from an earlier turn than that suggests nothing.
    """
    if candidate.primitive == "question":
        return None
    given_up = [*candidate.replaces, *find_given_up(candidate.title), *find_given_up(strip_boilerplate(candidate.body))]
    for memory in near:
        latest = max(memory.updated, last_said.get(memory.id, memory.updated))
        if candidate.time < latest or memory.primitive not in (candidate.primitive, "question"):
            continue
        title_stems = word_stems(_NEGATION.split(memory.title)[0] if memory.primitive != "question" else memory.title)
        for phrase in given_up:
            if (words := word_stems(phrase)) and words <= title_stems:
                answer: NeighbourAnswer = "answers" if memory.primitive == "question" else "replaces"
                return SuggestedAnswer(answer, memory, f"It says that “{phrase.strip()}” no longer holds.")
    return None


def find_given_up(text: str) -> Iterator[str]:
    """Yields the things that a text says are given up, in its own words: `pip` for "Use uv instead of pip", `retry
    uploads` for "We no longer retry uploads"."""
    for pattern in (_BEFORE_GIVEN_UP, _AFTER_GIVEN_UP):
        for found in pattern.finditer(text):
            if pattern is _BEFORE_GIVEN_UP and _NEGATED_BEFORE.search(text[max(0, found.start() - 12) : found.start()]):
                continue
            phrase = _PHRASE_END.sub("", found["what"]) if pattern is _BEFORE_GIVEN_UP else found["what"]
            if phrase.strip(" `\"'“”"):
                yield phrase.strip(" `\"'“”")
