"""Noun phrases: whether a thing can be counted, and which article it takes."""

from __future__ import annotations

import re

_COUNTABLE = (
    "adapter cache check client class clause column component constant container context cookie counter cursor "
    "database decorator dict dictionary directory endpoint enum event factory field file filter flag folder "
    "function generator handler hash header hook index interface job key layer library lock loop map method "
    "migration module mutex number object package parameter parser pattern plugin pool prefix process property "
    "protocol proxy queue record registry repository route schema script semaphore sequence server service "
    "session set setting singleton socket stack state store stream string struct subclass suffix table task "
    "template thread timer timestamp token transaction tree trigger tuple type union validator variable view "
    "worker wrapper buffer bucket window limit limiter list log machine "
)
_NOUNS = frozenset(_COUNTABLE.split())
_STARTED = re.compile(r"^(?:an?|the|no|one|two|both|each|every|some|any|all|its|their|only)\s", re.IGNORECASE)
_COMPONENT = re.compile(r"^(?:`[^`]+`|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[\w.]+\(\)|\w+_\w+|\w+\.\w+)$")
_SPELT_AS_AN = frozenset("AEFHILMNORSX")


def countable(phrase: str) -> bool:
    """Whether the phrase ends in a thing one can count, one of it, and has no article yet."""
    words = phrase.strip(" .").split()
    plain = words[-1].strip("`").lower() if words else ""
    return plain in _NOUNS and not _STARTED.match(phrase)


def component(subject: str) -> bool:
    """Whether the subject is a part of the code (`InvoiceStore`), not a word for one."""
    return bool(_COMPONENT.match(subject))


def article(phrase: str, *, known: bool = False) -> str:
    """The phrase with the article it needs: `a` or `an`, or `the` for one that is there already (`known`)."""
    if _STARTED.match(phrase):
        return phrase[:1].lower() + phrase[1:]
    if not countable(phrase):
        return phrase
    if known:
        return f"the {phrase}"
    first = phrase.lstrip("`").split()[0]
    if len(first) > 1 and first[:2].isupper():
        return f"{'an' if first[0] in _SPELT_AS_AN else 'a'} {phrase}"
    lowered = first[:1].lower() + first[1:] if first[1:].islower() and "-" in first else first
    rest = f"{lowered}{phrase[len(first) :]}" if phrase.startswith(first) else phrase
    vowel = re.match(r"(?:[aeio]|u(?!ni|se|ti|uid|rl))", first.lower()) is not None
    return f"{'an' if vowel else 'a'} {rest}"
