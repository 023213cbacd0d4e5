"""Detects whether a person says again what a memory says: the same correction or rule, in the same or in similar
words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lerim.memory import MemoryRecord, dice_overlap, word_stems
from lerim.statistics.benefit.practices import Practice

MIN_SHARED, MIN_OVERLAP = 3, 0.5
"""Minimum number of telling words, and minimum of Dice's coefficient, that a sentence must share with the title of a
memory or with the person's own words in it to say the same. Chosen on the replay's tuning projects."""
MAX_PROMPT_CHARS = 2_000
"""Maximum number of characters compared of a prompt. Only the beginning of a longer prompt is the person's own
words; the rest is pasted."""
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]?")
_CORRECTING = re.compile(
    r"\b(?:no|not|never|don['’]?t|doesn['’]?t|stop|instead|rather|again|already|always|must|should(?:n['’]?t)?|told|said|"
    r"wrong|please|prefer|use|without|remember|keep|make sure|no need|we (?:use|do|want|need)|i (?:want|prefer))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class KnownClaim:
    """The claim of a memory as the words that distinguish it: those of its title, and those of each quote of a
    person."""

    texts: tuple[frozenset[str], ...]
    practice: Practice | None


def make_known_claim(record: MemoryRecord, practice: Practice | None) -> KnownClaim:
    """Returns the claim of a memory, with which prompts are compared."""
    quotes = (item.quote for item in record.evidence if item.who == "user")
    stems = (_telling_stems(text) for text in (record.title, *quotes))
    return KnownClaim(tuple(one for one in stems if len(one) >= MIN_SHARED), practice)


def says_again(claim: KnownClaim, prompt: str) -> bool:
    """Returns whether a prompt of a person says the same as a memory: it names both what is given up and what is
    wanted instead, or it has a sentence that corrects or demands something in mostly the same words. A question
    never does."""
    return any(_is_same(claim, sentence) for sentence in split_demands(prompt))


def split_demands(prompt: str) -> Iterator[str]:
    """Yields the sentences of a prompt that correct or demand something."""
    for found in _SENTENCE.finditer(prompt[:MAX_PROMPT_CHARS]):
        sentence = found.group().strip()
        if sentence and not sentence.endswith("?") and _CORRECTING.search(sentence):
            yield sentence


def _is_same(claim: KnownClaim, sentence: str) -> bool:
    practice = claim.practice
    if practice is not None and practice.wanted and practice.given_up and not practice.must_pass:
        lower = sentence.lower()
        if _are_named(practice.given_up, lower) and _are_named(practice.wanted, lower):
            return True
    stems = _telling_stems(sentence)
    return any(len(stems & text) >= MIN_SHARED and dice_overlap(stems, text) >= MIN_OVERLAP for text in claim.texts)


def _are_named(names: Sequence[str], text: str) -> bool:
    return all(re.search(rf"(?<![\w.-]){re.escape(name.lower())}(?![\w-])", text) for name in names)


def _telling_stems(text: str) -> frozenset[str]:
    return frozenset(stem for stem in word_stems(text) if len(stem) > 2 or not stem.isascii())
