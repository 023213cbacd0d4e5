"""Memory ids: `YYYYMMDD-<slug>`, readable in any script and safe as file names on every system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date

MAX_LETTERS = 60
MAX_BYTES = 150
_LATIN = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"}
)
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)")


def make_slug(title: str) -> str:
    """Returns a title as lower-case words joined by `-`; Latin letters become ASCII, letters of other scripts stay.

    The whole title is redacted first, because the remains of a secret in a slug would no longer be recognised as one.
    """
    from lerim.redaction import redact_secrets  # imported late: not needed at startup

    title = redact_secrets(title).text
    # Only the start matters, and NFKD can turn one character into 18.
    text = unicodedata.normalize("NFKD", title[:400].lower()).translate(_LATIN).lower()
    letters: list[str] = []
    latin = False
    for letter in text:
        if unicodedata.category(letter).startswith("M"):
            if letters and letters[-1] != "-" and not latin:
                letters.append(letter)  # for example a vowel sign, which non-Latin scripts need
        elif letter.isalnum():
            letters.append(letter)
            latin = letter < "\u0250"
        elif letter not in "'’" and letters and letters[-1] != "-":
            letters.append("-")
    words = _shorten(unicodedata.normalize("NFC", "".join(letters)).strip("-"))
    if not words:
        return "memory"
    return f"{words}-memory" if _DEVICES.fullmatch(words) else words


def _shorten(words: str) -> str:
    short = words[:MAX_LETTERS]
    while len(short.encode("utf-8", "replace")) > MAX_BYTES:
        short = short[:-1]
    if len(short) < len(words) and words[len(short)] != "-" and "-" in short[20:]:
        short = short[: short.rindex("-")]
    return short.strip("-")


def new_id(title: str, day: date, is_taken: Callable[[str], bool]) -> str:
    """Returns the id for a memory of this title created on `day`; appends `-2`, `-3` … while the id is taken."""
    first = f"{day:%Y%m%d}-{make_slug(title)}"
    candidate, count = first, 1
    while is_taken(candidate):
        count += 1
        candidate = f"{first}-{count}"
    return candidate


def matches_slug(memory_id: str, slug: str) -> bool:
    """Returns whether an id may belong to a title with this slug, on any day and with or without a number appended."""
    before, _, suffix = memory_id[len("20260801-") :].partition(slug)
    return not before and (not suffix or (suffix[0] == "-" and suffix[1:].isdigit()))


def is_id(text: str) -> bool:
    """Returns whether a text can be an id: any file name a person may choose, but no path, hidden file or device."""
    if not text or text != text.strip(" .") or len(text.encode("utf-8", "replace")) > 2 * MAX_BYTES - 70:
        return False
    if _DEVICES.fullmatch(text.partition(".")[0].strip().lower()):
        return False
    return text.isprintable() and not any(letter in '/\\:*?"<>|' for letter in text)
