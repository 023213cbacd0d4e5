"""Finds names that a sentence, a prompt or a reply says are no longer used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lerim.extraction.facts.own_words import clip_text, is_question, split_spoken
from lerim.patterns import compile_later

MAX_NAMES = 3
MAX_REPLY_CHARS = 20_000  # characters read of a reply: its head and its tail
_PIECES = compile_later(r"(?<=[.!?])\s|\n")
_NAME = (
    r"(?:`(?P<code>[^`\n]{2,60})`|"
    r"(?<![\w@/.+-])(?P<name>[A-Za-z@][\w@/+-]{1,40}(?:\.\w[\w@/+-]{0,30}){0,4})(?![\w@/+-]))"
)
_LEAVING_VERBS = r"(?:switch(?:ed|ing)?|mov(?:e|ed|ing)|migrat(?:e|ed|ing)|chang(?:e|ed|ing))"
_ENDS = tuple(
    compile_later(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:don['’]?t|do not|doesn['’]?t|not|never) (?:use|want|need|run|call|support) {_NAME}"
        r"(?: [\w'’-]{1,20}){0,3} any ?(?:more|longer)\b",
        rf"\bno longer (?:(?:use|using|want|need|run|call|support)s? )?{_NAME}",
        rf"{_NAME} (?:is|are) no longer (?:used|needed|wanted|supported)\b",
    )
)
"""Patterns that contain a negation themselves, so `_DENIED` does not apply to them."""
_REPLACES = tuple(
    compile_later(pattern, re.IGNORECASE)
    for pattern in (
        rf"\breplac(?:es?|ed|ing) {_NAME}",
        rf"{_NAME} (?:is|are|was|were|gets|got|has been) (?:now )?replaced (?:by|with)\b",
        rf"\b{_LEAVING_VERBS} (?:over )?from {_NAME} to\b",
        rf"\b{_LEAVING_VERBS} away from {_NAME}",
        rf"\b(?:drop(?:ped|ping)?|ditch(?:ed|ing)?|retir(?:e|ed|ing)|g[eo]t rid of) {_NAME}"
        r"(?=[,;.]|$| in favou?r\b| and (?:use|go|take|move[ds]?|switch)\b)",
    )
)
_DENIED = compile_later(r"(?:\b(?:not|never|without|avoid)\b|n['’]?t\b)[^,;.:]{0,30}$", re.IGNORECASE)
DECISION_PATTERN = compile_later(
    r"\b(?:decid(?:ed?|ing) (?:to|on|that|against)|decision(?: is|:)|(?:i|we)(?:['’]ll| will| have|['’]ve)? (?:chose"
    r"|choose|chosen|opted|settled|went|go|gone) (?:to|for|on|with)?|chose|(?:let['’]?s|we(?:['’]ll| will| should)?"
    r"|i(?:['’]ll| will)?) (?:use|go with|stick (?:to|with)|switch to|adopt|keep)|going with|instead of|rather than"
    r"|agreed (?:to|on|that)|from now on|the (?:best|right) (?:approach|choice|option) is)\b",
    re.IGNORECASE,
)
_WORDS = """
    a all an any by everything from here in it its left my needed old one our right some something supported that the
    their them there these they this those to use used using wanted what with your
"""
_NOT_NAMES = frozenset(_WORDS.split())


def find_superseded_names(sentence: str) -> tuple[str, ...]:
    """Returns up to three names, as written, that a sentence says are no longer used: `yarn` in "we don't use yarn
    any more", "pnpm replaces yarn", "we moved from yarn to pnpm". "Instead of" and "not" do not count, as they may
    refer to something that was never used."""
    names: dict[str, None] = {}
    for pattern, may_be_denied in (*((one, False) for one in _ENDS), *((one, True) for one in _REPLACES)):
        for match in pattern.finditer(sentence):
            name = match["code"] or match["name"]
            denied = may_be_denied and _DENIED.search(sentence[max(0, match.start() - 60) : match.start()])
            if not denied and (match["code"] or name.lower() not in _NOT_NAMES):
                names[name] = None
    return tuple(names)[:MAX_NAMES]


def superseded_by_prompt(text: str) -> Iterator[str]:
    """Yields the names that, according to a person's statements, are no longer used."""
    for sentence in split_spoken(text):
        if not is_question(sentence):
            yield from find_superseded_names(sentence)


def superseded_by_reply(text: str) -> Iterator[str]:
    """Yields the names that are no longer used according to the decisions in a reply of the model."""
    for sentence in find_decisions(clip_text(text, MAX_REPLY_CHARS)):
        yield from find_superseded_names(sentence)


def find_decisions(text: str) -> Iterator[str]:
    """Yields the sentences of a text that state a decision."""
    for piece in _PIECES.split(text):
        sentence = piece.strip(" -*•#>")
        if 8 < len(sentence) <= 400 and not sentence.endswith("?") and DECISION_PATTERN.search(sentence):
            yield sentence
