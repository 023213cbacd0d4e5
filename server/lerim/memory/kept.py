"""What an update keeps of the text a memory has: every sentence the new text does not say again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lerim.memory.claim import Claim, another, bare, claim, is_number, overlap, stem
from lerim.memory.contrast import read
from lerim.memory.framing import unframed
from lerim.memory.renewed import renewed
from lerim.memory.substance import exact, limits
from lerim.memory.wording import plain

RESTATED_FROM = 0.72
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?=[^\Wa-z_]|[`“\"(\[])|(?<=[。！？])")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_NUMBER = re.compile(
    r"(?:(?P<before>[^\W\d]{2,40})[ \t]+)?(?<![\w.])v?(?P<number>\d[\d.:]*(?<!\.))(?:(?P<unit>[^\W\d]{1,5})\b"
    r"|[ \t]+(?P<after>[^\W\d]{3,40}))?"
)
_GAPS = re.compile(r"\n(?:[ \t]*\n){2,}")


@dataclass(frozen=True, slots=True)
class _Told:
    """A sentence of the new text: what it claims, the same with words of one meaning put alike and denials left out,
    and the words of the new title."""

    text: str
    claim: Claim
    plainly: Claim
    about: frozenset[str]


Ours = Callable[[str], bool]
"""Whether Lerim wrote a sentence, and no person."""


def nobody(_: str) -> bool:
    """Where nobody knows who wrote a text, it is a person's."""
    return False


def joined(old: str, title: str, body: str, ours: Ours = nobody) -> str:
    """The new body, and after it what the old one says besides. Lines without words stay whole, and so do code blocks,
    but for those that stand in the new body.

    A sentence is said again if one of the new ones has all its words, or is as like it as an update is to its memory
    (a value changed, a reversal), or gives another value for the same where the old one says nothing else. Our own
    sentences around a claim go with the claim. Of what is `ours` a sentence goes, too, in whose place one of the new
    body stands that says otherwise of the same (`renewed.py`): it was never a person's.
    """
    new = body.replace("\r\n", "\n")
    lines = [line.strip() for line in body.splitlines()]
    told = [sentence for line in (title, *lines) for sentence in _SENTENCE_END.split(unframed(line))]
    about = bare(read(title, "").claim).words
    said = [_Told(sentence, claim(sentence, ""), bare(read(sentence, "").claim), about) for sentence in told]
    own = [sentence for sentence in sentences(old) if ours(sentence) and not _again(sentence, said)]
    gone = renewed(own, sentences(body)) if own else frozenset()
    kept: list[str] = []
    block: list[str] = []
    for line in old.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if block or mark:
            closes = bool(block and mark and mark[1] == block[0].lstrip(" ")[:3])
            block.append(line)
            if closes:
                kept += [] if "\n".join(block) in new else block
                block = []
        elif not line.strip() or line.strip() not in lines:
            left = _rest(line, said, gone)
            if left or not line.strip():
                kept.append(left)
    rest = _GAPS.sub("\n\n", "\n".join([*kept, *block])).strip("\n")
    if not rest or rest in body:
        return body
    return f"{body}\n\n{rest}" if body.strip() else rest


def sentences(text: str) -> list[str]:
    """The sentences of a text, those we put around a claim and lines of code left out."""
    found: list[str] = []
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        elif not fence:
            found += (one.strip() for one in _SENTENCE_END.split(unframed(line)) if one.strip())
    return found


def _rest(line: str, said: Sequence[_Told], gone: AbstractSet[str]) -> str:
    """A line without the sentences said again; one where all are kept stays to the byte."""
    told = [sentence for sentence in _SENTENCE_END.split(unframed(line)) if sentence.strip()]
    kept = [sentence for sentence in told if sentence.strip() not in gone and not _again(sentence, said)]
    return line if kept == told and unframed(line) == line else " ".join(kept).rstrip()


def _again(sentence: str, said: Sequence[_Told]) -> bool:
    own = claim(sentence, "")
    if not own.words:
        return False
    plainly = bare(read(sentence, "").claim)
    return any(
        (
            (not another(own, one.claim) and (own.words <= one.claim.words or _put_right(bare(own), bare(one.claim))))
            or _overtaken(sentence, plainly, one)
        )
        and not _limited(sentence, one.text)
        for one in said
    )


def _limited(sentence: str, new: str) -> bool:
    """Whether a sentence has a word that limits it, or a name, and the new one has another there: `must` or `may`."""
    names = {word for word in exact(sentence) - exact(new) if not any(map(str.isdigit, word))}
    return bool(limits(sentence, modals=True) ^ limits(new, modals=True)) or bool(
        {word.lower().rstrip("s") for word in names} & {word.lower().rstrip("s") for word in exact(new)}
    )


def _put_right(own: Claim, other: Claim) -> bool:
    """Whether the other says the same with another number or the other way round, and leaves nothing out."""
    lost, new = own.words - other.words, other.words - own.words
    values = not lost or (all(map(is_number, lost)) and any(map(is_number, new)))
    return values and overlap(own.words, other.words) >= RESTATED_FROM


def _overtaken(sentence: str, own: Claim, new: _Told) -> bool:
    """Whether the new sentence gives another number for what a sentence counts or measures, of which that says nothing
    but what the new one and its title say, too."""
    lost = {word for word in own.words - new.plainly.words if is_number(word)}
    if not lost or not own.words - lost <= new.plainly.words | new.about:
        return False
    before, now = _measures(sentence), _measures(new.text)
    changed = [unit for unit, numbers in before.items() if not numbers <= now.get(unit, set())]
    return bool(changed) and all(unit in now for unit in changed)


def _measures(text: str) -> dict[str, set[str]]:
    """The numbers of a text by what they count or measure: the letters or the word after them, else the word before."""
    found: dict[str, set[str]] = {}
    for match in _NUMBER.finditer(plain(text).lower()):
        unit = match["unit"] or match["after"] or match["before"] or ""
        found.setdefault(stem(unit), set()).add(match["number"])
    return found
