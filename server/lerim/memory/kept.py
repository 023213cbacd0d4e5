"""What an update keeps of the text a memory has: every sentence the new text does not say again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lerim.memory.claim import Claim, another, bare, claim, is_number, overlap
from lerim.memory.framing import unframed
from lerim.memory.substance import exact, limits

RESTATED_FROM = 0.72
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?=[^\Wa-z_]|[`“\"(\[])|(?<=[。！？])")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_GAPS = re.compile(r"\n(?:[ \t]*\n){2,}")


def joined(old: str, title: str, body: str) -> str:
    """The new body, and after it what the old one says besides. Lines without words stay whole, and so do code blocks,
    but for those that stand in the new body.

    A sentence is said again if one of the new ones has all its words, or is as like it as an update is to its memory
    (a value changed, a reversal). Our own sentences around a claim go with the claim.
    """
    new = body.replace("\r\n", "\n")
    lines = [line.strip() for line in body.splitlines()]
    said = [
        (sentence, claim(sentence, "")) for line in (title, *lines) for sentence in _SENTENCE_END.split(unframed(line))
    ]
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
            rest = _rest(line, said)
            if rest or not line.strip():
                kept.append(rest)
    own = _GAPS.sub("\n\n", "\n".join([*kept, *block])).strip("\n")
    if not own or own in body:
        return body
    return f"{body}\n\n{own}" if body.strip() else own


def _rest(line: str, said: Sequence[tuple[str, Claim]]) -> str:
    """A line without the sentences said again; one where all are kept stays to the byte."""
    sentences = [sentence for sentence in _SENTENCE_END.split(unframed(line)) if sentence.strip()]
    kept = [sentence for sentence in sentences if not _again(sentence, said)]
    return line if kept == sentences and unframed(line) == line else " ".join(kept).rstrip()


def _again(sentence: str, said: Sequence[tuple[str, Claim]]) -> bool:
    own = claim(sentence, "")
    if not own.words:
        return False
    return any(
        (own.words <= one.words or _put_right(bare(own), bare(one))) and not _limited(sentence, text)
        for text, one in said
        if not another(own, one)
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
