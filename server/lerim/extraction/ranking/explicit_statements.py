"""Detects what a person states outright, which is always worth reviewing: a rule, a preference, a choice of two things.

Of all keyword rules tried on the labeled sessions, these improve the result: more of the required memories are found,
proposals are as often right as before, and no additional session with nothing to keep yields a proposal
(`evals/README.md`).
"""

from __future__ import annotations

import re

from lerim.extraction.ranking.passages import TurnPassage
from lerim.extraction.ranking.ranker import PassageType

MAX_PROMPT_CHARS = 1_000
"""Above this many characters a message is a document, in which "always" is mostly about the task at hand."""
MAX_PASSAGE_CHARS = 300
_ALWAYS = re.compile(r"\b(?:always|never|from now on|going forward|in future)\b(?!\s+mind)", re.IGNORECASE)
_CHOICE = re.compile(
    r"\binstead of\b|\brather than\b|\b(?:use|run|prefer|put|keep|call|write|name)\b.{1,80}\bover\b"
    r"|\b(?:use|run|prefer|put|keep|call|write|name)\b.{1,80}, not\b"
    r"|\bprefer\b.{1,80}\bto\b|\b(?:always|never|from now on|going forward)\b,? (?:we )?use\b",
    re.IGNORECASE,
)
_ALSO = re.compile(
    r"\bby default\b|\bremember\b|\bkeep in mind\b|\bconvention\b|\bpolicy\b"
    r"|\bi (?:don'?t|do not) (?:want|like|think)\b",
    re.IGNORECASE,
)


def is_explicit_statement(passage: TurnPassage, prompt: str) -> bool:
    """Returns whether a passage of a person's message `prompt`, or of their feedback on a tool call, states a rule."""
    if (
        passage.source not in ("prompt", "feedback")
        or len(prompt) > MAX_PROMPT_CHARS
        or len(passage.text) > MAX_PASSAGE_CHARS
    ):
        return False
    text = passage.text.rstrip(' *"`)').replace("’", "'")
    return not text.endswith(("?", "？")) and any(form.search(text) for form in (_ALWAYS, _CHOICE, _ALSO))


def explicit_type(passage: TurnPassage) -> PassageType | None:
    """Returns the type that a person's words themselves indicate: a decision if they use one thing or prefer it to
    another, a rule if it applies always, None if they do not indicate a type."""
    if not passage.is_persons:
        return None
    if _CHOICE.search(passage.text):
        return "decision"
    return "rule" if _ALWAYS.search(passage.text) else None
