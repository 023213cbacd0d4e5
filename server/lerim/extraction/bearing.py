"""Whose claim it is: whether the quotes of a candidate bear what it claims, and who said it first where they do not.

A model can be steered into giving a page's claim a quote of the person that has nothing to do with it ("perfect,
commit it"), and an agent repeats what it reads. The measure is the same for both: the *telling* words of the claim's
title, which are its words, and parts of its names, without filler, what is said of every change ("commit", "fix") and
bare approval, shortened to their first letters so that endings do not count.

- A quote of the person **bears** the claim if it shares a telling word with the title, or two with title and text, and
  these weigh at least 15 % of what the quote tells: a word weighs more the fewer stretches of the session hold it.
- A stretch of a session **says** the claim if it holds three quarters of the title's telling words close together,
  a web page if it holds three fifths.

Whoever said a claim first in the session made it. Where that was a tool or a page, and no quote of the person holds
three tenths of the title's telling words, the claim is the tool's or the page's, whatever the agent or a model made of
it. An output holds the words of much that it does not say, so where it was a tool, a quote that bears the claim stays:
the person's alone, the agent's with the tool's, if the tool came before it. Where no quote of the person bears the
claim, it is given to whoever said it first, or came nearest, or, if the quote is nothing but an approval, to the agent
that spoke before. If nobody did, as where the claim is worded in another language, it keeps its quote; it also does
where the quote shares a telling word with the title, or the nearest line of the agent holds less than two fifths of the
title's telling words, and no tool or page came near. All of these are flagged, so that
none is accepted without a look at it, and none is dropped. The figures were chosen on recorded answers of a model
(docs/decisions/0005).
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from lerim.extraction.candidate import Candidate
from lerim.memory import Evidence, Speaker
from lerim.redaction import clean_text, show_hidden
from lerim.words import STOP_WORDS, split_words

UNBORNE = "quote-without-claim"
"""The person's quote does not speak of what is claimed."""
REPEATED = "repeats-a-source"
"""A tool or a web page said it before anybody else."""
FLAGS = frozenset((UNBORNE, REPEATED))

SURE_AT_MOST = 0.55
"""The figure of a claim that no quote of the person bears: as one that rests on the agent's words alone."""
TOLD_AT_MOST = 0.30
"""The figure of a claim that a tool or a page made: as of everything that tries to command an agent."""
BEARS = 0.15
MOSTLY = 0.3
"""The share of a title's telling words from which on a quote makes the claim, whoever else said it."""
SAYS = 0.75
PAGE_SAYS = 0.6
NEAR = 0.4
REACH = 60
"""Telling words within which a claim has to be said."""
LEAST = 2
"""Telling words a title must have before it can be looked for."""
_LETTERS = 5
_QUOTE = 200
_SAID_OF_ALL = """
    add added adds agree agreed ahead always approve approved best better change changed changes check code commit
    committed continue correct create do doesn don done file files fix fixed get go good great implement instead keep
    lgtm look looks make merge never new next nice no not now ok okay one perfect please pr push put rather remove right
    run set ship sounds sure thank thanks there thing things try update use used uses using want way without work works
    write yeah yep yes
"""
_COMMON = frozenset(_SAID_OF_ALL.split())


class Utterance(NamedTuple):
    """What one speaker said in one turn."""

    who: Speaker
    turn: str
    text: str


@lru_cache(maxsize=512)  # what was said in a window is asked for once a claim
def telling_stems(text: str) -> frozenset[str]:
    """The telling words of a text, each as its first letters."""
    return frozenset(key for word in split_words(text) for key in _keys(word))


def is_quote_supporting(quote: str, title: str, body: str, heard: Sequence[Utterance] = ()) -> bool:
    """Whether a quote speaks of what is claimed."""
    said, head = telling_stems(quote), telling_stems(title)
    shared = said & (head | telling_stems(body))
    if not (said & head or len(shared) > 1):
        return False
    weight = {
        key: math.log((len(heard) + 1) / (sum(key in telling_stems(one.text) for one in heard) + 0.5)) for key in said
    }
    return sum(weight[key] for key in shared) >= BEARS * sum(weight.values())


def attribute_claim(candidate: Candidate, heard: Sequence[Utterance]) -> Candidate:
    """The candidate with the quotes of whoever its claim is, flagged where that is not who it seemed to be. `heard` is
    what was said in the session, in order, as far as it is held."""
    title, body = candidate.title, candidate.body
    wanted = telling_stems(title) if len(telling_stems(title)) >= LEAST else telling_stems(f"{title} {body}")
    persons = [one for one in candidate.evidence if one.who == "user"]
    if any(len(telling_stems(one.quote) & wanted) >= MOSTLY * max(1, len(wanted)) for one in persons):
        return candidate
    borne = any(is_quote_supporting(one.quote, title, body, heard) for one in persons)
    first = _first(wanted, heard if persons else _before(candidate.evidence[0], heard))
    if first is not None and first.who in ("tool", "web"):
        if borne and first.who == "tool":
            return _flagged(candidate, REPEATED, SURE_AT_MOST, None)
        if candidate.evidence[0].who in ("tool", "web"):
            return candidate
        flagged = _flagged(candidate, REPEATED, TOLD_AT_MOST, first)
        own = [
            one
            for one in candidate.evidence
            if one.who == "assistant" and is_quote_supporting(one.quote, title, body, heard)
        ]
        return replace(flagged, evidence=(own[0], first)) if own and first.who == "tool" else flagged
    if not persons or borne:
        return candidate
    said = first or _nearest(wanted, heard) or _approved(persons, heard)
    if said is not None and said.who in ("tool", "web"):
        return _flagged(candidate, REPEATED, TOLD_AT_MOST, said)
    near = any(telling_stems(one.quote) & wanted for one in persons)
    if said is not None and said is not first and any(telling_stems(one.quote) for one in persons):
        # one line of a passage that comes near may say little of the claim: the person's words are worth more then
        near = near or len(telling_stems(said.quote) & wanted) < NEAR * len(wanted)
    return _flagged(candidate, UNBORNE, SURE_AT_MOST, None if near else said)


def _before(quoted: Evidence, heard: Sequence[Utterance]) -> Sequence[Utterance]:
    """What was said without what tools printed after the words that are quoted: often what the agent had written."""
    same = [at for at, one in enumerate(heard) if one.turn == quoted.turn and one.who == quoted.who]
    last = next((at for at in same if quoted.quote in heard[at].text), same[-1] if same else len(heard))
    return [one for at, one in enumerate(heard) if at <= last or one.who != "tool"]


def _flagged(candidate: Candidate, flag: str, most: float, said: Evidence | None) -> Candidate:
    """The candidate with this flag, at most this sure, and resting on `said` alone (None: on what it rested on)."""
    flags = tuple(dict.fromkeys((*candidate.flags, flag)))
    evidence = candidate.evidence if said is None else (said,)
    return replace(candidate, flags=flags, confidence=min(candidate.confidence, most), evidence=evidence)


def _keys(word: tuple[str, tuple[str, ...]]) -> Iterable[str]:
    whole, parts = word
    for one in parts or (whole,):
        if one not in STOP_WORDS and one not in _COMMON and (len(one) > 1 or not one.isascii()):
            yield _singular(one)[:_LETTERS]


def _singular(word: str) -> str:
    """A word without the s of its plural, so far as short words need it: `pngs` is `png`."""
    return word[:-1] if 3 < len(word) <= _LETTERS and word.endswith("s") and word[-2] not in "aius" else word


def _first(wanted: frozenset[str], heard: Sequence[Utterance]) -> Evidence | None:
    """The words with which a claim was said first."""
    if len(wanted) < LEAST:
        return None
    for one in heard:
        least = PAGE_SAYS if one.who == "web" else SAYS
        if (found := _passage(wanted, one.text)) and found[0] >= least:
            return _evidence(one, found[1])
    return None


def _nearest(wanted: frozenset[str], heard: Sequence[Utterance]) -> Evidence | None:
    """The words that come nearest to a claim, where they come near at all; of several the first."""
    best: tuple[float, Evidence | None] = (0.0, None)
    for one in heard:
        if (found := _passage(wanted, one.text)) and found[0] > best[0]:
            best = (found[0], _evidence(one, found[1]))
    return best[1] if best[0] >= NEAR else None


def _approved(persons: Sequence[Evidence], heard: Sequence[Utterance]) -> Evidence | None:
    """What the agent had said last before the person approved of it in words that tell nothing."""
    at = next((at for at, one in enumerate(heard) if one.turn == persons[0].turn and one.who == "user"), 0)
    before = [one for one in heard[:at] if one.who == "assistant" and one.text.strip()]
    if not before or telling_stems(persons[0].quote):
        return None
    return _evidence(before[-1], before[-1].text.strip().rpartition("\n")[2])


def _evidence(one: Utterance, line: str) -> Evidence | None:
    quote = show_hidden(clean_text(line.strip()))[:_QUOTE].strip()
    return Evidence(quote, one.turn, one.who) if quote else None


def _passage(wanted: frozenset[str], text: str) -> tuple[float, str] | None:
    """The greatest share of the wanted words that a text holds close together, and the line where it does."""
    if len(telling_stems(text) & wanted) < NEAR * len(wanted):
        return None
    near: deque[tuple[str, int]] = deque()
    counts: Counter[str] = Counter()
    at, most, ended = 0, 0, 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        for key in (key for word in split_words(line) for key in _keys(word)):
            at += 1
            if key not in wanted:
                continue
            near.append((key, at))
            counts[key] += 1
            while at - near[0][1] > REACH:
                counts[near.popleft()[0]] -= 1
            held = sum(count > 0 for count in counts.values())
            if held > most:
                most, ended = held, number
    best = max(lines[max(0, ended - 3) : ended + 1], key=lambda one: len(telling_stems(one) & wanted), default="")
    return most / len(wanted), best
