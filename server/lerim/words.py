"""Splits text into words for search and comparison, and cuts a line between words.

Identifiers yield the whole word and its parts. Names with symbols (`C++`, `.NET`) are one word. Text in scripts without
spaces is split into pairs of letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_STOP_WORD_LIST = """
    a about after again all also always am an and any are as at be because been before being but by can could did
    do does doing done during each ever every few for from further had has have having he her here hers him his
    how i if in into is it its itself just let like may me might more most must my need of off on once only or
    other our ours out own please same shall she should so some such than that the their them then there these
    they this those through to too under until up us very via was we were what when where which while who whom why
    will with would yes you your yours
"""
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())
_SYMBOL_NAMES = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", ".net": "dotnet", "node.js": "nodejs"}
_SYMBOL_NAME_PATTERN = re.compile(r"(?<![\w.])(?:c\+\+|[cf]#|\.net|node\.js)(?!\w)", re.IGNORECASE)
_WORD = re.compile(r"[\w\u0300-\u036f]+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")
# Runs of scripts written without spaces. A search for a part of such a run must find it.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
MAX_WORD_CHARS, _MAX_RUN_CHARS = 80, 2_000
# Words that only make a Chinese or Japanese sentence a question; they are not searched for.
_QUESTION_WORDS = re.compile(
    "为什么|為什麼|什么|什麼|怎么样|怎么|怎麼|怎样|如何|哪里|哪裡|哪个|哪些|是不是|是否|我们|我們|你们|应该|應該|可以|需要|使用"
    "|何故|[吗嗎呢吧的了们何誰私]"
)
# The search terms of such a sentence are its runs of one script.
_SCRIPT_RUN = re.compile(
    "[0-9A-Za-z_\u00c0-\u02af\u0370-\u04ff\uac00-\ud7af]+|[\u30a0-\u30ff]+|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)
_HAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_MAX_WHOLE_RUN = 3
"""The most characters of a Chinese run that is searched for as a whole. A longer one is searched for as pairs of
neighbouring characters."""
_IRREGULAR_FORMS = """
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
_IDLE_WORD_LIST = """
    hi hello hey ok okay yes yep yeah y no n thanks thank you thx please pls continue go on ahead proceed do it that
    so sure next resume great perfect good nice cool done retry try again lgtm keep going carry pick up where we left
    off and now all looks fine hola hallo salut bonjour olá ciao привет 你好 继续 こんにちは 안녕
"""
_IDLE_WORDS = frozenset(_IDLE_WORD_LIST.split())
"""A message made only of these words asks for nothing new."""
_LETTERS = re.compile(r"[^\W\d_]+")
_BASE_FORM = {form: plain for line in _IRREGULAR_FORMS.split(",") for plain, *forms in [line.split()] for form in forms}
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
    """Yields each word in lower case with its parts (`getUserName`: get, user, name; a plain word has none)."""
    return map(split_word, find_words(text))


def find_words(text: str) -> list[str]:
    """Returns the words of a text, as they are written."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    # Each name with symbols contains one of these. Most texts contain none, so the slow pattern is skipped.
    if "#" in text or "++" in text or ".n" in text or ".N" in text or ".j" in text or ".J" in text:
        text = _SYMBOL_NAME_PATTERN.sub(lambda found: f" {_SYMBOL_NAMES[found.group().lower()]} ", text)
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def split_word(word: str) -> tuple[str, tuple[str, ...]]:
    """Returns a word in lower case with its parts, as `split_words` does."""
    if not word.isascii() and _UNSPACED.search(word):
        return _split_unspaced_run(word[:_MAX_RUN_CHARS].lower())
    word = word[:MAX_WORD_CHARS]
    whole = word.lower()
    parts = tuple(part.lower() for part in _PART.findall(word)) if _has_parts(word) else ()
    return whole, parts if len(parts) > 1 else ()


def _split_unspaced_run(word: str) -> tuple[str, tuple[str, ...]]:
    """Returns a word in a script without spaces, and its parts: letter pairs, and substrings in other scripts
    (`uv`)."""
    parts: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(word):
        parts += filter(None, (word[end : run.start()], *letter_pairs(run[0])))
        end = run.end()
    return word[:MAX_WORD_CHARS], tuple(filter(None, (*parts, word[end:])))


def split_unspaced(word: str) -> tuple[str, ...]:
    """Returns the search terms in a Chinese or Japanese word, in lower case: `uv` and `管理` for
    `なぜuvで管理するのか`. Returns nothing for any other word."""
    if word.isascii() or not _HAN.search(word):
        return ()
    found: list[str] = []
    for run in _SCRIPT_RUN.findall(_QUESTION_WORDS.sub(" ", word.lower())):
        found += letter_pairs(run) if len(run) > _MAX_WHOLE_RUN and run[0] >= "\u3400" and is_unspaced(run) else [run]
    return tuple(dict.fromkeys(found))


def is_unspaced(piece: str) -> bool:
    """Returns whether a term starts with a character of a script without spaces and must be searched within runs."""
    return _HAN.match(piece) is not None


def letter_pairs(run: str) -> list[str]:
    """Returns the pairs of neighbouring letters; a single letter is returned as it is."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _has_parts(word: str) -> bool:
    return "_" in word or not (word.islower() or word[1:].islower() or word.isupper() or word.isdigit())


def has_substance(text: str) -> bool:
    """Return whether a person's message says more than "go on", "yes" or "hello"."""
    said = _LETTERS.findall(text[:400].lower())
    return bool(said) and not _IDLE_WORDS.issuperset(said)


def shorten_line(text: str, limit: int) -> str:
    """Cuts text to `limit` characters, ending in an ellipsis if anything was cut: after a word, unless that would leave
    less than half."""
    if len(text) <= limit:
        return text
    end = text.rfind(" ", limit // 2, limit)
    return text[: end if end >= 0 else limit - 1].rstrip(" ,;:") + "…"


def index_text(text: str) -> str:
    """Returns the text as the index stores it: each word, followed by its parts."""
    return " ".join(
        [
            word  # most words have no parts and need no lower-casing
            if word.islower() and word.isalpha() and word.isascii() and len(word) <= MAX_WORD_CHARS
            else _cached_index_word(word)
            if len(word) <= MAX_WORD_CHARS
            else _index_word(word[:_MAX_RUN_CHARS])
            for word in find_words(text)
        ]
    )


def _index_word(word: str) -> str:
    whole, parts = split_word(word)
    return " ".join((whole, *parts)) if parts else whole


_cached_index_word = lru_cache(maxsize=4096)(_index_word)
"""Most texts repeat the same few thousand words. Long words are not cached, because a file may be full of them."""


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Returns a lower-case word without the most common English endings: `paints`, `painted` and `painting` have the
    same stem, and so do `buys` and `bought`."""
    word = _BASE_FORM.get(word, word)
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


@lru_cache(maxsize=1_000)
def beginnings_of_words(root: str) -> frozenset[str]:
    """Returns the first two letters of all words that have this stem, or one that begins with the same two letters.

    `stem` keeps them except for irregular forms."""
    return frozenset((root[:2], *(form[:2] for form, plain in _BASE_FORM.items() if plain[:2] == root[:2])))
