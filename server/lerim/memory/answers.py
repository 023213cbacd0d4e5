"""Which open questions a later claim answers.

Cautious, for a question that is closed wrongly is a lie, and one left open only a missed convenience: the title of the
claim says all the question's words, in its order and of the same amount, and settles it. It names one of the options
and not the other; or says (or denies) what was asked about and nothing else; or gives, where it is to be expected, the
name or number that a “which”, “where” or “how long” asks for. What depends on something, tells what once happened or
asks itself answers nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lerim.memory.claim import is_number
from lerim.memory.contrast import Said, read
from lerim.memory.framing import unframed
from lerim.memory.record import MemoryRecord

_MOST_MORE = 3
"""How many words the name or number may have that is asked for."""
_LEAD = re.compile(
    r"^\s*(?:in doubt|undecided|open(?: question)?|not settled|question|still open|left open)\s*[:-]\s*", re.IGNORECASE
)
_PUT_OFF = re.compile(r"\s*: (?:put off|left undone), still to be done\s*\?*$", re.IGNORECASE)
_OR_NOT = re.compile(r",? or not\s*\?*$", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:should|shall|must|can|could|would|will|do|does|did|is|are|whether|if|we|i|it|yet|still|settled|decided|open"
    r"|go|goes)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"^\W*(?P<asks>which|what|where|who|when|why|how(?: (?:many|much|long|often))?)\b(?P<of>.*)", re.IGNORECASE
)
_OR = re.compile(r"\bor\b|\bversus\b|\bvs\b\.?", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]{4,}")
_ASIDE = re.compile(
    r"(?:[,;]\s*(?:not|and not|with|because|since|so that)|\s(?:because|since|so that))\b.*", re.IGNORECASE
)
"""What is said besides: in place of what, with what, and why."""
_CODE = re.compile(r"`[^`\n]*`")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_QUESTION = re.compile(
    r"\?(?=\W*(?:\s|$))|^\W*(?:should|shall|whether|does|did|is|are|can|could|would|do (?:we|you|they|i))\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:yet|undecided|unsettled|tbd|open|unclear|if|unless|provided|maybe|perhaps|possibly|might|postponed?|put off"
    r"|decide|to be decided|for now|currently|(?:at|for) the moment|(?:their|your|his|her) own"
    r"|(?:not|never|nothing|isn['’]t) (?:\w+ )?(?:settled|decided|sure|clear))\b",
    re.IGNORECASE,
)
"""What leaves open what a text speaks of, or lets it hold only in a case."""
_SMALL = """
    after again all always any before both could each every few hardly last may more most mostly off often once only
    other others out partly rarely same seldom so some sometimes then until usually when while
"""
_AMOUNT = frozenset(_SMALL.split())
"""Words that search leaves out, and that make of a claim another: how much, when, how surely."""
_ONCE = """
    was were had did ran broke wrote went took came got made kept held left found lost sent built began chose gave grew
    knew saw said told threw hung hit
"""
_PAST = frozenset(_ONCE.split())
"""Verbs that tell what happened, besides those in -ed."""
_IS = frozenset({"is", "are", "be", "been", "gets", "get", "being", "stays", "stay"})
_ARTICLES = frozenset({"the", "a", "an", "our", "its", "their"})
_PLACES = frozenset({"in", "into", "to", "under", "on", "at", "inside"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question is about: all its words and those in order without the options, the last word of its first
    option and the first of its second, where it has two, and what it asks for: yes or no (“”), or “which”, “where” or
    “how much”, of which `kind` are the words of the thing that is asked for. `small`: its words
    as they are.
    """

    words: frozenset[str]
    hard: frozenset[str]
    order: tuple[str, ...]
    first: str
    second: str
    asks: str
    kind: frozenset[str]
    small: frozenset[str]


def answers(question: MemoryRecord, title: str, body: str) -> bool:
    """Whether a claim answers a question; that it was said later is for the caller to see to."""
    asked = _asked(question.title)
    if len(asked.words) < 2:
        return False
    found = read(_ASIDE.sub("", title), body)
    said = found.bare.title
    subject = frozenset(asked.order)
    unsaid = subject - said
    if unsaid and not _wider(asked, found, unsaid):
        return False
    if not _in_order(
        [word for word in asked.order if word in said], [one for one in _ordered(found.title) if one in subject]
    ):
        return False
    if not _settled(asked, title, body):
        return False
    if asked.first:
        return said <= asked.words and _chooses(found, asked.first, asked.second)
    if asked.asks:
        return subject <= found.claim.title and _gives(asked, found)
    return said <= asked.words


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
    parts = _OR.split(text)
    first = second = ""
    if len(parts) == 2:
        left, right = (_ordered(part) for part in parts)
        first, second = (left[-1], right[0]) if left and right else ("", "")
    which = _WHICH.match(text) if not second else None
    asks, rest = (which["asks"].lower(), which["of"]) if which else ("", text)
    kind = _ASKS.split(rest, maxsplit=1)[0] if which else ""
    found = read(_ASKS.sub(" ", _OR.sub(" ", rest)), "").bare
    order = tuple(word for word in _ordered(rest) if word not in (first, second))
    return _Asked(found.title, found.hard, order, first, second, asks, frozenset(_ordered(kind)), _small(text))


def _ordered(text: str) -> list[str]:
    """The words of a text in order, those that only ask left out."""
    return [word for part in _parts(read(_ASKS.sub(" ", text), "").title) for word in part[1]]


def _parts(text: str) -> list[tuple[str, frozenset[str]]]:
    """Each part of a text between spaces, and what it says."""
    return [(part.lower().strip(",.;:()"), read(part, "").bare.title) for part in text.replace("`", " ").split()]


def _small(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_CODE.sub(" ", text).lower()))


def _wider(asked: _Asked, found: Said, unsaid: frozenset[str]) -> bool:
    """Whether a claim that lacks a word of a yes-or-no question denies what is asked and more: what is never done is
    not done to shared ones either."""
    plain_no = not (asked.asks or asked.first) and found.claim.title != found.bare.title
    return plain_no and len(asked.words) > 4 and len(unsaid) == 1 and not unsaid & asked.hard


def _in_order(asked: Sequence[str], said: Sequence[str]) -> bool:
    """Whether both are the same words in one order, but for one that may stand anywhere, as verbs do."""
    return any([one for one in asked if one != word] == [one for one in said if one != word] for word in asked)


def _settled(asked: _Asked, title: str, body: str) -> bool:
    """Whether a claim holds without conditions, is of the same amount as what was asked, asks nothing itself, and does
    not tell what once happened."""
    rest = unframed(body)
    if _QUESTION.search(title) or _OPEN.search(_CODE.sub(" ", f"{title}\n{rest}")) or "?" in _CODE.sub(" ", rest):
        return False
    small = _small(title)
    if small & _AMOUNT != asked.small & _AMOUNT:
        return False
    words = _WORD.findall(_CODE.sub(" ", title).lower())
    for at, word in enumerate(words):
        past = word in _PAST or (word.endswith("ed") and not _IS & set(words[max(0, at - 2) : at]))
        if past and word not in asked.small:
            return False
    return True


def _chooses(found: Said, first: str, second: str) -> bool:
    """Whether the claim is for one of two options: says the one in its title, and the other nowhere or denied."""
    said = found.claim

    def takes(one: str, other: str) -> bool:
        return one in said.title and f"!{one}" not in said.words and other not in said.title

    return takes(first, second) or takes(second, first)


def _gives(asked: _Asked, found: Said) -> bool:
    """Whether a claim gives a name or number where that is to be expected, and has no other words of its own."""
    parts = _parts(found.title)
    new = [at for at, (_, words) in enumerate(parts) if words - asked.words]
    if not new or new[-1] - new[0] >= len(new) or len(new) > _MOST_MORE or not parts[new[0]][1] & found.bare.hard:
        return False
    if asked.asks.startswith("how "):
        return len(new) == 1 and all(map(is_number, parts[new[0]][1]))
    before = [part for part in parts[: new[0]] if part[0] not in _ARTICLES]
    after = parts[new[-1] + 1 :]
    if asked.asks == "where":
        return not after and bool(before) and before[-1][0] in _PLACES
    if asked.asks not in ("which", "what"):
        return False
    if not before or [part[0] for part in before] == ["use"]:
        return bool(after) and after[0][0] in ("is", "are", "as")
    if before[-1][0] in ("is", "are"):
        return not after
    return len(new) == 1 and bool(before[-1][1]) and before[-1][1] <= asked.kind
