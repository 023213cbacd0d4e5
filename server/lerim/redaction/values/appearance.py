"""Judges by its appearance whether a value is a secret, where its place alone does not prove it. Stricter than
`looks_random`."""

from __future__ import annotations

import re

from lerim.redaction.values.entropy import looks_random
from lerim.redaction.values.letters import is_unlike_words
from lerim.redaction.values.rules import PLACEHOLDER, SAMPLE

_SPECIAL_CHARACTER = re.compile(r"[!@#$%^&*?+=~]")
_CODE = re.compile(r"\$\{|\{\{|\(\?|\[A-Za-z|\[a-z|\\[dws]|%[sd]|</|://|\.\*|&&|\|\||==|=>|\w\(\w*\)|=[\"']|\['")
_OTHER_FORM = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,60}\.[\w.]{2,20}\Z|(?:[\w-]{1,60}\.){1,5}[a-z]{2,6}\Z|[.~]{0,2}/(?![A-Za-z0-9+/]{39}\Z)"
    r"|[a-z]{1,20}://|\d{4}-\d\d-\d\d"
)
_WORD_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_TECHNICAL_WORD = re.compile(
    r"sha\d|pbkdf|md5|crypt|argon|base\d\d|hmac|utf|aes|\Av\d|pass|secret|test|wrong|invalid|correct|user|m(?:in|ax)\d|chars",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)


def is_scrambled(value: str) -> bool:
    """Returns whether letters and digits, or upper and lower case, alternate more often than in a name: `7pEYBamw`, not
    `PBKDF2WithHmac`."""
    if SAMPLE.search(value) or _OTHER_FORM.match(value) or PLACEHOLDER.search(value[:80]):
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
        or PLACEHOLDER.search(value[:80])
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
        and not SAMPLE.search(value)
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
    if not 16 <= len(value) <= 200 or _CODE.search(value) or SAMPLE.search(value):
        return False
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    special_characters = len(value) - letters - digits - sum(value.count(mark) for mark in " _./:-")
    return letters >= 4 and digits >= 1 and special_characters >= 2 and value.count(" ") * 10 <= len(value)


def is_uuid(value: str) -> bool:
    """Returns whether this is a UUID, which is a secret only if a name or a command says so."""
    return bool(_UUID.match(value))
