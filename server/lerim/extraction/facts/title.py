"""Makes the title of a statement from the sentence itself, without rewording it."""

from __future__ import annotations

import re

from lerim.extraction.facts.wording import capitalize_first, squeeze_spaces
from lerim.memory import skip_politeness
from lerim.patterns import compile_later

MAX_TITLE_CHARS = 110
"""Maximum characters of a title. If the sentence is longer, all of it belongs in the body."""
_SHORTEST_CLAUSE = 24
_CLAUSE = compile_later(
    r"(?<![.:;!?]\s\d)(?<![.:;!?]\s\d\d)[.!?;](?=\s)|[,:](?=\s)|\s(?=[-—–]{1,2}\s)|\s(?=\()"
    r"|\s(?=(?:because|since|so that|which|while|whereas|although|though|and)\s)"
)
_TURNS_IT_ROUND = compile_later(
    r"[\s,;:—–(-]{0,4}(?:unless|except|only|if|but|instead|rather|not|never|without|until|or|nor|when|than)\b",
    re.IGNORECASE,
)
"""Matches words whose continuation can reverse the meaning of the clause before them, so that this clause cannot be
a title by itself."""
_CONDITION = compile_later(
    r"(?:if|when|unless|while|before|after|once|since|because|as|for|in|on|with)\s", re.IGNORECASE
)
"""Matches the beginning of a sentence that says nothing before its first comma."""


def make_title(sentence: str) -> str:
    """Returns the sentence on one line without leading politeness, cut at a clause if it is longer than
    `MAX_TITLE_CHARS`.

    No word is changed, added or left out in the middle: apart from the case of its first letter, and from the "…" of
    a title that ends before the sentence does, a title is a contiguous part of it. The caller puts the whole sentence
    into the body.
    """
    whole = squeeze_spaces(sentence).strip(" .,;:!")
    text, asked = skip_politeness(whole)
    text = text.strip(" .,;:!") or whole
    if asked:
        text = text.rstrip(" ?.!") or whole
    if len(text) > MAX_TITLE_CHARS:
        text = _first_clauses(text)
    return capitalize_first(text)


def _first_clauses(text: str) -> str:
    """Returns as many whole clauses as fit in a title, or as many whole words if the first clause alone is too long,
    with "…" unless a sentence ends there. A word is cut only if too little text precedes it."""
    head = text[:MAX_TITLE_CHARS]
    ends = [match.start() for match in _CLAUSE.finditer(head) if match.start() >= _SHORTEST_CLAUSE]
    for stop in (".!?;", ""):
        for end in reversed(ends):
            if (not stop or text[end] in stop) and _stands_alone(text[:end], text[end:]):
                return text[:end].rstrip(" ,;:.!") + ("" if stop else "…")
    cuts = [text[:end] for end, mark in enumerate(head) if mark == " " and end >= _SHORTEST_CLAUSE]
    closed = [cut for cut in cuts if _has_balanced_marks(cut)]
    cut = (closed or cuts or [head[: MAX_TITLE_CHARS - 1]])[-1]
    return f"{cut.rstrip(' ,;:.!(-—–…')}…"


def _stands_alone(head: str, rest: str) -> bool:
    return _has_balanced_marks(head) and not _TURNS_IT_ROUND.match(rest) and ("," in head or not _CONDITION.match(head))


def _has_balanced_marks(text: str) -> bool:
    pairs = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))
    return all(text.count(mark) % 2 == 0 for mark in '`"') and all(text.count(a) == text.count(b) for a, b in pairs)
