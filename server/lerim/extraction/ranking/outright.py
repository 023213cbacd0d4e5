"""What a person says outright: a rule, a preference, a choice between two, in so many words. It is worth a look.

Of all rules by words that were tried on the labelled sessions these add: more of what must come is found, as much of
what is proposed is right, and no more sessions with nothing to keep give something (`evals/README.md`).
"""

from __future__ import annotations

import re

from lerim.extraction.ranking.passages import TurnPassage
from lerim.extraction.ranking.ranker import PassageType

LONGEST_PROMPT = 1_000
"""Characters from which a message is a document: what it says with "always" is mostly about the work at hand."""
LONGEST = 300
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


def is_outright(passage: TurnPassage, prompt: str) -> bool:
    """Whether a person states a rule, in the message `prompt` or on denying or approving a call."""
    if passage.source not in ("prompt", "feedback") or len(prompt) > LONGEST_PROMPT or len(passage.text) > LONGEST:
        return False
    said = passage.text.rstrip(' *"`)').replace("’", "'")
    return not said.endswith(("?", "？")) and any(form.search(said) for form in (_ALWAYS, _CHOICE, _ALSO))


def outright_type(passage: TurnPassage) -> PassageType | None:
    """What a person's words say they are: a decision where one thing is used or put before another, a rule where they
    hold always; None where they do not say."""
    if not passage.is_persons:
        return None
    if _CHOICE.search(passage.text):
        return "decision"
    return "rule" if _ALWAYS.search(passage.text) else None
