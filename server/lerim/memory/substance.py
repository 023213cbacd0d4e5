"""Whether two texts differ in substance: word for word, for what a comparison of their bags of words overlooks.

A sentence that is another's but for a word or two was changed on purpose, so any word counts there: quantifiers,
modals, `on` and `off`, operators, the exact spelling of code and names. Only articles and the like do not. Where a
sentence is put in other words altogether, the words that limit a rule (`only`, `unless`, `at most`) have to agree.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache

from lerim.memory.claim import stem
from lerim.memory.framing import unframed
from lerim.memory.wording import OPPOSITES, TELLING, alike, phrased

_SENTENCE = re.compile(r"(?<=[.!?:;])(?=\s)|[。！？；]|\n")
_WRAPPED = "\"'“”‘’()[]{},;:!?…*"
_ALL = re.compile(r"All (?:of )?(?:the )?(?=[a-z]+s\b)")
"""What goes without saying of the many a rule is about."""
_INSTEAD = re.compile(r"\b(?:instead of|rather than)\b", re.IGNORECASE)
_DASHES = frozenset({"-", "–", "—", "&"})
_EXACT = re.compile(r"[\d/_#@+<>=~^$%\\]|^--?\w|\w\.\w|[a-z][A-Z]|^[A-Z]{2}")
_FILLER = """
    a an the please kindly simply is are was were be been being am do does did has have had use uses used using that
    which who it its they them this these those there so why then and thus hence
    therefore thereby although though however because also anyway very quite indeed otherwise here such we us you our
    your my me itself themselves ever value values when where actually really now keep keeps kept put puts
    stay stays remain remains live lives lie lies belong belongs
"""
_SAFE = frozenset(_FILLER.split())
"""Words that may come and go in a sentence without changing what it says."""
_WEAK = frozenset({"in", "of", "by", "as", "or", "must", stem("always")})
"""Words that may come or go, but not stand in each other's place."""
_LIMITS = {
    word: group[0]
    for group in (
        line.split()
        for line in """
            all every each everything everyone everybody
            some several sometimes someone something
            may might
            only solely exclusively
            few
            many
            hardly barely rarely seldom scarcely
            fewer less
            more
            least minimum
            most maximum
            unless
            own
            again
            off
            about approximately roughly
            exactly
            both
        """.splitlines()
    )
    if group
    for word in group
}
"""Words that limit a rule or widen it, those of one meaning put together."""
_ALIKE = {
    **dict.fromkeys(("no", "never", "neither", "nor", "none", "cannot", "don't", "doesn't", "without"), "not"),
    **dict.fromkeys(("through", "via", "with"), "by"),
    **dict.fromkeys(("inside", "within", "under", "on", "at"), "in"),
    **dict.fromkeys(("for", "to"), "of"),
    "shall": "must",
}
_MODALS = frozenset({"must", "should", "can", "if", "off", stem("once")})
_TELLING = frozenset(
    {*_LIMITS.values(), *_MODALS, "few", "many", "up", "down"} - {"must"}
    | {"not"}
    | {stem(alike(word)) for word in (*TELLING, "delete", *(one for pair in OPPOSITES for one in pair))} - _WEAK
)
_EDITED_FROM = 2 / 3
"""The share of the longer sentence's words that both have in one order, from which on one is the other, edited."""


def differ(earlier: tuple[str, str], later: tuple[str, str]) -> bool:
    """Whether the later of two texts (title, body) says anything that the earlier one does not, as far as the words of
    its sentences tell: a sentence was edited in more than filler, or a word that limits it came or went. What the later
    one leaves out of the body, and of what the title says already, is no difference."""
    titles, known, said = _sentences(earlier[0], ""), _sentences(*earlier), _sentences(*later)
    about, told = {word for words in titles for word in words}, {word for words in said for word in words}
    for sentence in said:
        if sentence in known:
            continue
        for at, before in enumerate(known):
            out, new = _edits(before, sentence)
            if not (out or new):
                continue
            again = not out and new <= about | set(before)
            less = not (new or any(map(_EXACT.search, out))) and (at >= len(titles) or out <= told)
            if not (again or less) or not (out | new).isdisjoint(_TELLING):
                return True
    mine, theirs = limits(" \n".join(earlier)), limits(" \n".join(later))
    if not theirs <= mine or not limits(earlier[0]) - {"all"} <= theirs:
        return True
    return _respelt(earlier, later)


def limits(text: str, modals: bool = False) -> frozenset[str]:
    """The words of a text, outside of code, that limit a rule or widen it; with `must` and `once` if `modals`."""
    found = frozenset(_LIMITS[word] for words in _sentences("", text) for word in words if word in _LIMITS)
    return found | {word for words in _sentences("", text) for word in words if word in _MODALS} if modals else found


def exact(text: str) -> frozenset[str]:
    """The code, paths, numbers and names of a text as they are written."""
    return frozenset(word for _, word, hard in _tokens(text) if hard)


def _respelt(earlier: tuple[str, str], later: tuple[str, str]) -> bool:
    """Whether a name is written otherwise: the same letters in another case, or another ending."""
    mine, theirs = exact(" \n".join(earlier)), exact(" \n".join(later))
    was = {_loose(word) for word in mine - theirs}
    return bool(was & {_loose(word) for word in theirs - mine})


def _loose(word: str) -> str:
    return stem(word.lower().strip("./-"))


def _edits(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """The words that went and came where one sentence is the other, edited; none where it is put another way."""
    nothing: tuple[set[str], set[str]] = set(), set()
    out, new = Counter(before) - Counter(now), Counter(now) - Counter(before)
    if not (out and new) and set(out | new) <= _WEAK:
        return nothing  # at most another order besides: for `contrast` to judge
    common = sum(found.size for found in SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks())
    if common < len(now) - new.total():
        return nothing
    words = max(out.total(), new.total())
    if not (words <= 2 and common >= words) and common < _EDITED_FROM * max(len(before), len(now)):
        return nothing
    return (set(out), set(new)) if out and new else (set(out) - _WEAK, set(new) - _WEAK)


@lru_cache(maxsize=8192)
def _sentences(title: str, body: str) -> tuple[tuple[str, ...], ...]:
    """The words of each sentence as they are compared, filler left out."""
    found: list[tuple[str, ...]] = []
    for text in (title, unframed(body)):
        found += [words for part in _split(text) if (words := tuple(_compared(part)))]
    return tuple(found)


def _split(text: str) -> Iterable[str]:
    return (_ALL.sub("", part.lstrip()) for part in _SENTENCE.split(text))


def _compared(text: str) -> Iterable[str]:
    for low, word, hard in _tokens(text):
        if hard and not (word.isalpha() and word.islower()):  # such a word may stand without backticks (`_respelt`)
            yield word
        elif low not in _SAFE:
            yield _LIMITS.get(low) or stem(alike(_ALIKE.get(low, low)))


@lru_cache(maxsize=8192)
def _tokens(text: str) -> tuple[tuple[str, str, bool], ...]:
    """Each word in lower case, as it is written, and whether it is exact."""
    text = _INSTEAD.sub("not", text)
    parts = phrased(unicodedata.normalize("NFKC", text).replace("’", "'")).split("`")
    found: list[tuple[str, str, bool]] = []
    for at, part in enumerate(parts):
        code = bool(at % 2) and at < len(parts) - 1
        for token in part.split():
            word = token if code else token.strip(_WRAPPED).rstrip(".").rstrip(_WRAPPED)
            if word and word not in _DASHES:
                found.append((word.lower(), word, code or _EXACT.search(word) is not None))
    return tuple(found)
