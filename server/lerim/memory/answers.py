"""Which open questions a later claim answers.

Cautious: a claim answers a question only if it speaks of the same things by the same words and names, and settles it:
it names one of the options and not the other, or says (or denies) what was asked about, or gives the name or number
that a “which” or “where” asks for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lerim.memory.claim import Claim
from lerim.memory.contrast import is_value, read
from lerim.memory.record import MemoryRecord

SAME_SUBJECT_FROM = 0.6
"""Of the words of a question, the share that a claim must say to be about the same."""
_LEAD = re.compile(
    r"^\s*(?:in doubt|undecided|open(?: question)?|not settled|question|still open|left open)\s*[:-]\s*", re.IGNORECASE
)
_PUT_OFF = re.compile(r"\s*: (?:put off|left undone), still to be done\s*\?*$", re.IGNORECASE)
_OR_NOT = re.compile(r",? or not\s*\?*$", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:should|shall|must|can|could|would|will|do|does|did|is|are|whether|if|we|i|it|yet|still|settled|decided|open)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(r"^\W*(?:which|what|where|who|when|how many|how much|how long|how often)\b", re.IGNORECASE)
_OR = re.compile(r"\bor\b|\bversus\b|\bvs\b\.?", re.IGNORECASE)
_OPEN = re.compile(
    r"^\W*(?:should|shall|whether|does|did|is|are|can|could|would|do (?:we|you|they|i))\b|\?\s*$"
    r"|\b(?:still open|left open|undecided|not (?:yet )?(?:settled|decided)|to be decided|tbd)\b"
    r"|\byet\b|^\W*decide\b|\bdecide (?:later|after|once|when)\b",
    re.IGNORECASE,
)
"""What a claim says that leaves open what it speaks of."""
_ASIDE = re.compile(r"[,;:(]|\b(?:because|since|so that)\b", re.IGNORECASE)
_MOST_MORE = 1
"""How many words of its own the main clause of a claim may have that answers yes or no: with more it tells something
else of the same things."""
_TOKEN = re.compile(r"[^\W_]{4,}")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question is about: all its words, the last word of its first option and the first of its second, where it
    has two, and whether it asks for a name or a number."""

    words: frozenset[str]
    hard: frozenset[str]
    first: str
    second: str
    which: bool


def answers(question: MemoryRecord, title: str, body: str) -> bool:
    """Whether a claim answers a question; that it was said later is for the caller to see to."""
    if _OPEN.search(title):
        return False
    asked = _asked(question.title)
    found = read(title, body)
    said, plain = found.claim, found.bare
    subject = asked.words - {asked.first, asked.second}
    if len(asked.words) < 2 or len(subject & plain.words) < max(1, SAME_SUBJECT_FROM * len(subject)):
        return False
    options = {asked.first, asked.second} - {""}
    names = (asked.hard & subject) - options
    if names and (2 * len(names & plain.words) < len(names) or any(map(is_value, names - plain.words))):
        return False
    if not subject & plain.title:
        return False
    if len(options) == 2:
        return _chooses(said, asked.first, asked.second)
    if asked.which:
        return bool((plain.hard & said.title) - asked.words)  # a denied name is none
    more = read(_ASIDE.split(title)[0], "").bare.title - asked.words
    if len(more) > _MOST_MORE or (more and asked.words - plain.words):
        return False
    return 2 * len(asked.words & plain.title) >= len(asked.words)


def answered(
    questions: Sequence[MemoryRecord], said: Sequence[MemoryRecord]
) -> Iterator[tuple[MemoryRecord, MemoryRecord]]:
    """Each question with the first later decision or learning that answers it."""
    begins: dict[str, set[int]] = defaultdict(set)
    for at, question in enumerate(questions):
        for start in _starts(question.title):
            begins[start].add(at)
    open_ = dict(enumerate(questions))
    for memory in sorted(said, key=lambda one: (one.updated, one.id)):
        if memory.primitive not in ("decision", "learning"):
            continue
        shared: dict[int, int] = defaultdict(int)
        for start in _starts(f"{memory.title} {memory.body}"):
            for at in begins.get(start, ()):
                shared[at] += 1
        for at in sorted(at for at, count in shared.items() if at in open_ and count > 1):
            if memory.updated > open_[at].updated and answers(open_[at], memory.title, memory.body):
                yield open_.pop(at), memory


def _starts(text: str) -> set[str]:
    """The beginnings of a text's longer words: two texts on the same things share some of them."""
    return {word[:4].lower() for word in _TOKEN.findall(text)}


@lru_cache(maxsize=2048)
def _asked(title: str) -> _Asked:
    text = _PUT_OFF.sub("", _OR_NOT.sub("", _LEAD.sub("", title))).rstrip(" ?")
    which = _WHICH.match(text) is not None
    parts = _OR.split(text)
    first = second = ""
    if len(parts) == 2:
        left, right = (_ordered(part) for part in parts)
        first, second = (left[-1], right[0]) if left and right else ("", "")
    found = read(_ASKS.sub(" ", _OR.sub(" ", text)), "").bare
    return _Asked(found.title, found.hard, first, second, which and not second)


def _ordered(text: str) -> list[str]:
    """The words of a text in order."""
    return [word for part in _ASKS.sub(" ", text.replace("`", " ")).split() for word in read(part, "").bare.title]


def _chooses(said: Claim, first: str, second: str) -> bool:
    """Whether the claim is for one of two options: says the one in its title, and the other nowhere or denied."""

    def takes(one: str, other: str) -> bool:
        return one in said.title and f"!{one}" not in said.words and other not in said.title

    return takes(first, second) or takes(second, first)
