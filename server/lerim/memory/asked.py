"""What an open question asks: its words, the two options it may name, and what it wants to know."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lerim.memory.contrast import read

_LEAD = re.compile(
    r"^\s*(?:in doubt|undecided|open(?: question)?|not settled|question|still open|left open)\s*[:-]\s*", re.IGNORECASE
)
_PUT_OFF = re.compile(r"\s*: (?:put off|left undone), still to be done\s*\?*$", re.IGNORECASE)
_OR_NOT = re.compile(r",? or not\s*\?*$", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:should|shall|must|can|could|would|will|do|does|did|is|are|whether(?: to)?|if|we|i|it|yet|still|settled"
    r"|decided|open|go|goes)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"^\W*(?P<asks>which|what|where|who|when|why"
    r"|how(?: (?:many times|many|much|long|often|large|big|small|high|old))?)\b(?P<of>.*)",
    re.IGNORECASE,
)
_OR = re.compile(r"\bor\b|\bversus\b|\bvs\b\.?", re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]*`")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_LETTER = re.compile(r"(?<=\w )(?!I\b)[A-Z](?![\w`'’.])")
USES = frozenset({"use", "uses", "used", "using"})
_PREPOSITIONS = re.compile(
    r"\b(?P<how>in|inside|into|within|on|onto|to|at|for|(?<!instead )of|under|behind|between|above|below|from|by)\s",
    re.IGNORECASE,
)
_TELLING = frozenset({"from", "by"})


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question is about: all its words, those that are names, code or numbers, and those in order without the
    options (`use` among them); the last word of its first option and the first of its second, where it has two; and
    what it asks for: yes or no (“”), or “which”, “where” or “how many”, of which `kind` are the words of the thing that
    is asked for, in order and as they are in `plain_kind`. `small`: its words as they are. `governed`: what stands
    behind its prepositions. `letters`: single capital letters it uses as names.
    """

    words: frozenset[str]
    hard: frozenset[str]
    order: tuple[str, ...]
    first: str
    second: str
    asks: str
    kind: frozenset[str]
    plain_kind: tuple[str, ...]
    small: frozenset[str]
    governed: frozenset[tuple[str, str]]
    letters: frozenset[str]


@lru_cache(maxsize=2048)
def asked(title: str) -> Asked:
    """A question as its title puts it."""
    text = _PUT_OFF.sub("", _OR_NOT.sub("", _LEAD.sub("", title))).rstrip(" ?")
    letters = frozenset(_LETTER.findall(text))
    text = lettered(text, letters)
    options = _OR.split(text)
    first = second = ""
    if len(options) == 2:
        left, right = (in_order(part) for part in options)
        first, second = (left[-1], right[0]) if left and right else ("", "")
    which = _WHICH.match(text)
    if which and which["asks"].lower() not in ("which", "what") and second:
        which = None
    asks, rest = (which["asks"].lower(), which["of"]) if which else ("", text)
    named = _ASKS.split(rest, maxsplit=1)[0] if which else ""
    kind = frozenset(in_order(named)) - {first, second}
    said = read(_ASKS.sub(" ", _OR.sub(" ", rest)), "").bare
    left_out = {first, second} | (kind if second else frozenset())
    order = tuple(word for word in in_order(rest) if word not in left_out)
    behind = frozenset((how, word) for how, words in governed(rest) for word in words)
    if second and any(word == first for _, word in behind):
        behind |= {(how, second) for how, word in behind if word == first}
    if "use" in order:  # “should X use Y”: “use Y for X” says so, too
        behind |= {("at", word) for word in order[: order.index("use")]}
    return Asked(
        said.title,
        said.hard,
        order,
        first,
        second,
        "" if second else asks,
        kind,
        tuple(_WORD.findall(named.lower())),
        small(rest),
        behind,
        letters,
    )


def lettered(text: str, letters: frozenset[str]) -> str:
    """A text with these single letters as names: `A` is one where the question says so, and else the article."""
    return re.sub(rf"(?<![\w`])(?:{'|'.join(sorted(letters))})(?![\w`'’])", r"`\g<0>`", text) if letters else text


def in_order(text: str) -> tuple[str, ...]:
    """The words of a text in order with `use`, those that only ask left out."""
    return tuple(
        word for part, words in parts(_ASKS.sub(" ", text)) for word in (words or (["use"] if part in USES else []))
    )


def parts(text: str) -> list[tuple[str, frozenset[str]]]:
    """Each part of a text between spaces, and what it says."""
    found: list[tuple[str, frozenset[str]]] = []
    for at, span in enumerate(read(text, "").title.split("`")):
        tick = "`" if at % 2 else ""
        found += [(part.lower().strip(",.;:()"), read(f"{tick}{part}{tick}", "").bare.title) for part in span.split()]
    return found


def small(text: str) -> frozenset[str]:
    """The words of a text as they are, without code."""
    return frozenset(_WORD.findall(_CODE.sub(" ", text).lower()))


def governed(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """The words behind each preposition up to the next, and the preposition where another would say the contrary
    (`from`, `by`), else “at”."""
    _, *pieces = _PREPOSITIONS.split(_ASKS.sub(" ", text))
    heads, tails = (piece.lower() for piece in pieces[::2]), pieces[1::2]
    return [(how if how in _TELLING else "at", in_order(tail)) for how, tail in zip(heads, tails, strict=True)]
