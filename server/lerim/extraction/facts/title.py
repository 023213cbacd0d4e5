"""The title of what was said: the sentence itself, never a rewriting of it."""

from __future__ import annotations

import re

from lerim.extraction.facts.wording import capitalize_first, squeeze_spaces

MAX_TITLE_CHARS = 110
"""Characters a title has at most. The whole sentence belongs in the body where it is longer."""
_SHORTEST_CLAUSE = 24
_MARK = re.compile(r"(?:[-*•>#]{1,6}|\d{1,3}[.)])\s")
_REQUEST = re.compile(r"(?:can|could|would|will) you\s(?:please\s|kindly\s)?(?!mind\b)", re.IGNORECASE)
_POLITE = re.compile(
    r"(?:please|pls|plz|kindly)(?:\s?[,:]\s?|\s)"
    r"|(?:ok(?:ay)?|alright|all right)(?:\s?[,.!:;]\s?|\s)(?:so|then|now)(?:\s?,\s?|\s)(?!that\b|far\b)"
    r"|(?:ok(?:ay)?|alright|all right|thanks|thank you|thx|hi|hello|hey|great|perfect|nice|cool)\s?[,.!:;]{1,3}\s",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[.!?;](?=\s)|[,:](?=\s)|\s(?=[-—–]{1,2}\s)|\s(?=\()"
    r"|\s(?=(?:because|since|so that|which|while|whereas|although|though|and|then)\s)"
)
_TURNS_IT_ROUND = re.compile(
    r"[\s,;:—–(-]{0,4}(?:unless|except|only|if|but|instead|rather|not|never|without|until|or|nor|when|than)\b",
    re.IGNORECASE,
)
"""What follows here can turn the clause before it into its opposite: the clause does not stand alone."""
_CONDITION = re.compile(r"(?:if|when|unless|while|before|after|once|since|because|as|for|in|on|with)\s", re.IGNORECASE)
"""What begins so says nothing before its first comma."""


def make_title(sentence: str) -> str:
    """The sentence on one line, without politeness before it, ended at a clause where it is longer than
    `MAX_TITLE_CHARS`.

    No word is changed, added or left out in the middle: apart from the case of its first letter a title is a contiguous
    part of the sentence. The caller puts the whole sentence into the body.
    """
    whole = squeeze_spaces(sentence).strip(" .,;:!")
    text, asked = _without_politeness(whole)
    text = text.strip(" .,;:!") or whole
    if asked:
        text = text.rstrip(" ?.!") or whole
    if len(text) > MAX_TITLE_CHARS:
        text = _first_clauses(text)
    return capitalize_first(text)


def _without_politeness(text: str) -> tuple[str, bool]:
    """What is left, and whether "can you" was cut, after which a question mark asks nothing."""
    asked = False
    for _ in range(4):
        polite = _MARK.match(text) or _POLITE.match(text)
        request = None if polite else _REQUEST.match(text)
        found = polite or request
        if found is None or found.end() == len(text):
            break
        asked = asked or request is not None
        text = text[found.end() :]
    return text, asked


def _first_clauses(text: str) -> str:
    """As many whole clauses as a title holds; as many whole words where the first clause alone is too long."""
    head = text[: MAX_TITLE_CHARS + 1]
    ends = [match.start() for match in _CLAUSE.finditer(head) if match.start() >= _SHORTEST_CLAUSE]
    for stop in (".!?;", ""):
        for end in reversed(ends):
            if (not stop or text[end] in stop) and _stands_alone(text[:end], text[end:]):
                return text[:end].rstrip(" ,;:.!")
    cut = head.rpartition(" ")[0] or head[:MAX_TITLE_CHARS]
    return cut.rstrip(" ,;:.!(-—–")


def _stands_alone(head: str, rest: str) -> bool:
    return _closed(head) and not _TURNS_IT_ROUND.match(rest) and ("," in head or not _CONDITION.match(head))


def _closed(text: str) -> bool:
    """Whether no code, bracket or quotation that was opened stays open."""
    pairs = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))
    return all(text.count(mark) % 2 == 0 for mark in '`"') and all(text.count(a) == text.count(b) for a, b in pairs)
