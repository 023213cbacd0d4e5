"""From what an agent wrote to its sentences: no code blocks, tables, quotes or emphasis; and titles out of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lerim.facts import wording
from lerim.facts.artifacts import artifacts
from lerim.facts.sentences import clip

LONGEST = 500  # a longer sentence is no statement to keep
LOOKED_AT = 8_000
CLAUSES = 6  # of one sentence that are tried as a title
_MARK = re.compile(r"^\s{0,12}(?:[-*•+]|\d{1,2}[.)]|#{1,6})\s{1,4}")
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s|\*\*[^*]{3,80}\*\*:?\s{0,3}$)")
_SIGNS = re.compile(r"[\u2300-\u2bff\U0001f000-\U0001faff\ufe0f]")
_BREAK = re.compile(r"(?<=[.!?])\*{0,2}\s{1,3}(?=[A-Z`*\"(])")
_LINK = re.compile(r"\[([^\]\n]{1,120})\]\([^)\s]{1,300}\)")
_CLAUSE = re.compile(r"(?:, (?:and|but|so|while|whereas|which|then)(?= )| (?:but|whereas)(?= )|\s[-–—]{1,2}\s|;\s|:\s)")
_TAIL = re.compile(
    r",?\s(?:even (?:when|though|if)|every time|each time|whenever|when|because|since|so that|while|although|after|"
    r"before|and(?=\s(?:is|was|are|were|has|does|cannot)\b)|(?:and|by|thus|then)(?=\s\w{3,20}(?:ing|ed)\b))\s|"
    r",\s(?=\w{3,20}ing\b)|\s\("
)
"""Where a claim that is too long for a title may end, without meaning something else."""
_ASIDE = re.compile(r"\s?\((?![^()]{0,3}\))[^()]{0,200}\)")
_LABEL = re.compile(r"^[A-Za-z]{2,12}(?: \d{1,2})?: (?=[`A-Z])")
_RELATIVE = re.compile(
    r"(?<=[\w`)] )that(?= (?:\w{3,14}ly )?(?:is|are|was|were|has|had|does|do|can|cannot|will|must|"
    r"[a-z]{3,14}(?:s|ed))\b)"
)
_THE = re.compile(
    r"\b[Tt]he (`[^`]{2,60}`) (?:function|method|file|hook|class|module|variable|field|package|command)\b"
)
_LOOSE_WORDS = re.compile(
    r"\b(?:explicitly|actually|simply|completely|entirely|really|very|"
    r"basically|immediately)\s",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"^(?:with|in|on|at|of|from|by|about|when|if|while|after|before|because|since|once|although|to|as|unless|for)\s",
    re.IGNORECASE,
)
_TRYING = re.compile(r"\b(?:is|are|was|were) trying to\b", re.IGNORECASE)
_PLACE = re.compile(r"^lines? [\d ,–-]+ (?:in|of) (?=`|\S{1,60}\.\w)", re.IGNORECASE)
_DOES = re.compile(r"^(?P<name>`[^`]{1,60}`): (?P<verb>[A-Z])(?=[a-z]{2,14}(?:s|ed) )")
_ONE = re.compile(r"^(?:the )?same (?=[A-Za-z`])", re.IGNORECASE)
_DOING = re.compile(r"\b(?:is|are)(?= (?:not |also |always )?[a-z]{3,14}ing\b)")
_OPEN_END = re.compile(r"\b(?:that|to|which|the|an?|and|or|with|of|by|in|on|at|for|from|as|than)[.:]?$", re.IGNORECASE)
_POINTS = re.compile(
    r"^(?:which|worse|hence|this|that|these|those|it|they|he|she|here|there|the (?:same|former|latter|following))\b|"
    r"\b(?:above|below|following)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"^(?:means(?: that)?|because|due to the fact that|and|but|so|while|actually|now|also|currently|the fact that|this "
    r"(?:means|is because)(?: that)?|then)[,:]? ",
    re.IGNORECASE,
)
_ACTS = re.compile(
    r"[\w`)\"] (?:\w{2,12}ly )?[a-z]{3,14}(?:s|ed) (?:the|an?|its?|all|every|each|only|no|into|to|twice|two|"
    r"three|\d{1,6}|`\S|\")"
)
_IT_DOES = re.compile(
    r"^in (?:the )?(?P<what>`[^`]{1,60}`|[\w.()/-]{3,60})(?: \w{3,12})?(?::| -| —) it (?=[a-z])", re.IGNORECASE
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|cannot|can|could|must|needs?|requires?|required|expects?|expected|"
    r"returns|returned|us(?:es|ed)|fail(?:s|ed)?|breaks?|broke|runs?|ran|reads?|writes?|wrote|checks?|checked|skips?|"
    r"skipped|ignores?|ignored|creates?|created|causes?|caused|blocks?|blocked|throws?|threw|raises?|raised|lacks?|"
    r"lacked|contains?|contained|includes?|included|excludes?|excluded|matches|matched|calls?|called|loads?|loaded|"
    r"sends?|sent|gets?|got|sets?|resets?|overwrites?|overwrote|overrides?|overrode|removes?|removed|strips?|stripped|"
    r"wraps?|wrapped|encodes?|encoded|parses?|parsed|formats?|formatted|reformats?|keeps?|kept|holds?|held|leaves?|"
    r"left|drops?|dropped|loses?|lost|hides?|hid|points?|pointed|resolves?|resolved|refers?|depends?|comes?|came|"
    r"goes|went|stays?|remains?|prevents?|prevented|triggers?|triggered|adds?|added|accepts?|accepted|rejects?|"
    r"rejected|shadows?|shadowed|stems?|shares?|shared|defaults?|assumes?|assumed|treats?|treated|makes?|made|means?|"
    r"starts?|started|stops?|stopped|exits?|exited|closes?|closed|opens?|opened|hangs?|hung|times|swallows?|swallowed|"
    r"never|not|supports?|supported|predated?|predates|publish(?:es|ed)|enforces?|enforced|wants?|kills?|ships?|shipped)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One sentence: `raw` as it stands in the turn, `plain` without emphasis; whether its line is a heading or a point
    of a list, and the line's number."""

    raw: str
    plain: str
    heading: bool
    line: int
    item: bool = False


def prose(text: str) -> list[Piece]:
    """The sentences of an answer, in order."""
    out: list[Piece] = []
    fenced = False
    for number, line in enumerate(clip(text, LOOKED_AT).split("\n")):
        start = line.lstrip()
        fenced ^= start.startswith(("```", "~~~"))
        if fenced or not start or start.startswith(("|", ">", "```", "~~~")):
            continue
        heading = bool(_HEADING.match(line))
        item = not heading and bool(_MARK.match(line))
        for part in _BREAK.split(_MARK.sub("", line.strip())):
            raw = part.strip()
            shown = plain(raw)
            if len(shown) > 3 and len(raw) <= LONGEST:
                out.append(Piece(raw, shown, heading, number, item))
    return out


def plain(text: str) -> str:
    """The text without emphasis, signs and link targets, on one line."""
    shown = _LINK.sub(r"\1", text)
    shown = shown.replace("**", "").replace("’", "'")
    return wording.squeeze(_SIGNS.sub("", shown)).strip(" -*")


def following(pieces: list[Piece], index: int, most: int, *, over_lines: bool = False) -> list[Piece]:
    """The next sentences of the same line; with `over_lines` those of the next lines too, up to a heading."""
    out: list[Piece] = []
    for piece in pieces[index + 1 : index + 1 + most]:
        if piece.heading or (not over_lines and piece.line != pieces[index].line):
            break
        out.append(piece)
    return out


def assertions(text: str, known: Iterable[str]) -> Iterator[str]:
    """What of a sentence can stand as a title: the whole, then its clauses, where they assert something of a thing they
    name."""
    whole = _LABEL.sub("", _PLACE.sub("", _ASIDE.sub("", plain(text))))
    whole = _DOES.sub(_lowered, _IT_DOES.sub(r"\g<what> ", whole))
    if whole.rstrip(')*" ').endswith("?") or wording.hedged(_TRYING.sub(" ", whole)):
        return
    whole = _ONE.sub("One ", _RELATIVE.sub("which", _DOING.sub(_was, whole)))
    breaks = list(_CLAUSE.finditer(whole))[:CLAUSES]
    heads = (whole, *(whole[: match.start()] for match in reversed(breaks)))
    for clause in (*heads, *_CLAUSE.split(whole, maxsplit=CLAUSES)[1:]):
        claim = wording.clean(clause)
        for _ in range(3):
            claim = _OPENS.sub("", claim)
        if clause not in heads and _VERB.match(claim):
            continue  # it goes on about the subject of another clause
        title = _short(wording.capital(claim))
        if _stands(title) and artifacts(title, known):
            yield title


def readable(text: str) -> str:
    """A sentence that can be read by itself, put in the past where it tells what was going on; "" where it cannot."""
    shown = _DOES.sub(_lowered, _PLACE.sub("", _DOING.sub(_was, plain(text)))).rstrip(" :-")
    lone = len(shown) > 20 and not wording.personal(shown) and not _POINTS.search(shown) and not shown.endswith("?")
    return shown if lone and _says(shown) and not _OPEN_END.search(shown) else ""


def full(text: str) -> str:
    """The text as a full sentence; a stop inside closing quotes is enough."""
    return text if re.search(r"[.!?][\"”')]$", text) else wording.sentence(text)


def _lowered(match: re.Match[str]) -> str:
    return f"{match['name']} {match['verb'].lower()}"


def _says(text: str) -> bool:
    """Whether there is a verb in it, as far as can be told by its form."""
    return bool(_VERB.search(text) or _ACTS.search(text))


def _was(match: re.Match[str]) -> str:
    return "was" if match.group() == "is" else "were"


def _short(claim: str) -> str:
    """The claim without what only adds when or what for, where it would else be no title."""
    if len(claim) > wording.TITLE:
        claim = _THE.sub(r"\1", _LOOSE_WORDS.sub("", claim))
    for _ in range(4):
        title = (claim if len(claim) > wording.TITLE else wording.fit(claim)).rstrip(" .:;,")
        cut = max((match.start() for match in _TAIL.finditer(claim)), default=-1)
        if not wording.title_fault(title) or cut < 20:
            return title
        claim = claim[:cut]
    return claim


def _stands(title: str) -> bool:
    return (
        len(title.split()) >= 4
        and not wording.title_fault(title)
        and not wording.momentary(title)
        and not (_SUBORDINATE.match(title) and "," not in title)
        and not _OPEN_END.search(title)
        and _says(title)
    )


def share(title: str, text: str) -> float:
    """Which share of the title's words the text has too, by how they begin."""
    words = {word[:5] for word in re.findall(r"\w{4,40}", title.lower())}
    return len(words & {word[:5] for word in re.findall(r"\w{4,40}", text.lower())}) / max(1, len(words))
