"""What a person says outright: a rule in so many words, or the answer to what the agent asked. It is always shown."""

from __future__ import annotations

import re

from lerim.extraction.ranking.passages import Passage

LONGEST_PROMPT = 4_000
"""Characters from which a message is a document: what it says with "always" is mostly about the work at hand."""
LONGEST = 300
_RULE = re.compile(
    r"\b(?:always|never|from now on|going forward|in future)\b(?!\s+mind)"
    r"|\b(?:use|run|prefer|put|keep|call|write|name)\b.{1,80}\b(?:instead of|rather than|over)\b"
    r"|\bprefer\b.{1,80}\bto\b",
    re.IGNORECASE,
)


def is_outright(passage: Passage, prompt: str) -> bool:
    """Whether a person answered a question of the agent, or stated a rule in a message of their own."""
    if passage.source == "answer":
        return bool(passage.text.strip())
    if not passage.is_persons or len(prompt) > LONGEST_PROMPT or len(passage.text) > LONGEST:
        return False
    return not passage.text.rstrip().endswith("?") and _RULE.search(passage.text) is not None
