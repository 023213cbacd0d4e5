"""Judges whether a value looks random, as keys and tokens do, or written by a person, as names do. Also judges
whether a value is a secret if its place alone does not prove it."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from itertools import pairwise
from string import ascii_lowercase

from lerim.patterns import compile_later
from lerim.redaction.values.placeholders import is_placeholder, is_sample

_SPECIAL_CHARACTER = compile_later(r"[!@#$%^&*?+=~]")
_CODE = compile_later(r"\$\{|\{\{|\(\?|\[A-Za-z|\[a-z|\\[dws]|%[sd]|</|://|\.\*|&&|\|\||==|=>|\w\(\w*\)|=[\"']|\['")
_OTHER_FORM = compile_later(
    r"[\w.+-]{1,64}@[\w-]{1,60}\.[\w.]{2,20}\Z|(?:[\w-]{1,60}\.){1,5}[a-z]{2,6}\Z|[.~]{0,2}/(?![A-Za-z0-9+/]{39}\Z)"
    r"|[a-z]{1,20}://|\d{4}-\d\d-\d\d"
)
_WORD_PIECES = compile_later(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_TECHNICAL_WORD = compile_later(
    r"sha\d|pbkdf|md5|crypt|argon|base\d\d|hmac|utf|aes|\Av\d|\Apass|pass(?:[_-]?w|ed|port)|secret|test|wrong|invalid"
    r"|correct|user|m(?:in|ax)\d|chars",
    re.IGNORECASE,
)
_UUID = compile_later(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_HEX = compile_later(r"^[0-9a-f]{7,64}$")
_WORD = compile_later(r"^(?:[A-Za-z]?[a-z]{0,20}\d{0,3}|[A-Z]{1,20}\d{0,3}|\d{1,8}[a-z]?)$")
_FOLLOWED_BY = (
    "26772461604867161878553452 62325220540622520542500030 72547327506633830647511030 63458432721543640554522130 "
    "74786663513778565988365741 52335510700522620534501030 52327134502435420653511010 61226201502332620435300030 "
    "65766561203769851577350405 30004000000000300030200000 31226221400322320242212100 73458331702733740366531050 "
    "74337221602442660253510120 73777573614445641478552030 55663451524768560866756311 72447325502632650756521040 "
    "00000000000300000110500000 83659452705565741667542050 53648436704544663378633150 84659537802544751766634261 "
    "55446340500667260766000100 61217110600122320122000010 51224104501214410441001000 30415101400230150126000020 "
    "32334221300444360344012001 30005000200000200000000000 "
)
"""For each letter, how often each other letter follows it, from 0 (never) to 9, counted in the words of programs and
their documentation, which are mostly English. Random letters score 3 on average, hardly any word less than 5."""
_LEAST_WORD_SCORE, _LEAST_NAME_SCORE = 4.9, 5.5
_FEWEST_LETTERS = 10
_NAME_WORDS = compile_later(r"[A-Z]?[a-z]+|[A-Z]+")
"""The words that make up a name; in real names they average at least about three letters."""


def is_scrambled(value: str) -> bool:
    """Returns whether letters and digits, or upper and lower case, alternate more often than in a name: `7pEYBamw`, not
    `PBKDF2WithHmac`."""
    if is_sample(value) or _OTHER_FORM.match(value) or is_placeholder(value):
        return False
    digits = sum(map(str.isdigit, value))
    characters_per_piece = sum(map(str.isalnum, value)) / max(1, len(_WORD_PIECES.findall(value)))
    is_single_case = digits >= 3 and len(value) >= 20 and value.isalnum() and (value.islower() or value.isupper())
    if is_single_case and characters_per_piece < 5 and is_unlike_words(value):
        return looks_random(value)
    if digits:
        return looks_random(value) and (
            characters_per_piece < (3.3 if digits > 2 else 2.9)
            or (characters_per_piece < 3.2 and value.isalnum() and is_unlike_words(value))
        )
    is_mixed_case = characters_per_piece < 2.5 and not (value.isupper() or value.islower())
    return len(value) >= 10 and value.isalnum() and (is_mixed_case or is_unlike_words(value))


def looks_like_password(value: str) -> bool:
    """Returns whether a value looks like a password: scrambled, or letters and digits with special characters that
    names do not have."""
    if (
        not 8 <= len(value) <= 200
        or " " in value
        or is_placeholder(value)
        or _CODE.search(value)
        or _OTHER_FORM.match(value)
    ):
        return False
    if is_scrambled(value):
        return True
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    digits += bool(re.search(r"[a-z].*[A-Z]", value))
    return (
        letters >= 3
        and digits >= 1
        and bool(_SPECIAL_CHARACTER.search(value))
        and not is_sample(value)
        and value[0] != "#"
    )


def looks_chosen(value: str, digits: int = 2) -> bool:
    """Returns whether a person may have chosen this as a password: it has letters and at least `digits` digits, and
    is not an algorithm or a test value. Only for places that contain nothing but passwords."""
    letters = sum(map(str.isalpha, value))
    return letters >= 3 and sum(map(str.isdigit, value)) >= digits and not _TECHNICAL_WORD.search(value)


def is_punctuated_key(value: str) -> bool:
    """Returns whether this is a key of letters, digits and special characters, as frameworks generate them; it may
    contain spaces."""
    if not 16 <= len(value) <= 200 or _CODE.search(value) or is_sample(value):
        return False
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    special_characters = len(value) - letters - digits - sum(value.count(mark) for mark in " _./:-")
    return letters >= 4 and digits >= 1 and special_characters >= 2 and value.count(" ") * 10 <= len(value)


def is_uuid(value: str) -> bool:
    """Returns whether this is a UUID, which is a secret only if a name or a command says so."""
    return bool(_UUID.match(value))


def looks_random(value: str) -> bool:
    """Returns whether a value looks random: letters and digits mixed, or only letters if they are long and of mixed
    case, or form no words. Words joined by hyphens, dots or underscores do not look random."""
    if len(value) < 8 or is_placeholder(value):
        return False
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    if not digits or letters < 3:
        mixed = any(map(str.islower, value)) and any(map(str.isupper, value))
        if mixed and len(value) >= 24 and _entropy(value) > 4.0:
            return True
        return letters * 10 >= len(value) * 9 and is_unlike_words(value)
    parts = re.split(r"[-_.]", value)
    if len(parts) > 2 and all(len(part) < 12 and _WORD.match(part) for part in parts):
        return False
    return _entropy(value) > (2.5 if _HEX.match(value) else 2.9)


def _entropy(value: str) -> float:
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


@cache
def _load_pair_scores() -> dict[tuple[str, str], int]:
    rows = zip(ascii_lowercase, _FOLLOWED_BY.split(), strict=True)
    return {
        (first, second): int(score) for first, row in rows for second, score in zip(ascii_lowercase, row, strict=True)
    }


def is_unlike_words(value: str) -> bool:
    """Returns whether the letters of a value, at least ten, form no words: `vgiqcgsobhmkizxf`, not
    `getUserFromRequest`."""
    letters = [letter for letter in value.lower()[:200] if "a" <= letter <= "z"]
    if len(letters) < _FEWEST_LETTERS:
        return False
    is_mixed_case = not (value.islower() or value.isupper())
    letters_per_piece = len(letters) / max(1, len(_NAME_WORDS.findall(value))) if is_mixed_case else 9
    if letters_per_piece < 2.5 and len(letters) >= len(value) - 2:
        return True
    pair_scores = _load_pair_scores()
    least_score = _LEAST_NAME_SCORE if letters_per_piece < 3.1 else _LEAST_WORD_SCORE
    return sum(map(pair_scores.__getitem__, pairwise(letters))) < least_score * (len(letters) - 1)
