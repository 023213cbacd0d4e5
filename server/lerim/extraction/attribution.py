"""Checks whether a candidate's quotes support its claim and, if not, attributes the claim to whoever said it first.
An agent's words stay the agent's, unless a tool or a page said the same before.

A model can be steered into backing a web page's claim with an unrelated quote from the person ("perfect, commit it"),
and an agent repeats what it reads. Both are measured by the *telling* words of the claim's title: its words and the
parts of its names, without filler words, words said of every change ("commit", "fix") and bare approval, cut to their
first letters so that endings do not count.

- A quote from the person **supports** the claim if it shares one telling word with the title, or two with title and
  body, and the shared words make up at least 15 % of its weight. A word weighs more the fewer utterances contain it.
- An utterance **says** the claim if it contains three quarters of the title's telling words close together; for a web
  page three fifths are enough.

If a tool or a web page said the claim first in the session, and no quote from the person contains three tenths of the
title's telling words, the claim is attributed to the tool or page, whatever the agent or a model made of it. Tool
output contains the words of much that it does not say, so with a tool a supporting quote stays: the person's alone, or
the agent's together with the tool's if the tool came first.

If the person is quoted and their words do not support the claim, it is attributed to whoever said it first or came
closest to saying it, or, if the quote is only an approval, to what the agent said before. The candidate keeps its quote
if nobody said the claim, for example because it is worded in another language. It also keeps its quote, unless a tool
or page came close, if the quote shares a telling word with the title, or if the agent's closest line contains less
than two fifths of the title's telling words. All of these candidates are flagged, so that none is accepted unseen, and
none is dropped. The figures were chosen on recorded model answers (docs/decisions/0005).
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from lerim.extraction.candidate import Candidate
from lerim.extraction.quote_check import shorten_quote
from lerim.extraction.utterances import Utterance
from lerim.memory import Evidence
from lerim.redaction import clean_text, show_hidden
from lerim.words import MAX_WORD_CHARS, STOP_WORDS, find_words, split_word

UNSUPPORTED_QUOTE = "quote-without-claim"
"""Flag: the person's quote does not support the claim."""
REPEATS_SOURCE = "repeats-a-source"
"""Flag: a tool or a web page said it before anyone else."""

MAX_UNSUPPORTED_CONFIDENCE = 0.55
"""Maximum confidence of a claim that no quote from the person supports, as for the agent's words alone."""
MAX_REPEATED_CONFIDENCE = 0.30
"""Maximum confidence of a claim made by a tool or a web page, as for text that gives orders to an agent."""
MIN_SUPPORT_SHARE = 0.15
MIN_CLAIMING_SHARE = 0.3
"""Share of the title's telling words from which a quote makes the claim itself, no matter who else said it."""
MIN_SAYING_SHARE = 0.75
MIN_PAGE_SAYING_SHARE = 0.6
MIN_NEARBY_SHARE = 0.4
MAX_PASSAGE_WORDS = 60
"""Number of consecutive telling words within which a claim has to be said."""
MIN_TELLING_WORDS = 2
"""Number of telling words a title needs before the session can be searched for it."""
_STEM_CHARS = 5
_COMMON_WORD_LIST = """
    add added adds agree agreed ahead always approve approved best better change changed changes check code commit
    committed continue correct create do doesn don done file files fix fixed get go good great implement instead keep
    lgtm look looks make merge never new next nice no not now ok okay one perfect please pr push put rather remove right
    run set ship sounds sure thank thanks there thing things try update use used uses using want way without work works
    write yeah yep yes
"""
_COMMON_WORDS = frozenset(_COMMON_WORD_LIST.split())


@lru_cache(maxsize=512)  # every claim asks for the same utterances again
def telling_stems(text: str) -> frozenset[str]:
    """Returns the telling words of a text, each cut to its first letters."""
    words = set(find_words(text))
    is_short = max(map(len, words), default=0) <= MAX_WORD_CHARS
    return frozenset(chain.from_iterable(map(_cached_stems_of_word if is_short else _stems_of_word, words)))


@lru_cache(maxsize=256)
def _stems_of_lines(text: str) -> tuple[tuple[str, ...], ...]:
    """Returns the telling words of each line, in their order and each cut to its first letters."""
    return tuple(tuple(chain.from_iterable(map(_stems_of_word, find_words(line)))) for line in text.split("\n"))


def is_quote_supporting(quote: str, title: str, body: str, utterances: Sequence[Utterance] = ()) -> bool:
    """Returns whether a quote supports the claim. `utterances` provides the word weights."""
    quote_stems, title_stems = telling_stems(quote), telling_stems(title)
    shared = quote_stems & (title_stems | telling_stems(body))
    if not (quote_stems & title_stems or len(shared) > 1):
        return False
    weight = {
        key: math.log((len(utterances) + 1) / (sum(key in telling_stems(one.text) for one in utterances) + 0.5))
        for key in quote_stems
    }
    return sum(weight[key] for key in shared) >= MIN_SUPPORT_SHARE * sum(weight.values())


def attribute_claim(candidate: Candidate, utterances: Sequence[Utterance]) -> Candidate:
    """Returns the candidate with the quotes of whoever made the claim, flagged if that differs from what its quotes
    suggest. `utterances` are the utterances of the session that are still available, in order."""
    title, body = candidate.title, candidate.body
    wanted = (
        telling_stems(title) if len(telling_stems(title)) >= MIN_TELLING_WORDS else telling_stems(f"{title} {body}")
    )
    persons = [one for one in candidate.evidence if one.who == "user"]
    if any(len(telling_stems(one.quote) & wanted) >= MIN_CLAIMING_SHARE * max(1, len(wanted)) for one in persons):
        return candidate
    borne = any(is_quote_supporting(one.quote, title, body, utterances) for one in persons)
    first = _find_first_mention(
        wanted, utterances if persons else _exclude_later_output(candidate.evidence[0], utterances)
    )
    if first is not None and first.who in ("tool", "web"):
        if borne and first.who == "tool":
            return _add_flag(candidate, REPEATS_SOURCE, MAX_UNSUPPORTED_CONFIDENCE, None)
        if candidate.evidence[0].who in ("tool", "web"):
            return candidate
        flagged = _add_flag(candidate, REPEATS_SOURCE, MAX_REPEATED_CONFIDENCE, first)
        own = [
            one
            for one in candidate.evidence
            if one.who == "assistant" and is_quote_supporting(one.quote, title, body, utterances)
        ]
        return replace(flagged, evidence=(own[0], first)) if own and first.who == "tool" else flagged
    if not persons or borne:
        return candidate
    source = first or _find_nearest_mention(wanted, utterances) or _find_approved_words(persons, utterances)
    if source is not None and source.who in ("tool", "web"):
        return _add_flag(candidate, REPEATS_SOURCE, MAX_REPEATED_CONFIDENCE, source)
    near = any(telling_stems(one.quote) & wanted for one in persons)
    if source is not None and source is not first and any(telling_stems(one.quote) for one in persons):
        # A single line of a close passage may say little of the claim; then keep the person's words.
        near = near or len(telling_stems(source.quote) & wanted) < MIN_NEARBY_SHARE * len(wanted)
    return _add_flag(candidate, UNSUPPORTED_QUOTE, MAX_UNSUPPORTED_CONFIDENCE, None if near else source)


def _exclude_later_output(quoted: Evidence, utterances: Sequence[Utterance]) -> Sequence[Utterance]:
    """Returns the utterances without the tool output printed after the quoted words, because that output often only
    shows what the agent had written."""
    same = [at for at, one in enumerate(utterances) if one.turn == quoted.turn and one.who == quoted.who]
    last = next((at for at in same if quoted.quote in utterances[at].text), same[-1] if same else len(utterances))
    return [one for at, one in enumerate(utterances) if at <= last or one.who != "tool"]


def _add_flag(candidate: Candidate, flag: str, most: float, source: Evidence | None) -> Candidate:
    flags = tuple(dict.fromkeys((*candidate.flags, flag)))
    evidence = candidate.evidence if source is None else (source,)
    return replace(candidate, flags=flags, confidence=min(candidate.confidence, most), evidence=evidence)


def _stems_of_word(word: str) -> tuple[str, ...]:
    return _cached_stems_of_word(word) if len(word) <= MAX_WORD_CHARS else _find_stems(word)


def _find_stems(word: str) -> tuple[str, ...]:
    whole, parts = split_word(word)
    return tuple(
        [
            _strip_plural(one)[:_STEM_CHARS]
            for one in parts or (whole,)
            if one not in STOP_WORDS and one not in _COMMON_WORDS and (len(one) > 1 or not one.isascii())
        ]
    )


_cached_stems_of_word = lru_cache(maxsize=8192)(_find_stems)
"""Most texts repeat the same few thousand words."""


def _strip_plural(word: str) -> str:
    """Returns a short word without its plural s (`pngs` becomes `png`); longer words are cut anyway."""
    return word[:-1] if 3 < len(word) <= _STEM_CHARS and word.endswith("s") and word[-2] not in "aius" else word


def _find_first_mention(wanted: frozenset[str], utterances: Sequence[Utterance]) -> Evidence | None:
    if len(wanted) < MIN_TELLING_WORDS:
        return None
    for one in utterances:
        least = MIN_PAGE_SAYING_SHARE if one.who == "web" else MIN_SAYING_SHARE
        if (found := _find_best_passage(wanted, one.text)) and found[0] >= least:
            return _make_evidence(one, found[1])
    return None


def _find_nearest_mention(wanted: frozenset[str], utterances: Sequence[Utterance]) -> Evidence | None:
    """Returns the words that come closest to the claim, the first of equals; None if nothing comes close."""
    best: tuple[float, Evidence | None] = (0.0, None)
    for one in utterances:
        if (found := _find_best_passage(wanted, one.text)) and found[0] > best[0]:
            best = (found[0], _make_evidence(one, found[1]))
    return best[1] if best[0] >= MIN_NEARBY_SHARE else None


def _find_approved_words(persons: Sequence[Evidence], utterances: Sequence[Utterance]) -> Evidence | None:
    """Returns the agent's last words before the person's approval; None if the person's words contain telling words."""
    at = next((at for at, one in enumerate(utterances) if one.turn == persons[0].turn and one.who == "user"), 0)
    before = [one for one in utterances[:at] if one.who == "assistant" and one.text.strip()]
    if not before or telling_stems(persons[0].quote):
        return None
    return _make_evidence(before[-1], before[-1].text.strip().rpartition("\n")[2])


def _make_evidence(one: Utterance, line: str) -> Evidence | None:
    quote = shorten_quote(show_hidden(clean_text(line.strip()))).strip()
    return Evidence(quote, one.turn, one.who) if quote else None


def _find_best_passage(wanted: frozenset[str], text: str) -> tuple[float, str] | None:
    """Returns the largest share of the wanted words that occur close together in the text, and the line that
    contains most of them; None if the text contains too few of them."""
    if len(telling_stems(text) & wanted) < MIN_NEARBY_SHARE * len(wanted):
        return None
    near: deque[tuple[str, int]] = deque()
    counts: Counter[str] = Counter()
    at, most, ended = 0, 0, 0
    lines = text.split("\n")
    for number, stems in enumerate(_stems_of_lines(text)):
        if wanted.isdisjoint(stems):
            at += len(stems)
            continue
        for key in stems:
            at += 1
            if key not in wanted:
                continue
            near.append((key, at))
            counts[key] += 1
            while at - near[0][1] > MAX_PASSAGE_WORDS:
                counts[near.popleft()[0]] -= 1
            held = sum(count > 0 for count in counts.values())
            if held > most:
                most, ended = held, number
    best = max(lines[max(0, ended - 3) : ended + 1], key=lambda one: len(telling_stems(one) & wanted), default="")
    return most / len(wanted), best
