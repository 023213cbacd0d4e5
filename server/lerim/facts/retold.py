"""Bodies in our own words: what was said in a chat stands in the evidence, not a second time around it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from lerim.facts import wording
from lerim.facts.prose import share
from lerim.memory.framing import unframed

RUN = 8  # words in a row that make a quotation
_WORD = re.compile(r"\w[\w./<>~@:-]*")
"""A path is one word."""
_CODE = re.compile(r"`[^`\n]*`")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`“])|(?<=[.!?]”)\s+")
_OTHERWISE = tuple(
    (re.compile(said, re.IGNORECASE), told)
    for said, told in (
        (r"\s?,? but (?!not\b|also\b)", "; however, "),
        (r",? so that ", " in order that "),
        (r", so ", "; therefore "),
        (r",? because of ", " owing to "),
        (r",? because ", ", as "),
        (r",? since (?!\d)", ", as "),
        (r",? (?:when|whenever|every time|each time) ", " as soon as "),
        (r", which ", ", and that "),
        (r" and ", " and also "),
        (r" (?:instead of|rather than) ", " in place of "),
        (r" if ", " in case "),
        (r" including ", " with "),
        (r" to avoid ", " in order to avoid "),
        (r", not (?!only\b)", " and not "),
        (r"\b(?P<s>do|does|did|is|are|was|were|has|have|had|should|could|would)n't\b", r"\g<s> not"),
        (r"\b(?:can't|cannot)\b", "can not"),
    )
)
_ARTICLE = re.compile(r"\b(?:the|an?|just|really|already|actually|very) (?=[\w`])", re.IGNORECASE)
_THE = re.compile(r" the (?=(?P<many>[a-z]{2,30}[^\W_su]s\b)?[a-z])")
_BREAK = re.compile(r"\s?(?:[;:—–]\s|\s-\s|\s\(|,\s|\s(?:in order|as soon as|in case|and also|in place of|for|as)\s)")
_OPEN = re.compile(
    r"\b(?:that|to|which|the|an?|and|or|with|of|by|in|on|at|for|from|as|than|is|are|was|were|reason|fix|then)\W*$",
    re.IGNORECASE,
)


def retold(body: str, title: str, quotes: Iterable[str]) -> str:
    """The body without any eight words in a row of a quote that the title does not assert.

    A sentence that repeats a quote is told with other connecting words, else cut where a clause ends, else left out;
    one that repeats the title is the title, and what follows it. A body of which nothing is left says the title.
    """
    said = {run for quote in quotes for run in _runs(quote)} - _runs(title)
    if not said:
        return body
    out = ""
    for part in _SENTENCE.split(body):
        if not unframed(part):
            out = f"{out} {part}".strip()
        else:
            out = next((both for form in _forms(part, title) if not _runs(both := f"{out} {form}".strip()) & said), out)
    return out if unframed(out).strip() else f"{wording.sentence(title)} {out}".strip()


def head(title: str, text: str) -> int:
    """Where in a text that begins by saying the title the title ends; -1 where it does not."""
    last = r"\W{1,3}".join(re.escape(word) for word in _WORD.findall(title)[-2:])
    match = re.search(last, text, re.IGNORECASE)
    return match.end() + (text[match.end() : match.end() + 1] == "`") if match and share(title, text) >= 0.8 else -1


def _forms(part: str, title: str) -> Iterable[str]:
    """The sentence as it is, told otherwise, and ever shorter."""
    yield part
    told = part
    for said, instead in _OTHERWISE:
        told = said.sub(instead, told)
    yield told
    if (at := head(title, part)) >= 0:
        yield f"{title}{part[at:]}"
        told = f"{title}{told[max(0, head(title, told)) :]}" if head(title, told) >= 0 else title
        yield told
    else:
        for match in _THE.finditer(told):
            yield f"{told[: match.start()]} {'those' if match['many'] else 'that'} {told[match.end() :]}"
        yield wording.capital(_ARTICLE.sub("", told))
    for match in reversed(list(_BREAK.finditer(told))):
        less = told[: match.start()].rstrip(" ,;:-—–")
        whole = less.count("(") == less.count(")") and less.count("`") % 2 == 0 and less.count("“") == less.count("”")
        if whole and len(less.split()) > 4 and not _OPEN.search(less):
            yield wording.sentence(less)


@lru_cache(maxsize=64)  # a title and a quote are looked at for every sentence
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = [word.lower().rstrip(".:-") for word in _WORD.findall(_CODE.sub(_named, text))]
    return frozenset(tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))


def _named(match: re.Match[str]) -> str:
    """Code of three words or more is a command, which is named as it is: it is no part of a quotation."""
    return match.group() if match.group().count(" ") < 2 else " _ "
