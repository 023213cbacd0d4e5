"""Detects statements that no longer apply: the person calls them off, or the agent finds that they were wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lerim.extraction.ranking.passages import TurnPassage
from lerim.extraction.ranking.sentences import find_sentences

MIN_SHARED_WORDS = 0.5
"""Share of a statement's longer words that its correction must also contain."""
FOLLOWING_CHARS = 200
"""Characters after a correction that belong to it, because often only they say what it is about."""
_CALLED_OFF = re.compile(
    r"\W{0,4}(?:no,? |ok,? |sorry,? |well,? |hmm,? |but |and )*(?:"
    r"(?:scratch|forget|ignore|skip|drop|undo|revert|cancel) (?:that|this|it|the above|those)\b"
    r"|never ?mind|on second thoughts?\b|i changed my mind|actually,? (?:no\b|let'?s not|don'?t)"
    r"|(?:that|this|it|these|those)(?: is| was|'s| are)? (?:wrong|not (?:right|true|needed|what)|a bad idea)"
    r"|(?:that|this|it|these|those) (?:should|must|shall|need|needs|do|does|will)(?:n'?t| not)(?: to)? "
    r"(?:be (?:changed|done|removed|touched|there|the case)|happen|apply|change))",
    re.IGNORECASE,
)
_TOOK_BACK = re.compile(
    r"\W{0,4}(?:hmm,? |ah,? |oh,? |ok(?:ay)?,? |wait,? |so )*(?:"
    r"i was (?:wrong|mistaken)|i misread|i misunderstood|my (?:mistake|earlier|previous|assumption)|correction\b"
    r"|that(?:'s| is| was) (?:not (?:right|true|correct|the (?:cause|problem|issue))|wrong|incorrect)"
    r"|(?:actually|in fact|on closer (?:look|inspection)|it turns out|turns out|contrary to)\b.{0,160}"
    r"\b(?:not|n'?t|no|never|wrong|instead|isn|wasn)\b|scratch that|wait,? (?:no|that))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./-]{4,60}")


def is_called_off(passage: TurnPassage, following: Sequence[TurnPassage]) -> bool:
    """Returns whether the person takes back a passage of their own message right after it; after a list, this applies
    to all of its points. `following` are the passages after it in the same text."""
    rest = iter(following)
    after = next(rest, None)
    if passage.kind in ("bullet", "number", "quote"):
        while after is not None and after.kind == passage.kind:
            after = next(rest, None)
    return after is not None and _CALLED_OFF.match(after.text.replace("’", "'")) is not None


def find_retractions(text: str) -> tuple[str, ...]:
    """Returns the sentences in which the agent says that it was wrong, each with the text after it."""
    sentences = ((text[one.start : one.end].replace("’", "'"), one.end) for one in find_sentences(text))
    return tuple(f"{one} {text[end : end + FOLLOWING_CHARS]}" for one, end in sentences if _TOOK_BACK.match(one))


def is_retracted(statement: str, retractions: Iterable[str]) -> bool:
    """Returns whether one of these texts from `find_retractions` is about the statement."""
    words = _content_words(statement)
    return bool(words) and any(
        len(words & _content_words(text)) >= MIN_SHARED_WORDS * len(words) for text in retractions
    )


def _content_words(text: str) -> frozenset[str]:
    return frozenset(word[:7] for word in _WORD.findall(text.lower()))
