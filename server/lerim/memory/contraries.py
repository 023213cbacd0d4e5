"""A claim that says the contrary of what was asked, as the denial it is: asked whether to keep a thing, “drop it” says
not to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from lerim.memory.claim import stem
from lerim.memory.wording import OPPOSITES

_PAIRS = """
    keep support use/drop remove delete abandon
    allow permit accept/forbid reject refuse deny disallow
"""
_NO_LONGER = "need needs/drop remove delete abandon"
"""Only what is still needed is asked after to be dropped; a thing that is needed may be deleted at its end."""
_NO_SUPPORT = re.compile(r"^\s*(?:drop|remove|end|stop)s?(?:ping)? (?:the )?support (?:for|of)\b", re.IGNORECASE)
_MAKE = re.compile(r"^\s*make (?=`|the |all |every )", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]*`")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")


def denied(asked: frozenset[str], told: str) -> str:
    """A claim with the first word that says the contrary of one of the question's, all in lower case, put as “not” and
    that word."""
    told = _MAKE.sub("Keep ", _NO_SUPPORT.sub("Do not support", told))
    contrary = _contrary(asked)
    for word in _WORD.findall(_CODE.sub(" ", told).lower()) if contrary else ():
        if meant := contrary.get(stem(word)):
            whole = rf"(?<![\w`/.-]){re.escape(word)}(?![\w`/.-])"
            return re.sub(whole, f"not {meant}", told, count=1, flags=re.IGNORECASE)
    return told


@lru_cache(maxsize=2048)
def _contrary(asked: frozenset[str]) -> Mapping[str, str]:
    """The contraries of a question's words, stemmed, but for those it says itself: what each is
    contrary to."""
    mine = {stem(word): word for word in asked}
    found: dict[str, str] = {}
    for some, others in _sides(no_longer="still" in asked):
        meant = mine.keys() & some
        if len(meant) == 1:
            found |= dict.fromkeys(others - mine.keys(), mine[meant.pop()])
    return found


def _sides(*, no_longer: bool) -> Iterator[tuple[set[str], set[str]]]:
    lines = [*_PAIRS.strip().splitlines(), *(["/".join(pair) for pair in OPPOSITES]), *([_NO_LONGER] * no_longer)]
    for line in lines:
        one, other = (set(map(stem, words.split())) for words in line.split("/"))
        yield one, other
        yield other, one
