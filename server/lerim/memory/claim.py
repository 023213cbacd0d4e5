"""What a memory claims, as a set of words: the one notion of sameness behind reconciling and lasting rejections.

Words are lower-cased, stripped of filler and English endings. A word that is denied (`not`, `never`, `instead of`) is
another word, `!word`: "Use uv, not pip" and "Use pip, not uv" are two claims. Of the words, those in backticks, paths,
flags, numbers and identifiers are hard: what is named with them is exact. Sentences we put around what was said
(`framing.py`) claim nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from lerim.memory.framing import unframed
from lerim.memory.terms import STOP, grams

_T = TypeVar("_T")
_TOKEN = re.compile(r"-{0,2}\w[\w./+#@-]*|[,;:!?()\n]|\.(?=\s|$)|。|、|，")
_DENIES = frozenset(
    {"not", "never", "no", "cannot", "without", "avoid", "instead", "rather", "over", "stop"}
    | {"dont", "doesnt", "cant", "wont", "isnt", "shouldnt", "didnt", "arent", "mustnt", "neednt", "couldnt", "wouldnt"}
)
_ELSEWHERE = """
    nicht kein keine keinen keinem keiner keines nie niemals ohne ne pas jamais sans nunca jamás sin ningún tampoco
    não sem не нет ни нельзя никогда без
"""
_DENIES |= frozenset(_ELSEWHERE.split())
_DENIED_RUN = re.compile("[不没沒別别勿未無无]")
_NOT = re.compile("n't", re.IGNORECASE)
_LINKS = frozenset({"of", "than"})
_TELL_APART = {"after", "before", "during", "off", "out", "under", "until"}  # filler to a search, not to a rule
_FILLER = (STOP | {"prefer", "simply", "use", "uses", "used", "using"}) - _TELL_APART
_TURNS = frozenset({"but", "use"})
REACH = 4
_KEPT = 60
"""Characters of the tokens that are remembered as they were taken."""
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_HARD = re.compile(r"[\d/_#@+]|^--?\w|\w\.\w|[a-z][A-Z]")
_CODE = re.compile(r"`[^`\n]+`")
_NUMBER = re.compile(r"v?\d[\d.:]*[a-z]{0,3}")


@dataclass(frozen=True, slots=True)
class Claim:
    """The words of a title, and of title and body together. `hard` are the code, paths, numbers, flags and names."""

    title: frozenset[str]
    words: frozenset[str]
    hard: frozenset[str]


def claim(title: str, body: str, reach: int = REACH) -> Claim:
    """The claim a memory or candidate makes. A denial denies `reach` words after it, at most to the end of its part of
    the sentence."""
    head, rest = _words(title, reach), _words(unframed(body), reach)
    hard = {word for words in (head, rest) for word, is_hard in words.items() if is_hard}
    return Claim(frozenset(head), frozenset({*head, *rest}), frozenset(hard))


def apart(one: AbstractSet[_T], other: AbstractSet[_T]) -> bool:
    """Whether each of two titles has a word the other lacks: two rules side by side, neither says the other."""
    return not (one <= other or other <= one)


def is_number(word: str) -> bool:
    """Whether a word is a number, with its unit or as a version."""
    return _NUMBER.fullmatch(word) is not None


def another(one: Claim, other: Claim) -> bool:
    """Whether two claims are two rules, however much else they share: their titles are `apart`, denials left out.

    Not so if only numbers differ (the value of one rule changed), or if what one prefers the other denies, both ways.
    """
    mine, theirs = _bare(one.title), _bare(other.title)
    if not apart(mine, theirs) or all(map(is_number, mine ^ theirs)):
        return False
    return not (_denied(one.title) & other.title and _denied(other.title) & one.title)


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
    return Claim(_bare(one.title), _bare(one.words), _bare(one.hard))


def _bare(words: frozenset[str]) -> frozenset[str]:
    if not any(word.startswith("!") for word in words):
        return words  # as of most
    return frozenset(word.removeprefix("!") for word in words)


def _denied(words: AbstractSet[str]) -> frozenset[str]:
    return frozenset(word[1:] for word in words if word.startswith("!"))


def _words(text: str, reach: int) -> dict[str, bool]:
    """Each word of a text, and whether it is hard. A span of code is denied as one word is."""
    found: dict[str, bool] = {}
    denied = 0
    plain = _plain(text)
    spans = [match.span() for match in _CODE.finditer(plain)]
    for match in _TOKEN.finditer(plain):
        while spans and spans[0][1] <= match.start():
            spans.pop(0)
            denied = max(0, denied - 1)
        code = bool(spans) and spans[0][0] <= match.start()
        token = match.group()
        if len(token) == 1 and not token.isalnum() and token != "_":
            denied = denied if code else 0
            continue
        token, hard, root = _taken(token) if len(token) <= _KEPT else _taken.__wrapped__(token)
        if not token:
            continue
        if not code:
            if token in _DENIES:
                denied = reach + 1
                continue
            if token in _TURNS and not denied > reach:
                denied = 0
            if token in _LINKS or token in _FILLER:
                continue
        mark = "!" if denied else ""
        if not code:
            denied = max(0, denied - 1)
        if root:
            parts = [mark + root]
        else:
            parts, runs_on = _of_pairs(token, mark, code)
            denied = reach if runs_on else denied
        for word in parts:
            found[word] = found.get(word, False) or code or hard
    return found


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    return _NOT.sub("nt", plain) if "'" in plain else plain


@lru_cache(maxsize=8192)  # the same few thousand in all the texts of a store
def _taken(token: str) -> tuple[str, bool, str]:
    """A token in lower case, whether it is hard as it is written, and its stem: "" in a script without spaces."""
    low = token.lower().rstrip(".-/")
    return low, bool(_HARD.search(token)), "" if _NO_SPACES.search(low) else stem(low)


def _of_pairs(token: str, mark: str, code: bool) -> tuple[list[str], bool]:
    """The words of a token in a script without spaces, with the mark of denial: pairs of letters; and whether it denies
    what comes after it."""
    said, *rest = [token] if code else _DENIED_RUN.split(token, maxsplit=1)
    return [sign + word for part, sign in ((said, mark), ("".join(rest), "!")) if part for word in grams(part)], bool(
        rest
    )


def stem(word: str) -> str:
    """A word without its English ending."""
    if not (word.isascii() and word.isalpha()) or len(word) < 3:
        return word
    for ending, least in (("ing", 5), ("ed", 4), ("es", 4), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    if len(word) > 2 and word[-1] == word[-2]:
        return word[:-1]  # committing, commit
    return word.removesuffix("e") if len(word) > 2 else word
