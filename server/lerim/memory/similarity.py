"""How similar two claims are: the cosine of their words, where a rare word counts more than a common one.

The formula is the vector space model of Manning, Raghavan and Schütze, *Introduction to Information Retrieval* (2008),
sections 6.2 to 6.4: a word's weight in a text is `(1 + ln tf) * idf`, where `tf` is how often the text has it, a title
counting three times, and `idf` is `ln(1 + N / (1 + n))` for a word that `n` of `N` memories have. The similarity of two
texts is the cosine of the angle between their vectors of weights: 1 for the same words, 0 for none in common.

Words are those of the full-text index (`terms.indexed`: identifiers count whole and in parts), without filler words
and without their commonest English endings. Title weight, stemming and floor were chosen on the labelled pairs that
are not set aside (evals/README.md, "Neighbours").
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lerim.words import STOP_WORDS, index_text, stem

FLOOR = 0.15
"""Below this similarity, two claims are not neighbours."""
TITLE_WEIGHT = 3
MAX_WORDS = 1_000
"""The words of a title or body that count: the first ones of a longer text."""
MAX_CHARACTERS = 100_000
_CODE = re.compile(r"(`{1,3})([^`]+)\1")
_LINE_MARK = re.compile(r"^[ \t]*(?:[-*+]|#{1,6}) ", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]*[^\s*])\1(?![\w*])")
_QUOTES = re.compile("[\"“”„«»]|(?<!\\w)['‘’]|['‘’](?!\\w)")
_PLAIN_WORD = re.compile(r"(?<![^\s(])[^\W\d_]+(?:['-][^\W\d_]+)*(?![^\s.,;:!?…)])")
_SENTENCE_END = re.compile(r"(?<=[\w)\]}%])[.,;:!…]+(?=\s|\Z)")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near a claim, by its id. `similarity` is from 0 to 1, rounded to four digits."""

    id: str
    similarity: float


def text_words(text: str) -> list[str]:
    """The words of a text, in lower case and in order, as the full-text index stores them."""
    return stored_words(index_text(text[:MAX_CHARACTERS]))


def stored_words(text: str) -> list[str]:
    """The words of a text as the full-text index stores it."""
    return text.split()[:MAX_WORDS]


def word_rarity(memories: int, having: int) -> float:
    """The idf of a word that `having` of so many memories have; never negative."""
    return math.log(1 + memories / (1 + having))


def claim_vector(title: Iterable[str], body: Iterable[str], idf: Callable[[str], float]) -> dict[str, float]:
    """The weight of each stem of a claim, scaled to length 1; empty if there are no words but filler words.

    `idf` says how rare a word is; of several words with one stem the first is asked about.
    """
    counts: dict[str, int] = {}
    words: dict[str, str] = {}
    for text, times in ((title, TITLE_WEIGHT), (body, 1)):
        for word in text:
            if word not in STOP_WORDS:
                root = stem(word)
                if root in counts:
                    counts[root] += times
                else:
                    counts[root] = times
                    words[root] = word
    weights = {root: (1 + math.log(count)) * idf(words[root]) for root, count in counts.items()}
    length = math.hypot(*weights.values())
    return {root: weight / length for root, weight in weights.items()} if length else {}


def cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The similarity of two vectors of `claim_vector`, from 0 to 1."""
    if len(other) < len(one):
        one, other = other, one
    shared = math.fsum(weight * other[root] for root, weight in one.items() if root in other)
    return min(1.0, max(0.0, shared))


def normalise_claim(title: str, body: str) -> str:
    """A claim's text without differences that change nothing; two claims with equal results say the same.

    Case, white space, markdown (code spans, emphasis, headings, list marks), quotation marks and punctuation at the
    end of words are dropped. Code spans, and words that do not consist of letters alone, keep their case (`-v`, `-V`).
    """
    return f"{_normalised(title)}\n{_normalised(body)}"


def _normalised(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = _LINE_MARK.sub("", text)
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(text):
        parts += [_folded(text[end : code.start()]), code[2]]
        end = code.end()
    text = "".join((*parts, _folded(text[end:])))
    return " ".join(_SENTENCE_END.sub("", text).split())


def _folded(prose: str) -> str:
    """Prose without emphasis and quotation marks, its plain words in lower case."""
    prose = _QUOTES.sub("", _EMPHASIS.sub(r"\2", prose))
    return _PLAIN_WORD.sub(lambda found: found[0].casefold(), prose.replace("’", "'"))
