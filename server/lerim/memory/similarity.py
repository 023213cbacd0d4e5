"""How similar two claims are: the cosine of their words, with a rare word counting more than a common one.

The formula is the vector space model of Manning, Raghavan and Schütze, *Introduction to Information Retrieval* (2008),
sections 6.2 to 6.4: the weight of a word in a text is `(1 + ln tf) * idf`. `tf` is how often the text contains the
word, with the title counted three times; `idf` is `ln(1 + N / (1 + n))` for a word in `n` of `N` memories. The
similarity of two texts is the cosine of the angle between their weight vectors: 1 for the same words, 0 for none in
common.

Words are those of the full-text index (`index_text`: identifiers count whole and in parts), without filler words and
the commonest English endings. Title weight, stemming and floor were chosen on the labelled pairs that are not held out
(evals/README.md, "Neighbours").
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lerim.words import STOP_WORDS, index_text, stem

MIN_SIMILARITY = 0.15
"""Two claims that are less similar than this are not neighbours."""
TITLE_WEIGHT = 3
MAX_WORDS = 1_000
"""The number of words of a title or body that count; the rest of a longer text is ignored."""
MAX_CHARACTERS = 100_000
_CODE = re.compile(r"(`{1,3})([^`]+)\1")
_LINE_PREFIX = re.compile(r"^[ \t]*(?:[-*+]|#{1,6}) ", re.MULTILINE)
EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]*[^\s*])\1(?![\w*])")
_QUOTES = re.compile("[\"“”„«»]|(?<!\\w)['‘’]|['‘’](?!\\w)")
_PLAIN_WORD = re.compile(r"(?<![^\s(])[^\W\d_]+(?:['-][^\W\d_]+)*(?![^\s.,;:!?…)])")
_SENTENCE_END = re.compile(r"(?<=[\w)\]}%])[.,;:!…]+(?=\s|\Z)")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory similar to a claim, by its id. `similarity` is from 0 to 1, rounded to four digits."""

    id: str
    similarity: float


def text_words(text: str) -> list[str]:
    """Returns the words of a text, in lower case and in order, as the full-text index stores them."""
    return stored_words(index_text(text[:MAX_CHARACTERS]))


def stored_words(text: str) -> list[str]:
    """Returns the words of a text that is already in the form stored by the full-text index."""
    return text.split()[:MAX_WORDS]


def word_rarity(memories: int, having: int) -> float:
    """Returns the idf of a word that is in `having` of `memories` memories; never negative."""
    return math.log(1 + memories / (1 + having))


def claim_vector(title: Iterable[str], body: Iterable[str], idf: Callable[[str], float]) -> dict[str, float]:
    """Returns the weight of each stem of a claim, scaled to length 1; empty if there are only filler words.

    `idf` returns how rare a word is; of several words with the same stem, only the first is looked up.
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
    """Returns the similarity of two vectors from `claim_vector`, from 0 to 1."""
    if len(other) < len(one):
        one, other = other, one
    shared = math.fsum(weight * other[root] for root, weight in one.items() if root in other)
    return min(1.0, max(0.0, shared))


def normalize_claim(title: str, body: str) -> str:
    """Returns a claim's text without differences in form; two claims with equal results say the same.

    Case, white space, markdown (code spans, emphasis, headings, list marks), quotation marks and punctuation at the end
    of words are dropped. Code spans, and words that do not consist of letters alone, keep their case (`-v`, `-V`).
    """
    return f"{_normalize(title)}\n{_normalize(body)}"


def _normalize(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = _LINE_PREFIX.sub("", text)
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(text):
        parts += [_fold_prose(text[end : code.start()]), code[2]]
        end = code.end()
    text = "".join((*parts, _fold_prose(text[end:])))
    return " ".join(_SENTENCE_END.sub("", text).split())


def _fold_prose(prose: str) -> str:
    prose = _QUOTES.sub("", EMPHASIS.sub(r"\2", prose))
    return _PLAIN_WORD.sub(lambda found: found[0].casefold(), prose.replace("’", "'"))
