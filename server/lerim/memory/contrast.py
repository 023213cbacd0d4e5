"""What sets two claims apart, word by word: what the one says and the other does not, and what both say the other way
round. The same in both orders."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from lerim.memory.claim import Claim, bare, claim, is_number, overlap
from lerim.memory.framing import unframed
from lerim.memory.wording import OPPOSITES, TELLING, names, plain

_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:-[\w.]+)?|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}|\d{4}-\d\d(?:-\d\d)?")
_DENIAL = re.compile(
    r"\b(?:no|not|never|cannot|without|avoid|instead|rather|over|stop)\b|n['’]t\b"
    r"|\b(?:nicht|keine?[nmrs]?|nie|niemals|ohne|pas|jamais|sans|nunca|sin|não|не|нет|нельзя|никогда|без)\b"
    r"|[不没沒別别勿未無无]",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"[,;] not\b|\b(?:and|but) not\b|\binstead of\b|\brather than\b|\bover\b|\bnot\b.*\bbut\b", re.IGNORECASE
)
_IS = re.compile(r"The (?P<what>[^,.;:]{3,80}?) is (?!not\b|\w+(?:ed|en|ing|ly)\b)", re.IGNORECASE)
_WHERE = re.compile(r"\b(?:for|in|inside|on|within|at|when|while|during|under)\s+([^,;]+)", re.IGNORECASE)
_UNSAID = frozenset({"cal"})
"""What goes without saying of a command or a script: that it is run or called, all put alike."""
_DIRECTIONS = frozenset({"from", "to", "into", "onto", "before", "after", "than", "over", "until"})
_NUMBERED = re.compile(
    r"\b(?:bug|case|issue|migration|pr|pull request|pull_request|room|rows?|sensor|sprint|step|test|ticket)s? #?(\d+)"
    r"|\A(?:the )?(?:code|error|exit code|port|status)(?: code)? (\d+)|(?<!\w)#(\d+)",
    re.IGNORECASE,
)
"""Numbers that name a thing: with another number it is another thing."""
_TOO = re.compile(r"\b(?:too|also|as well|additionally|besides)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?;:](?=\s|$)|\n")
_ON_GROUND = 0.5
_REACH = 8
_ENDING = re.compile(r"(?<=[a-z]{4})(?:ation|ion|ment|ent|ence|ance|able|ible|ly|at|[yi])+$")
_CODE = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True, slots=True)
class Said:
    """A claim, wordings put alike (`wording.py`), and the words it was read from; `bare` is it without regard to
    denials. `telling` are those of its words that tell rules apart though they are no names; `written` are title and
    body as they are.
    """

    claim: Claim
    bare: Claim
    title: str
    body: str
    telling: frozenset[str]
    written: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Contrast:
    """How two claims differ. `about` is their similarity without regard to denials, in 0..1.

    `lost` are words of the first's title that the second says nowhere, `new` those of the second's that the first says
    nowhere; `more` those of the second's text. `hard` are the names, code and numbers among `lost` and `more`. `shared`
    are words of both titles. `reversed` are words that one title affirms and the other denies; `same_ground` whether
    that is of one thing, though each title has words of its own. `opposite`: all that sets the titles apart on one
    side is the opposite of something on the other. `other_value`: both say what one thing is, and not the same.
    `moved`: the same words are put the other way round (`A to B`, `B to A`). `chosen_anew`: both titles choose, and
    what the first chose the second refuses, or what the second chooses the first refused. `beside`: the second
    is of another thing of a kind (`PR 120`, `PR 121`), or says itself that it is one thing more (`too`).
    """

    about: float
    lost: frozenset[str]
    new: frozenset[str]
    more: frozenset[str]
    hard: frozenset[str]
    shared: frozenset[str]
    reversed: frozenset[str]
    opposite: bool
    moved: bool
    other_value: bool
    same_ground: bool
    chosen_anew: bool
    beside: bool

    @property
    def values(self) -> bool:
        """Whether all that sets the titles apart are numbers, versions, dates or commits, on both sides."""
        return bool(self.lost and self.new) and all(map(is_value, self.lost | self.new))


@lru_cache(maxsize=8192)
def read(title: str, body: str) -> Said:
    """What is claimed."""
    plain_title = plain(title)
    plain_body = plain(unframed(body))
    found = claim(plain_title, plain_body, _REACH)
    named = claim(names(f"{plain_title}\n{plain_body}"), "").title
    hard = {word for word in found.words if word.strip("!") in named}
    put = Claim(roots(found.title), roots(found.words), roots(found.hard | hard))
    plainly = bare(put)
    return Said(put, plainly, plain_title, plain_body, plainly.words & _telling(), (title, body))


@lru_cache(maxsize=1)
def _telling() -> frozenset[str]:
    return roots(claim(" ".join(TELLING), "").title)


@lru_cache(maxsize=1024)
def _sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of each sentence in order, those that carry nothing left out."""
    sentences = _SENTENCE.split(text.replace("`", " "))
    return tuple(words for words in map(_ordered, sentences) if words)


def _ordered(text: str) -> tuple[str, ...]:
    return tuple(word for part in text.split() for word in roots(claim(part, "").title))


def reworded(one: Said, other: Said, more: AbstractSet[str]) -> bool:
    """Whether the words that only the second says are other words for what the first says: few, scattered, none that
    stands in a sentence of the first's in the place of another, and nothing is denied that was not."""
    if len(more) > 3 or _denied_otherwise(one, other):
        return False
    known = _sentences(f"{one.title}\n{one.body}")
    for words in _sentences(f"{other.title}\n{other.body}"):
        fresh = [word in more for word in words]
        if any(fresh[at] and fresh[at + 1] for at in range(len(fresh) - 1)):
            return False
        if any(fresh) and any(
            len(sentence) == len(words)
            and all(new or word == was for new, word, was in zip(fresh, words, sentence, strict=True))
            for sentence in known
        ):
            return False
    return True


def spans(title: str) -> frozenset[str]:
    """What stands in backticks in a title."""
    return frozenset(span.strip("`") for span in _CODE.findall(title))


def contrast(one: Said, other: Said) -> Contrast:
    """What sets two claims apart."""
    mine, theirs = one.bare, other.bare
    more = theirs.words - mine.words - _UNSAID
    lost, new = mine.title - theirs.words - _UNSAID, theirs.title - mine.words - _UNSAID
    hard = ((mine.title & mine.hard) - theirs.words) | (theirs.hard - mine.words) | (other.telling & more)
    turned = _reversed(one, other)
    shared = mine.title & theirs.title
    about = (overlap(mine.title, theirs.title) + overlap(mine.words, theirs.words)) / 2
    return Contrast(
        about=about,
        lost=lost,
        new=new,
        opposite=_opposite(lost, new),
        more=more,
        hard=hard,
        shared=shared,
        reversed=turned,
        other_value=bool(lost and new) and _other_value(one, other),
        moved=not (lost or new) and _moved(one, other, shared),
        same_ground=bool(turned) and _same_ground(one, other, lost, new, hard, about),
        chosen_anew=_chooses(one) and _chooses(other) and _chosen_anew(one, other),
        beside=bool(lost and new) and _beside(one.written[0], other.written[0]),
    )


def roots(words: frozenset[str]) -> frozenset[str]:
    """Words without the endings that make nouns and adverbs of verbs and adjectives."""
    return frozenset(_ENDING.sub("", word) if word.isascii() and word.strip("!").isalpha() else word for word in words)


def _reversed(one: Said, other: Said) -> frozenset[str]:
    """Words that one title affirms and the other denies. Not so where both claims deny the same and no title puts one
    thing in place of another: then a denial only reaches further in one of them (“X never calls Y”, “Y is not called
    by X”)."""
    if one.bare == one.claim and other.bare == other.claim:
        return frozenset()  # neither denies anything
    mine, theirs = one.claim.title, other.claim.title
    there, back = _affirmed(mine) & _denied(theirs), _affirmed(theirs) & _denied(mine)
    both = _denied(one.claim.words) & _denied(other.claim.words) | _denied(mine) & _denied(theirs)
    exchanged = there and back and (_chooses(one) or _chooses(other))
    if both and not exchanged and (denials(one.title) == denials(other.title) or len(there | back) < len(both)):
        return frozenset()
    return there | back


def _denied_otherwise(one: Said, other: Said) -> bool:
    """Whether one claim denies anywhere what the other only affirms, and not just in other words."""
    mine, theirs = one.claim.words, other.claim.words
    turned = (_affirmed(mine) & _denied(theirs)) | (_affirmed(theirs) & _denied(mine))
    if not turned:
        return False
    first, second = (denials(f"{said.title}\n{said.body}") for said in (one, other))
    alike = bool(_denied(mine) & _denied(theirs)) or not (_denied(mine) and _denied(theirs))
    return not (alike and first == second)


@lru_cache(maxsize=1)
def _opposites() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(word for one in pair for word in read(one, "").claim.title) for pair in OPPOSITES)


def _opposite(lost: AbstractSet[str], new: AbstractSet[str]) -> bool:
    """Whether all that sets the titles apart on one side is the opposite of something on the other."""
    pairs = [pair for pair in _opposites() if len(pair & lost) == 1 and len(pair & new) == 1]
    return any(not (lost - pair and new - pair) for pair in pairs)


def _same_ground(
    one: Said, other: Said, lost: AbstractSet[str], new: AbstractSet[str], hard: AbstractSet[str], about: float
) -> bool:
    """Whether two claims that contradict each other speak of one thing, though each title has words of its own: the
    later one names what it takes back, or nothing but words of degree sets their subjects apart."""
    if lost & hard - other.telling - one.telling and new & hard - other.telling - one.telling:
        return False
    shared = one.bare.title & other.bare.title
    if about < _ON_GROUND and 3 * len(shared) < 2 * len(other.bare.title):
        return False
    if _affirmed(one.claim.words) & _denied(other.claim.title):
        return True
    return not (lost - one.telling and new - other.telling)


def denials(text: str) -> int:
    """How many words of a text, outside of code, deny something."""
    return len(_DENIAL.findall(_CODE.sub("", text)))


def _chooses(said: Said) -> bool:
    """Whether a title puts one thing in place of another: “A, not B”."""
    return _CHOICE.search(_CODE.sub("", said.title)) is not None


def _chosen_anew(one: Said, other: Said) -> bool:
    """Whether of two choices (“A, not B”) the second refuses all that the first alone chooses (“C, not A”), or chooses
    nothing but what the first refuses (“B, not C”). What the first refuses is no ground of its own; where the second
    names a ground that the first says nowhere (“… for the docs”), it is a choice beside it."""
    mine, theirs = _affirmed(one.claim.title), _affirmed(other.claim.title)
    chosen, anew = mine - theirs, theirs - mine
    if not (chosen and anew) or not (chosen <= _denied(other.claim.title) or anew <= _denied(one.claim.title)):
        return False
    where = frozenset(_ordered(" ".join(_WHERE.findall(other.title.replace("`", " ")))))
    return not anew - where or where <= one.bare.words


def _beside(title: str, later: str) -> bool:
    """Whether the later title speaks of a thing of another number, or adds to the first in so many words."""
    first, second = ({number for found in _NUMBERED.findall(text) for number in found} for text in (title, later))
    return first != second or (bool(_TOO.search(later)) and not _TOO.search(title))


def _other_value(one: Said, other: Said) -> bool:
    """Whether both titles say what the one thing of a kind is (“The base image is …”), and not the same of it."""
    first, second = (_IS.match(said.title) for said in (one, other))
    if first is None or second is None:
        return False
    subject = _ordered(first["what"].replace("`", " "))
    return len(subject) > 1 and set(subject) == set(_ordered(second["what"].replace("`", " ")))


def _moved(one: Said, other: Said, shared: AbstractSet[str]) -> bool:
    """Whether what both titles say is put the other way round: what stood before a word of direction stands
    after it, or two names changed places and all else stayed."""
    mine, theirs = _towards(one.title), _towards(other.title)
    for word in mine.keys() & theirs.keys():
        (before, after), (was_before, was_after) = mine[word], theirs[word]
        if after != was_after and after in was_before & shared and was_after in before & shared:
            return True
    first, second = (_ordered(said.title.replace("`", " ")) for said in (one, other))
    if len(first) != len(second):
        return False
    apart = [at for at, (word, was) in enumerate(zip(first, second, strict=True)) if word != was]
    exchanged = {first[at] for at in apart}
    if len(apart) != 2 or apart[1] - apart[0] < 2:  # neighbours are a list, in any order
        return False
    return exchanged == {second[at] for at in apart} and exchanged <= one.bare.hard


def _towards(title: str) -> dict[str, tuple[frozenset[str], str]]:
    """Each word of direction with the words before it and the first word after it."""
    parts = title.replace("`", " ").split()
    return {
        part.lower(): (frozenset(_ordered(" ".join(parts[:at]))), next(iter(_ordered(" ".join(parts[at + 1 :]))), ""))
        for at, part in enumerate(parts)
        if part.lower() in _DIRECTIONS
    }


def _affirmed(words: AbstractSet[str]) -> frozenset[str]:
    """Words that are said and nowhere denied."""
    return frozenset(word for word in words if not word.startswith("!") and f"!{word}" not in words)


def _denied(words: AbstractSet[str]) -> frozenset[str]:
    """Words that are denied and nowhere said."""
    return frozenset(word[1:] for word in words if word.startswith("!") and word[1:] not in words)


def is_value(word: str) -> bool:
    """Whether a word is a number, version, date or commit."""
    return is_number(word) or _VERSION.fullmatch(word) is not None
