"""Text helpers: single lines, full sentences, code spans, lists; and whether a sentence is a guess."""

from __future__ import annotations

from functools import lru_cache

from lerim.patterns import compile_later

MAX_RULE_TITLE_CHARS = 100  # maximum characters of a title

_HEDGE = compile_later(
    r"\b(?:maybe|perhaps|might|could|would|probably|possibly|kind of|kinda|sort of|not sure|unsure|i don['’]?t know"
    r"|wonder|if (?:i|we|you|it|that|there|possible|needed)|what if|suppose|hypothetical\w*|for example|e\.g|imagine"
    r"|let['’]?s say|for instance|seems?|looks? like|feels?|hopefully|guess|try|trying|tentative\w*|assum\w+|someday"
    r"|eventually|later)\b"
)


def squeeze_spaces(text: str) -> str:
    """Returns the text on one line with single spaces."""
    return " ".join(text.split())


def capitalize_first(text: str) -> str:
    """Capitalizes the first letter, unless the first word is a name as written (snake_case, camelCase, a path)."""
    word = text.split(" ", 1)[0]
    plain = word.rstrip(",:;").replace("'", "").replace("’", "").isalpha() and word.islower()
    capital = text[:1].upper()
    # “ß” and “µ” have no capital of their own, so they stay as they are.
    return capital + text[1:] if plain and capital.lower() == text[:1] else text


def full_sentence(text: str) -> str:
    """Returns the text as a full sentence, with a capital letter and a full stop."""
    text = capitalize_first(squeeze_spaces(text)).rstrip(" ,;:")
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


@lru_cache(maxsize=64)
def is_hedged(text: str) -> bool:
    """Returns whether the sentence is a guess or a hypothetical rather than a statement."""
    return _HEDGE.search(text.lower()) is not None


def shorten(text: str, most: int) -> str:
    """Returns at most `most` characters of the text. A longer text is cut between words and ends in an ellipsis."""
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:-—") + "…"


def join_names(names: tuple[str, ...] | list[str]) -> str:
    """Joins names: `a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def code_span(text: str) -> str:
    """Returns a name in backticks."""
    return f"`{text.strip('`')}`"
