"""Words of a text as search and comparison see them: identifiers whole and in parts, languages with symbols in their
names, scripts without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_FILLER = """
    a about after again all also always am an and any are as at be because been before being but by can could did
    do does doing done during each ever every few for from further had has have having he her here hers him his
    how i if in into is it its itself just let like may me might more most must my need of off on once only or
    other our ours out own please same shall she should so some such than that the their them then there these
    they this those through to too under until up us very via was we were what when where which while who whom why
    will with would yes you your yours
"""
STOP_WORDS = frozenset(_FILLER.split())
_NAMED = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", ".net": "dotnet", "node.js": "nodejs"}
_NAMED_PATTERN = re.compile(r"(?<![\w.])(?:c\+\+|[cf]#|\.net|node\.js)(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"[\w\u0300-\u036f]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")
# Scripts written without spaces: a search for a part of such a run must find it.
_RUN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_MAX_WORD, _MAX_RUN = 80, 2_000
# What a question in Chinese or Japanese is asked by: runs of one script, without the words that make it a question.
_ASKING = re.compile(
    "为什么|為什麼|什么|什麼|怎么样|怎么|怎麼|怎样|如何|哪里|哪裡|哪个|哪些|是不是|是否|我们|我們|你们|应该|應該|可以|需要|使用"
    "|何故|[吗嗎呢吧的了们何誰私]"
)
_SCRIPT = re.compile(
    "[0-9A-Za-z_\u00c0-\u02af\u0370-\u04ff\uac00-\ud7af]+|[\u30a0-\u30ff]+|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_HAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_SHORT = 3
"""Chinese characters that are looked for together; of more every two neighbours."""
_IRREGULAR = """
    become became, begin began begun, break broke broken, bring brought, build built, buy bought, catch caught,
    choose chose chosen, come came, deal dealt, draw drew drawn, drive drove driven, eat ate eaten, fall fell
    fallen, feel felt, fight fought, find found, fly flew flown, forget forgot forgotten, freeze froze frozen, get
    got gotten, give gave given, go goes going went gone, grow grew grown, hear heard, hide hid hidden, hold held,
    keep kept, know knew known, lead led, leave left, lend lent, lose lost, make made, mean meant, meet met,
    overwrite overwrote overwritten, pay paid, rebuild rebuilt, rewrite rewrote rewritten, ride rode ridden, ring
    rang rung, rise rose risen, run ran, say said, see saw seen, seek sought, sell sold, send sent, shake shook
    shaken, show shown, sing sang sung, sleep slept, speak spoke spoken, spend spent, stand stood, steal stole
    stolen, stick stuck, swim swam swum, take took taken, teach taught, tell told, think thought, throw threw
    thrown, understand understood, wake woke woken, wear wore worn, win won, write wrote written, child children,
    mouse mice, person people
"""
_REGULAR = {form: plain for line in _IRREGULAR.split(",") for plain, *forms in [line.split()] for form in forms}
_ENDINGS = (
    ("ations", "at"),
    ("ation", "at"),
    ("ings", ""),
    ("ing", ""),
    ("iest", "y"),
    ("ies", "y"),
    ("ied", "y"),
    ("sses", "ss"),
    ("ers", ""),
    ("ed", ""),
    ("er", ""),
    ("ly", ""),
    ("es", "e"),
    ("ss", "ss"),
    ("us", "us"),
    ("s", ""),
)


def split_words(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each word in lower case with its parts (`getUserName`: get, user, name; a plain word has none)."""
    return map(_taken_apart, _found(text))


def _found(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    # a part of each of the names, whatever its case: most texts have none, and need no look at every letter
    if "#" in text or "++" in text or ".n" in text or ".N" in text or ".j" in text or ".J" in text:
        text = _NAMED_PATTERN.sub(lambda found: f" {_NAMED[found.group().lower()]} ", text)
    return _WORD.findall(text)


def _taken_apart(word: str) -> tuple[str, tuple[str, ...]]:
    if not word.isascii() and _RUN.search(word):
        return _of_run(word[:_MAX_RUN].lower())
    word = word[:_MAX_WORD]
    whole = word.lower()
    parts = tuple(part.lower() for part in _PART.findall(word)) if _splits(word) else ()
    return whole, parts if len(parts) > 1 else ()


def _of_run(word: str) -> tuple[str, tuple[str, ...]]:
    """A word in a script without spaces, and in pairs of letters; what stands in it of others (`uv`) is a part."""
    parts: list[str] = []
    end = 0
    for run in _RUN.finditer(word):
        parts += filter(None, (word[end : run.start()], *letter_pairs(run[0])))
        end = run.end()
    return word[:_MAX_WORD], tuple(filter(None, (*parts, word[end:])))


def split_unspaced(word: str) -> tuple[str, ...]:
    """What a word in Chinese or Japanese is asked by, in lower case: `なぜuvで管理するのか` by `uv`, `管理`. Nothing of
    any other word."""
    if word.isascii() or not _HAN.search(word):
        return ()
    found: list[str] = []
    for run in _SCRIPT.findall(_ASKING.sub(" ", word.lower())):
        found += letter_pairs(run) if len(run) > _SHORT and run[0] >= "\u3400" and is_unspaced(run) else [run]
    return tuple(dict.fromkeys(found))


def is_unspaced(piece: str) -> bool:
    """Whether a piece is of a script without spaces: it is looked for within runs."""
    return _HAN.match(piece) is not None


def letter_pairs(run: str) -> list[str]:
    """Pairs of neighbouring letters; one letter stands for itself."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _splits(word: str) -> bool:
    return "_" in word or not (word.islower() or word[1:].islower() or word.isupper() or word.isdigit())


def index_text(text: str) -> str:
    """The text as the index stores it: every word, and its parts after it."""
    return " ".join([_stored(word) if len(word) <= _MAX_WORD else _form(word[:_MAX_RUN]) for word in _found(text)])


def _form(word: str) -> str:
    whole, parts = _taken_apart(word)
    return " ".join((whole, *parts)) if parts else whole


_stored = lru_cache(maxsize=4096)(_form)
"""A store's words are the same few thousand; long ones, of which a file may be full, are not kept."""


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word in lower case without its commonest English endings: `paints`, `painted` and `painting` have one stem, and
    so have `buys` and `bought`."""
    word = _REGULAR.get(word, word)
    if not word.isalpha():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    return word[:-1] + "i" if word[-1] == "y" and len(word) > 2 else word
