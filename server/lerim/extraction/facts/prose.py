"""Splits an agent's reply into sentences, without code blocks, tables, quotes and emphasis."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lerim.extraction.facts import wording
from lerim.extraction.facts.sentences import clip_text

MAX_SENTENCE_CHARS = 500  # a longer sentence is not a statement worth keeping
MAX_READ_CHARS = 8_000
_MARK = re.compile(r"^\s{0,12}(?:[-*•+]|\d{1,2}[.)]|#{1,6})\s{1,4}")
_SIGNS = re.compile(r"[\u2300-\u2bff\U0001f000-\U0001faff\ufe0f]")
_BREAK = re.compile(r"(?<=[.!?])\*{0,2}\s{1,3}(?=[A-Z`*\"(])")
_LINK = re.compile(r"\[([^\]\n]{1,120})\]\([^)\s]{1,300}\)")


@dataclass(frozen=True, slots=True)
class ProseSentence:
    """One sentence: `raw` verbatim from the turn, `plain` without emphasis."""

    raw: str
    plain: str


def split_prose(text: str) -> list[ProseSentence]:
    """Returns the sentences of a reply, in order."""
    out: list[ProseSentence] = []
    fenced = False
    for line in clip_text(text, MAX_READ_CHARS).split("\n"):
        start = line.lstrip()
        fenced ^= start.startswith(("```", "~~~"))
        if fenced or not start or start.startswith(("|", ">", "```", "~~~")):
            continue
        for part in _BREAK.split(_MARK.sub("", line.strip())):
            raw = part.strip()
            shown = strip_emphasis(raw)
            if len(shown) > 3 and len(raw) <= MAX_SENTENCE_CHARS:
                out.append(ProseSentence(raw, shown))
    return out


def strip_emphasis(text: str) -> str:
    """Returns the text on one line, without emphasis, symbols and link targets."""
    shown = _LINK.sub(r"\1", text)
    shown = shown.replace("**", "").replace("’", "'")
    return wording.squeeze_spaces(_SIGNS.sub("", shown)).strip(" -*")
