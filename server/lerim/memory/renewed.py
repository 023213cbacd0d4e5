"""Which sentences of a text are renewed: another one stands in their place and says otherwise of the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lerim.memory.claim import Claim, bare, overlap
from lerim.memory.contrast import read
from lerim.memory.substance import limits

RENEWED_FROM = 0.5
"""The share of the shorter sentence's words that both have at least."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with its words, denied and bare, the words that limit it, and its first name in code."""

    text: str
    claim: Claim
    words: frozenset[str]
    limits: frozenset[str]
    subject: str


def renewed(old: Sequence[str], new: Sequence[str]) -> frozenset[str]:
    """Those of the `old` sentences in whose place one of the `new` ones stands: the two share half of the words of the
    shorter, and the new one says something the old one does not.

    A new sentence renews one old one at most, that which is most like it, and none if it stands among them already.
    Two that begin with names in code, and other ones, are about two things.
    """
    olds, news = [_sentence(one) for one in dict.fromkeys(old)], [_sentence(one) for one in dict.fromkeys(new)]
    there = {(one.claim.words, one.limits) for one in olds}
    pairs = [
        (overlap(one.words, other.words), _first(one) == _first(other), -number, -place)
        for place, other in enumerate(news)
        if other.words and (other.claim.words, other.limits) not in there
        for number, one in enumerate(olds)
        if _stands_for(other, one)
    ]
    gone: set[int] = set()
    placed: set[int] = set()
    for *_, number, place in sorted(pairs, reverse=True):
        if -number not in gone and -place not in placed:
            gone.add(-number)
            placed.add(-place)
    return frozenset(olds[number].text for number in gone)


def _sentence(text: str) -> _Sentence:
    said = read(text, "").claim
    first = text.lstrip("-*• ").split(" ", 1)[0]
    return _Sentence(text, said, bare(said).words, limits(text, modals=True), first if first[:1] == "`" else "")


def _first(one: _Sentence) -> str:
    return one.text.split(" ", 1)[0].lower()


def _stands_for(new: _Sentence, old: _Sentence) -> bool:
    common = len(new.words & old.words)
    if not common or common < RENEWED_FROM * min(len(new.words), len(old.words)):
        return False
    if new.subject and old.subject and new.subject != old.subject:
        return False
    return bool(new.claim.words - old.claim.words) or new.limits != old.limits
