"""What a later claim probably is to an earlier one that it does not repeat word by word: a weighing of cues.

`contrast.py` tells what two wordings of nearly one sentence are to each other. Weeks later nobody uses the same words:
then what is left are the names both speak of, and the ways in which people take back, narrow or add to what was said
(“no longer”, “as before”, “except”). Each is a cue with a weight; a multinomial logistic regression (softmax of the
weighted sums) makes four probabilities of them. The weights are fitted by `scripts/fit_stance.py` on the labelled pairs
of `evals/` that are not set aside, and on pairs of claims that have nothing to do with each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from lerim.memory.contrast import Said
from lerim.memory.framing import unframed
from lerim.memory.stance_weights import BIAS, WEIGHTS

_TAKES_BACK = re.compile(
    r"\b(?:no longer|any ?more|any longer|again|gone|withdrawn|after all|back to|turned out|not (?:needed|necessary)"
    r"|(?:is|are|was|were) out|(?:replac|switch|revert|migrat|retir|abandon|supersed)e?(?:d|s|ing)?|mov(?:ed|es) to"
    r"|drop(?:s|ped)?|undone|rolled back|gave up|given up|in place of|obsolete|lifted|stopped|deleted|removed)\b",
    re.IGNORECASE,
)
_CALLS_OFF = re.compile(
    r"\A\W*(?:forget|ditch|scrap|drop|kick|remove|revert|undo|abandon|stop|skip|pull|retire|kill|never mind|leave|let"
    r"|switch|move|go back|replace|swap|put|allow|accept|do not|don['’]t|no|nothing|nobody)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\b(?:instead|rather than|in favou?r of|other way a?round|reversed|overruled|overturned"
    r"|changed (?:our|my) mind)\b",
    re.IGNORECASE,
)
_WORKS = re.compile(
    r"\b(?:works?|is fine|are fine|is safe|fixed|went away|goes? through|no need|unnecessary|solved|clean|passes)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:up to|at (?:most|least)|more than|under|over|beyond|except|unless|only|even|including|same (?:goes|for)"
    r"|until)\b",
    re.IGNORECASE,
)
_NOW = re.compile(r"\b(?:now|by now|nowadays|meanwhile|since then|as of|these days)\b", re.IGNORECASE)
_WAS = re.compile(r"\b(?:was|were|had|used to|at first|formerly|previously|until then|before that)\b", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\b(?:as before|as ever|still|stays?|stayed|remains?|remained|otherwise|so far|unchanged|besides?|keeps?)\b",
    re.IGNORECASE,
)
_NARROWS = re.compile(r"\b(?:except|unless|only|just|excepted|if|when|without|leaves? out|but)\b", re.IGNORECASE)
_ADDS = re.compile(
    r"\b(?:also|too|both|as well|and|then|additional(?:ly)?|plus|another|new|first|raised|lowered|increased|reduced"
    r"|extended|up to|up from)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not?|never|none|nothing|cannot|without|instead|rather)\b|n['’]t\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*(?!\w)")
_NAME = re.compile(r"`[^`\n]+`|[\w-]*[_/.][\w./-]*\w|[a-z]+[A-Z]\w*|\b[A-Z][\w-]*[A-Z]\w*")
_PART = re.compile(r"[a-z0-9]{2,}")
_OF_A_NAME = 2.0
"""What a name both speak of counts for, in common words."""
GROUND = 3.0
RESTATED = 0.4
KNOWN = 0.3


class Stance(NamedTuple):
    """How probable it is that the later claim ends the earlier one, changes it, says the same, or stands beside it."""

    ended: float
    changed: float
    same: float
    apart: float


CUES = (
    *("words", "titles", "title_kept", "title_known", "body_known", "names", "names_shared", "names_new"),
    *("numbers_new", "values_new", "takes_back", "takes_back_below", "now", "now_below", "was_below"),
    *("goes_on", "narrows", "narrows_below", "adds", "denies", "denied_before", "turned", "longer", "title_alone"),
    *("calls_off", "put_instead", "works", "limits", "limits_below"),
)
"""The cues in the order of `cues`."""
CHANGES = {
    *("numbers_new", "values_new", "goes_on", "narrows", "narrows_below", "adds", "limits", "limits_below"),
    *("now", "now_below", "was_below"),
}
"""The cues that a rule is changed: without any, two claims alike speak of two things."""


@lru_cache(maxsize=16384)
def stance(earlier: Said, later: Said) -> Stance:
    """What the later claim probably is to the earlier one; the four sum to 1."""
    found = cues(earlier, later)
    sums = [
        bias + sum(weight * cue for weight, cue in zip(weights, found, strict=True))
        for bias, weights in zip(BIAS, WEIGHTS, strict=True)
    ]
    top = max(sums)
    powers = [math.exp(one - top) for one in sums]
    return Stance(*(power / sum(powers) for power in powers))


def cues(earlier: Said, later: Said) -> tuple[float, ...]:
    """The cues, each 0 to 1, but for a few small counts; see CUES for their names."""
    mine, theirs = earlier.bare, later.bare
    hard = mine.hard | theirs.hard
    (title, body), (was_title, was_body) = _told(later), _told(earlier)
    text, was = f"{title}\n{body}", f"{was_title}\n{was_body}"
    named, names = _names(was), _names(text)
    numbers, new_numbers = _numbers(was), _numbers(text) - _numbers(was)
    denied, were_denied = _marked(later.claim.words), _marked(earlier.claim.words)

    def heavy(words: AbstractSet[str]) -> float:
        return len(words) + (_OF_A_NAME - 1) * len(words & hard)

    def share(part: AbstractSet[str], whole: AbstractSet[str]) -> float:
        return heavy(part) / heavy(whole) if whole else 0.0

    def shared(one: AbstractSet[str], other: AbstractSet[str]) -> float:
        both = heavy(one) + heavy(other)
        return 2 * heavy(one & other) / both if both else 0.0

    return (
        shared(mine.words, theirs.words),
        shared(mine.title, theirs.title),
        share(mine.title & theirs.words, mine.title),
        share(theirs.title & mine.words, theirs.title),
        share(theirs.words & mine.words, theirs.words),
        len(named & names) / len(named | names) if named | names else 0.0,
        min(3, len(named & names)) / 3,
        min(6, len(names - named)) / 6,
        float(bool(new_numbers)),
        float(bool(new_numbers and numbers)),
        _says(_TAKES_BACK, title, was_title),
        _says(_TAKES_BACK, body, was),
        _says(_NOW, title, was_title),
        _says(_NOW, body, was),
        _says(_WAS, body, was_body),
        _says(_GOES_ON, text, was),
        _says(_NARROWS, title, was_title),
        _says(_NARROWS, body, was_body),
        _says(_ADDS, title, was_title),
        float(bool(_NOT.search(title))),
        float(bool(_NOT.search(was_title))),
        min(2, len((denied & mine.words) - were_denied) + len((were_denied & theirs.words) - denied)) / 2,
        min(2.0, len(theirs.words) / (len(mine.words) + 1)),
        float(not body),
        _says(_CALLS_OFF, title, was_title),
        _says(_INSTEAD, text, was),
        _says(_WORKS, text, was),
        _says(_LIMITS, title, was_title),
        _says(_LIMITS, body, was),
    )


def on_one_ground(earlier: Said, later: Said) -> bool:
    """Whether each title speaks of what the other claim speaks of, in GROUND words or half as many names."""
    mine, theirs = earlier.bare, later.bare
    hard = mine.hard | theirs.hard
    both = (mine.title & theirs.words, theirs.title & mine.words)
    return all(len(words) + (_OF_A_NAME - 1) * len(words & hard) >= GROUND for words in both)


def restated(earlier: Said, later: Said) -> bool:
    """Whether the later claim says again what it would change: RESTATED of the earlier title, KNOWN of its own; and
    says in any words or numbers that it changes it."""
    mine, theirs = earlier.bare, later.bare
    kept, known = len(mine.title & theirs.words), len(theirs.title & mine.words)
    if kept < RESTATED * len(mine.title) or known < KNOWN * len(theirs.title):
        return False
    return any(cue for name, cue in zip(CUES, cues(earlier, later), strict=True) if name in CHANGES)


def _told(said: Said) -> tuple[str, str]:
    """Title and body without the sentences we put around what was said."""
    title, body = said.written
    return title, unframed(body)


def _says(cue: re.Pattern[str], text: str, before: str) -> float:
    return float(bool(cue.search(text)) and not cue.search(before))


@lru_cache(maxsize=8192)
def _names(text: str) -> frozenset[str]:
    """The parts of the names and of the code in a text."""
    return frozenset(part for name in _NAME.findall(text) for part in _PART.findall(name.lower()))


@lru_cache(maxsize=8192)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(number.rstrip(".,") for number in _NUMBER.findall(text))


def _marked(words: AbstractSet[str]) -> frozenset[str]:
    return frozenset(word[1:] for word in words if word.startswith("!"))
