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
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest

from lerim.memory import kinds, measures
from lerim.memory.asked import USES, Asked, asked, governed, in_order, lettered, parts, small
from lerim.memory.contraries import denied
from lerim.memory.contrast import Said, read
from lerim.memory.framing import unframed
from lerim.memory.record import MemoryRecord
from lerim.memory.terms import STOP

_MOST_MORE = 3
"""How many words the name or number may have that is asked for."""
_FEW = 3
"""With so few words of its own, a question is looked at where a claim shares but one of them."""
_LISTED = 10_000_000
_COMPARED = 2_000_000
_TOKEN = re.compile(r"[^\W_]{2,}")
_SAID_SO = re.compile(
    r"^\s*(?:(?:(?:decided|decision|settled|resolved|agreed)\s*[:-]|(?:no|nope|yes|ok(?:ay)?),|(?:and|but|so)\b,?"
    r"|(?:from now on|going forward)\b,?)\s*){1,4}",
    re.IGNORECASE,
)
"""What a person says before what they settle."""
_IN_PLACE = re.compile(r"[,;]\s*(?:and )?not (?P<what>[^,;]+)(?:,(?=\s)|$)", re.IGNORECASE)
"""In place of what: “Use uv, not pip, in CI”."""
_ASIDE = re.compile(r"(?:[,;]\s*(?:with|because|since|so that)|\s(?:because|since|so that))\b.*", re.IGNORECASE)
"""What is said besides: with what, and why."""
_WHERE = re.compile(r"\s*(?:in|on|at|for|from|by|with|when|while|during|under)\b", re.IGNORECASE)
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
    after again all always any before both could each every few hardly last may me more most mostly off often once only
    other others out partly rarely same seldom so some sometimes then until us usually when while
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
_PLACE = re.compile(r"`|[/._]")
_PLACES = frozenset({"in", "into", "to", "under", "on", "at", "inside"})
_TAKES = frozenset({*USES, "in", "on", "with"})


def answers(question: MemoryRecord, title: str, body: str) -> bool:
    """Whether a claim answers a question; that it was said later is for the caller to see to."""
    wanted = asked(question.title)
    if len(wanted.order) + 2 * bool(wanted.first) + bool(wanted.asks) < 2:
        return False
    title = _SAID_SO.sub("", lettered(title, wanted.letters))
    if not _near(wanted, read(title, body).bare.title):
        return False
    told = _ASIDE.sub("", _without_refused(wanted, title))
    if wanted.asks.startswith("how "):
        said = measures.rest(wanted.asks, wanted.kind, told)
        return said is not None and _settled(wanted, said, body) and _same_subject(wanted, read(said, body), said)
    if not _settled(wanted, title, body):
        return False
    if wanted.asks:
        return _gives(wanted, read(told, body), told)
    told = denied(wanted.small, told)
    found = read(told, body)
    unsaid = frozenset(wanted.order) - found.bare.title - USES
    if (unsaid and not _wider(wanted, found, unsaid)) or not found.bare.title <= wanted.words:
        return False
    return (
        _related(wanted, told)
        and _ordered(wanted, told)
        and (not wanted.first or _chooses(found, wanted.first, wanted.second))
    )


def _near(wanted: Asked, said: AbstractSet[str]) -> bool:
    """Whether a title has the words of a question but for one: most that share some words have not, and need no closer
    look."""
    missing = frozenset(wanted.order) - said - USES - wanted.kind
    return len(missing) < 2 and (not wanted.first or wanted.first in said or wanted.second in said)


def answered(
    questions: Sequence[MemoryRecord], said: Sequence[MemoryRecord], go_on: Callable[[], None] = lambda: None
) -> Iterator[tuple[MemoryRecord, MemoryRecord]]:
    """Each question with the first later decision or learning that answers it. `go_on` is called between two of them;
    what it raises ends the search.

    What one claim costs is bounded: it looks at a share of _LISTED entries, those of its rarest words first, and is
    compared with a share of _COMPARED questions, those that share most words with it.
    """
    begins: dict[str, list[int]] = defaultdict(list)
    least: list[int] = []
    for at, question in enumerate(questions):
        starts = _starts(question.title)
        least.append(2 if len(starts) > _FEW else 1)
        for start in starts:
            begins[start].append(at)
    open_ = dict(enumerate(questions))
    most_listed, most_compared = (max(16, total // max(1, len(said))) for total in (_LISTED, _COMPARED))
    for memory in sorted(said, key=lambda one: (one.updated, one.id)):
        if memory.primitive not in ("decision", "learning"):
            continue
        go_on()
        shared: dict[int, int] = defaultdict(int)
        left = most_listed
        for under in sorted((begins[one] for one in _starts(f"{memory.title} {memory.body}") & begins.keys()), key=len):
            for at in under[:left]:
                shared[at] += 1
            left -= len(under)
            if left <= 0:
                break
        likely = [at for at, count in shared.items() if at in open_ and count >= least[at]]
        for at in sorted(nlargest(most_compared, likely, key=lambda at: (shared[at], -at))):
            if memory.updated > open_[at].updated and answers(open_[at], memory.title, memory.body):
                yield open_.pop(at), memory


def _starts(text: str) -> set[str]:
    """The beginnings of a text's words: two texts on the same things share some of them."""
    return {word[:4].lower() for word in _TOKEN.findall(text) if word.lower() not in STOP}


def _wider(wanted: Asked, found: Said, unsaid: frozenset[str]) -> bool:
    """Whether a claim that lacks a word of a yes-or-no question denies what is asked and more: what is never done is
    not done to shared ones either."""
    plain_no = not (wanted.asks or wanted.first) and found.claim.title != found.bare.title
    return plain_no and len(wanted.words) > 4 and len(unsaid) == 1 and not unsaid & wanted.hard


def _without_refused(wanted: Asked, title: str) -> str:
    """A title without what it names as refused, where that is the other option, or stands in place of a thing: “not in
    CI” says where something does not hold."""
    refused = _IN_PLACE.search(title)
    if refused is None:
        return title
    named = read(refused["what"], "").bare.title
    rightly = named & {wanted.first, wanted.second} if wanted.first else not _WHERE.match(refused["what"])
    return f"{title[: refused.start()]} {title[refused.end() :]}" if rightly else title


def _same_subject(wanted: Asked, found: Said, told: str) -> bool:
    """Whether a claim, without the amount it gives, says what was asked about and nothing else, and denies nothing."""
    subject = frozenset(wanted.order) - USES
    return found.claim.title == found.bare.title == subject and _ordered(wanted, told)


def _related(wanted: Asked, told: str) -> bool:
    """Whether what stands behind a claim's prepositions stands behind one in the question, and what is done by
    something is done by it in both: “is the cache in the store” asks something else than “the store is in the cache”.
    """
    behind = {(how, words[0]) for how, words in governed(told) if words}
    return behind <= wanted.governed and _by(behind) == _by(wanted.governed)


def _by(behind: AbstractSet[tuple[str, str]]) -> bool:
    return any(how == "by" for how, _ in behind)


def _ordered(wanted: Asked, told: str) -> bool:
    """Whether both are the same words in one order, but for one that may stand anywhere, as verbs do; names may not."""
    said = in_order(told)
    both = set(wanted.order) & set(said)
    one, other = ([word for word in words if word in both] for words in (wanted.order, said))
    return one == other or any(
        [word for word in one if word != free] == [word for word in other if word != free]
        for free in both - wanted.hard
    )


def _settled(wanted: Asked, title: str, body: str) -> bool:
    """Whether a claim holds without conditions, is of the same amount as what was asked, asks nothing itself, and does
    not tell what once happened."""
    rest = unframed(body)
    if _QUESTION.search(title) or _OPEN.search(_CODE.sub(" ", f"{title}\n{rest}")) or "?" in _CODE.sub(" ", rest):
        return False
    if small(title) & _AMOUNT != wanted.small & _AMOUNT:
        return False
    words = _WORD.findall(_CODE.sub(" ", title).lower())
    for at, word in enumerate(words):
        past = word in _PAST or (word.endswith("ed") and not _IS & set(words[max(0, at - 2) : at]))
        if past and word not in wanted.small:
            return False
    return True


def _chooses(found: Said, first: str, second: str) -> bool:
    """Whether the claim is for one of two options: says the one in its title, and the other nowhere or denied."""
    said = found.claim

    def takes(one: str, other: str) -> bool:
        return one in said.title and f"!{one}" not in said.words and other not in said.title

    return takes(first, second) or takes(second, first)


def _gives(wanted: Asked, found: Said, told: str) -> bool:
    """Whether a claim gives a name or number where that is to be expected, and has no other words of its own."""
    there = parts(told)
    new = [at for at, (_, words) in enumerate(there) if words - wanted.words]
    if not new or new[-1] - new[0] >= len(new) or len(new) > _MOST_MORE:
        return False
    of_kind = len(new) == 1 and kinds.of_kind(wanted.plain_kind, there[new[0]][0])
    if not of_kind and not there[new[0]][1] & found.bare.hard:
        return False
    before = [part for part in there[: new[0]] if part[0] not in _ARTICLES]
    after = there[new[-1] + 1 :]
    subject = frozenset(wanted.order) - USES
    unsaid = subject - found.claim.title - (kinds.implied(wanted.plain_kind) if of_kind else frozenset())
    if unsaid or found.claim.title != found.bare.title or not _ordered(wanted, told):
        return False
    if wanted.asks == "where":
        if len(subject) == 1 and not _PLACE.search(told):
            return False
        return not after and bool(before) and before[-1][0] in _PLACES
    if wanted.asks not in ("which", "what"):
        return False
    if of_kind and before and before[-1][0] in _TAKES:
        return True
    if not before or [part[0] for part in before] == ["use"]:
        return bool(after) and after[0][0] in ("is", "are", "as")
    if before[-1][0] in ("is", "are"):
        return not after
    return len(new) == 1 and bool(before[-1][1]) and before[-1][1] <= wanted.kind
