"""What an agent repeats of the memories Lerim gave it. It is not evidence, or memories would confirm themselves."""

from __future__ import annotations

import re

from lerim.extraction import Candidate
from lerim.memory import MemoryRecord, MemorySearch, word_stems

MIN_COVERED_SHARE = 0.7
"""Minimum share of a claim's words that a memory contains for the claim to count as an echo of it."""
_MAX_COMPARED = 5
_DETAIL = re.compile(r"`[^`\n]+`|\b\w*(?:\d|_|[a-z][A-Z]|\w\.\w|/)[\w./-]*")
"""Matches what makes a claim specific: code, names, paths and numbers."""


def find_echoed_memory(candidate: Candidate, memories: MemorySearch) -> MemoryRecord | None:
    """Returns the active memory that a claim repeats although only an agent said it; None for anything new, and for
    whatever a person said or a tool showed.

    A claim repeats a memory that contains most of its words, or of those after a colon, and every name, path and number
    in it. Whether the memory
    was given to the agent in that session does not matter: rules files give it to every agent, and leave no trace.
    """
    if not candidate.evidence or any(item.who != "assistant" for item in candidate.evidence):
        return None
    _, colon, quoted = candidate.title.partition(": ")  # “The project's memory says: …”
    wordings = [words for text in (candidate.title, quoted if colon else "") if (words := word_stems(text))]
    if not wordings:
        return None
    details = {detail.strip("`.").lower() for detail in _DETAIL.findall(candidate.title)}
    for hit in memories.search(f"{candidate.title}?", _MAX_COMPARED):
        record = hit.record
        text = "\n".join((record.title, record.body, *record.references, *(item.quote for item in record.evidence)))
        known = word_stems(text)
        covered = max(len(words & known) / len(words) for words in wordings)
        if covered >= MIN_COVERED_SHARE and all(detail in text.lower() for detail in details):
            return record
    return None
