"""Causes an agent names in its answers: root causes, what was the problem, what turned out, why something failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lerim.facts.artifacts import artifacts
from lerim.facts.prose import Piece, assertions, following, prose
from lerim.sessions.model import Turn

MOST = 3  # findings of one exchange
_NOUN = (
    r"(?:root cause|key finding|finding|cause|culprit|issue|problem|bug|reason|defect|failure|mismatch|"
    r"catch)"
)
_KIND = r"(?:(?:root|real|actual|underlying|core|main|true|exact|key|remaining|original) )?"
_LEAD = (
    r"^(?:[A-Za-z]{2,10}[,!.:] )?(?:(?:so|and|but|now|ah|okay|yes|aha|right|here) )?(?:i(?:'ve| have| can)? "
    r"(?:now )?(?:found|see|identified|spotted|understand|know) )?"
)
_CAUSE = re.compile(
    rf"{_LEAD}(?:the |this |that |our |your )?{_KIND}{_NOUN}s?(?: here| now)?(?: (?:of|for|with|in|behind|why) "
    r"[^:.]{3,80}?)?"
    r"(?: (?:is|was|are|were|comes? from|came from|lies in|identified|confirmed|found)(?: (?:that|because|due to|"
    r"how|caused by))?(?::| -| —)?|:| -| —)\s(?P<x>\S.{14,500})$",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"^(?:\w{2,8}[,!:] )?(?:it |as it )?turn(?:s|ed) out(?: that)?[:,]? (?P<x>\S.{14,500})$", re.IGNORECASE
)
_LEARNED = re.compile(
    r"^(?:[A-Za-z]{2,10}[,!.:] )?(?:(?:i|it|this|the \w{3,12})(?:'ve| have| has)? )?(?:just |also |now )?"
    r"(?:found|discovered|noticed|learned|realized)(?: out| something \w{3,12})?(?: that|:| —) "
    r"(?P<x>\S.{14,400})$|^(?:[^:.]{3,80} and )?found something \w{3,12}: (?P<y>\S.{14,400})$",
    re.IGNORECASE,
)
_TRAP = re.compile(
    r"\b(?:silent\w*|never|skip\w*|ignor\w+|orphan\w*|leak\w*|overw\w+|los(?:es|t|ing)|drops?|dropped|duplicat\w+|"
    r"twice|race\w*|cannot|breaks?|broke|hangs?|conflict\w*|stale|swallow\w*|only (?:works?|runs?|when|if|after|in)|"
    r"fails? (?:when|if|on|in|with))\b",
    re.IGNORECASE,
)
"""What is worth a note although it was found by the way."""
_FAILS = (
    r"(?:fail(?:s|ed|ing)?|broke|breaks|(?:is|was|are|were) (?:broken|failing|caused|empty|skipped|missing|blocked|"
    r"stuck|ignored)|crash(?:es|ed)|hangs?|hung|errors?(?: out)?|times? out|(?:do|does|did) not \w{2,12}|"
    r"cannot \w{2,12}|never \w{2,12}|occurs?|happens?|appears?)"
)
_BECAUSE = re.compile(
    rf"{_LEAD}(?P<s>(?!(?:i|we|you)\b)[^,;:]{{3,90}}?\s{_FAILS}[^,;:]{{0,60}}? "
    r"(?:because(?! of)|since|due to the fact that) )(?P<x>\S.{10,300})$",
    re.IGNORECASE,
)
_CAUSED_BY = re.compile(
    rf"{_LEAD}(?P<x>(?!(?:this|that|it|which)\b)[^,;:]{{3,90}}? (?:is|was|are|were) "
    r"(?:actually |being )?caused by .{8,200})$",
    re.IGNORECASE,
)
_REASON = re.compile(
    rf"{_LEAD}(?:the |one )?(?:real |actual |main )?reason (?:[^:.]{{3,110}}?) (?:is|was) (?:that|because) "
    r"(?P<x>\S.{14,400})$",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"^(?:(?:[a-z]{2,10}[,!.]|now|ah|aha|okay|so|yes|looking at [^,]{2,60},|after [^,]{4,60},) ){0,2}"
    r"(?:i(?:'ve| have| can)? (?:now )?(?:think i )?(?:just )?)?(?:found|see|identified|spotted|located|figured out|"
    r"understand|know|here(?:'s| is)) (?:it|(?:the |what )?(?:[a-z]{3,12} ){0,2}(?:cause|bug|issue|problem|"
    r"culprit|reason|difference|defect)(?: (?:of|for|with|in|behind) [^.:]{3,60})?)(?: now| here| clearly)?[.!:]?$",
    re.IGNORECASE,
)
_HEADED = re.compile(
    rf"^(?:the )?{_KIND}(?:root causes?|causes?|bugs?|problem|what (?:went wrong|was wrong|broke)|why (?:it|this) "
    r"(?:failed|fails|broke|happens|happened))(?: (?:of|for|in|analysis|resolution|identified|found)[^:]{0,50})?:?$",
    re.IGNORECASE,
)
FIX = re.compile(
    r"^(?:the |my )?(?:fix|solution|remedy|cure)(?: (?:is|was)(?: to)?|:) ?(?P<x>.{10,240})$", re.IGNORECASE
)
_SMALL = re.compile(
    r"\b(?:typos?|misspell\w+|indentation|whitespace|missing (?:an? |the )?(?:\S{1,30} )?(?:import|semicolon|comma|"
    r"bracket|brace|parenthes\w+|quote)s?|unused (?:import|variable|parameter)s?|merge conflicts?|old commit|wrong "
    r"(?:folder|directory|path|number of)|return values?|type errors?|(?:undefined|undeclared) \w+|"
    r"is(?: not|n't) (?:installed|defined|imported|running|exported|configured)|duplicate (?:import|"
    r"interface|declaration|key)s?|line (?:length|too long))\b",
    re.IGNORECASE,
)
"""Slips of the moment: mended, they teach nothing."""
_SLIP = re.compile(
    r"\b(?:was|been) modified|\bappears (?:twice|more than once)|\btoo large to|\bdoes not (?:exist|accept|have|export|"
    r"define|take)\b|\bno (?:other|longer)\b|\boutdated\b|\balready (?:in use|running|exists)|\bclosing\b|"
    r"\b(?:is|was|are|were) (?:missing|not found)\b",
    re.IGNORECASE,
)
"""As a claim of its own, true of the moment only."""
_SYMPTOM = re.compile(
    r"^(?:the |our |your )?(?:\S{1,20} )?(?:push|ci|build|commit|tests?|checks?|lint(?:er|ing)?|hooks?|typecheck|"
    r"pipeline|workflow|job|deploy(?:ment)?)s? (?:is|are|was|were)?\s?(?:still )?(?:fail\w*|broke\w*)|"
    r"\b(?:is|are|was|were) (?:finding|reporting|complaining|flagging|failing|showing|throwing|giving|"
    r"broken|buggy|flawed)\b",
    re.IGNORECASE,
)
"""Says that a check failed, not why."""
_LINES = re.compile(r"\s?\((?:on )?lines? [\d ,–-]+\)|\s(?:on|at) lines? [\d ,–-]+")
AMISS = re.compile(
    r"\b(?:not|never|no|cannot|only|without|before|twice|skip\w*|block\w*|fail\w*|los[te]\w*|overw\w+|overrid\w+|ignor\w+|"
    r"duplicat\w+|missing|lacks?|prevent\w*|instead|rather|break\w*|cycle|circular|conflict\w*|stale|wrong\w*)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"\b(?:but|actually|however|though|while)\b|n't\b", re.IGNORECASE)
"""A finding that is announced only (`found it!`) has to say what is other than thought."""
_FILLER = re.compile(r"^(?:here(?:'s| is| are)|let me|let's|looking|now|i(?:'ll| will))\b", re.IGNORECASE)
_HINT = re.compile(
    r"cause|culprit|issue|problem|bug|reason|finding|found|discovered|noticed|realized|learned|verified|confirmed|"
    r"turn(?:s|ed) out|see it|difference|broke|why "
)  # for text in lower case


@dataclass
class Finding:
    """A cause that was named: the sentence, what follows it, and the reply it stands in (-1: the exchange before)."""

    at: int
    turn: Turn
    said: list[Piece]
    title: str
    names: tuple[str, ...]
    fix: str = ""
    noun: str = ""
    around: str = ""
    more: list[tuple[Turn, Piece]] = field(default_factory=list)


def unlined(text: str) -> str:
    """A text without the numbers of lines, which hold no longer than until the next edit."""
    return _LINES.sub("", text)


def causes(turn: Turn, at: int, known: Iterable[str]) -> Iterator[Finding]:
    """The causes one answer names: at most three."""
    if turn.sidechain or not _HINT.search(turn.text.lower()):
        return
    pieces = prose(turn.text)
    count = 0
    for index in range(len(pieces)):
        for said in _listed(_cause(pieces, index)):
            if count == MOST:
                return
            title = "" if _SMALL.search(said[0].plain) else _title(said, known)
            if not title:
                continue
            count += 1
            fix = next((match["x"] for one in pieces[index : index + 8] if (match := FIX.match(one.plain))), "")
            names = artifacts(" ".join(one.plain for one in said), known)
            around = "" if said[0].item else " ".join(one.plain for one in pieces[index : index + 4])
            yield Finding(at, turn, said, title, names, fix, _noun(pieces[index].plain), around)


def _noun(text: str) -> str:
    """The word by which a cause was announced: the problem, the bug, the root cause."""
    match = re.search(rf"{_NOUN}", text, re.IGNORECASE)
    return match.group().lower() if match else ""


def _listed(said: list[Piece]) -> list[list[Piece]]:
    """A list of causes is as many causes."""
    return [[one] for one in said] if len(said) > 1 and all(one.item for one in said) else [said] if said else []


def _cause(pieces: list[Piece], index: int) -> list[Piece]:
    """The sentences that name a cause, if the piece at `index` opens them: the one that does so, and up to two more."""
    piece = pieces[index]
    for pattern in (_CAUSE, _TURNS, _REASON, _BECAUSE, _CAUSED_BY):
        if not piece.heading and (match := pattern.match(piece.plain)):
            return [Piece(piece.raw, match["x"], False, piece.line), *following(pieces, index, 2)]
    learned = None if piece.heading else _LEARNED.match(piece.plain)
    if learned and _TRAP.search(told := learned["x"] or learned["y"]):
        return [Piece(piece.raw, told, False, piece.line), *following(pieces, index, 1)]
    opens = _HEADED.match(piece.plain) if piece.heading or piece.plain.endswith(":") else _ANNOUNCED.match(piece.plain)
    told = [one for one in following(pieces, index, 4, over_lines=True) if not _FILLER.match(one.plain)]
    return (
        told[:3]
        if opens and (piece.heading or any(_CONTRAST.search(one.plain) or AMISS.search(one.plain) for one in told[:2]))
        else []
    )


def _title(said: list[Piece], known: Iterable[str]) -> str:
    """What can stand as a title, of up to three sentences: rather what says that something is not as it should be."""
    claims = [
        claim
        for one in said
        if not _SMALL.search(one.plain)
        for claim in assertions(unlined(one.plain), known)
        if not (_SYMPTOM.search(claim) or _SLIP.search(claim) or FIX.match(claim) or " still " in claim)
    ]
    return next((claim for claim in claims if AMISS.search(claim)), claims[0] if claims else "")
