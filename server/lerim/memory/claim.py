"""What a memory claims, as a set of words: the one notion of sameness behind reconciling and lasting rejections.

Words are lower-cased, stripped of filler and English endings. A word that is denied (`not`, `never`, `instead of`) is
another word, `!word`: "Use uv, not pip" and "Use pip, not uv" are two claims.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

from lerim.memory.terms import STOP, grams

_T = TypeVar("_T")
_TOKEN = re.compile(r"-{0,2}\w[\w./+#@-]*|[,;:!?()\n]|\.(?=\s|$)|。|、|，")
_DENIES = frozenset(
    {"not", "never", "no", "cannot", "without", "avoid", "instead", "rather", "over", "stop"}
    | {"dont", "doesnt", "cant", "wont", "isnt", "shouldnt", "didnt", "arent", "mustnt", "neednt", "couldnt", "wouldnt"}
)
_LINKS = frozenset({"of", "than"})
_FILLER = STOP | {"prefer", "simply", "use", "uses", "used", "using"}
_TURNS = frozenset({"but", "use"})
_REACH = 4
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_HARD = re.compile(r"[\d/_#@+]|^--?\w|\w\.\w")


@dataclass(frozen=True, slots=True)
class Claim:
    """The words of a title, and of title and body together. `hard` are the paths, numbers, flags and names."""

    title: frozenset[str]
    words: frozenset[str]

    @property
    def hard(self) -> frozenset[str]:
        return frozenset(word for word in self.words if _HARD.search(word.lstrip("!")))


def claim(title: str, body: str) -> Claim:
    """The claim a memory or candidate makes."""
    head = _words(title)
    return Claim(head, head | _words(body))


def overlap(one: AbstractSet[_T], other: AbstractSet[_T]) -> float:
    """Dice's coefficient: 2·|common| / (|one| + |other|), 1.0 for two empty sets."""
    if not one and not other:
        return 1.0
    return 2 * len(one & other) / (len(one) + len(other))


def similarity(one: Claim, other: Claim) -> float:
    """The mean of the overlap of the titles and of the whole texts, in 0..1; denied words are their own."""
    return (overlap(one.title, other.title) + overlap(one.words, other.words)) / 2


def bare(one: Claim) -> Claim:
    """The claim without regard to what is denied: what it is about."""
    return Claim(_bare(one.title), _bare(one.words))


def _bare(words: AbstractSet[str]) -> frozenset[str]:
    return frozenset(word.removeprefix("!") for word in words)


def _words(text: str) -> frozenset[str]:
    found: set[str] = set()
    denied = 0
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("n't", "nt")):
        token = match.group()
        if len(token) == 1 and not token.isalnum() and token != "_":
            denied = 0
            continue
        token = token.rstrip(".-/")
        if token in _DENIES:
            denied = _REACH + 1
            continue
        if token in _TURNS and not denied > _REACH:
            denied = 0
        if token in _LINKS or token in _FILLER or not token:
            continue
        mark = "!" if denied else ""
        denied = max(0, denied - 1)
        for word in grams(token) if _NO_SPACES.search(token) else [_stem(token)]:
            found.add(mark + word)
    return frozenset(found)


def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()) or len(word) < 3:
        return word
    for ending, least in (("ing", 5), ("ed", 4), ("es", 4), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > 2 else word
