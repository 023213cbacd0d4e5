"""Whether a sentence that somebody made of others says the contrary of them: what a model wrote is held against the
sentence it is nearest to."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lerim.memory.contrast import Said, contrast, denials, read
from lerim.memory.framing import unframed
from lerim.memory.order import reordered
from lerim.memory.substance import limits

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|[。！？；]|\n+")
_REFUSES = re.compile(
    r"\b(?:forbid(?:s|den)?|prohibit(?:s|ed)?|ban(?:s|ned)?|disallow(?:s|ed)?|refus(?:e|es|ed)|reject(?:s|ed)?"
    r"|avoid(?:s|ed)?|replac(?:e|es|ed)|dropp?(?:s|ed)?|remov(?:e|es|ed)|retired?|deprecated|stop(?:s|ped)?|against|fails?|lacks?)\b",
    re.IGNORECASE,
)
_ON, _OFF = re.compile(r"\bon\b", re.IGNORECASE), re.compile(r"\boff\b", re.IGNORECASE)
_OPTIONAL = re.compile(r"\b(?:may|might|can|could|optional(?:ly)?)\b", re.IGNORECASE)
_REQUIRED = re.compile(r"\b(?:must|shall|has to|have to|required|mandatory)\b", re.IGNORECASE)
_TELLING = frozenset({"only", "may", "few", "hardly", "least", "minimum", "most", "maximum", "unless", "fewer", "some"})
_ALL = re.compile(r"\b(?:all|every|each|everything|everyone|everybody)\b", re.IGNORECASE)
_OVER = re.compile(r"\bover\b", re.IGNORECASE)
_CLAUSE = re.compile(r",\s|\bbut\b|(?=\binstead of\b)|(?=\brather than\b)", re.IGNORECASE)
_PARTLY = frozenset({"some", "few", "many", "most", "hardly"})
NEAR = 2
"""A sentence with so many words of another, or half of them, is of the same thing."""


def contrary(said: str, sources: Iterable[str]) -> bool:
    """Whether a sentence says the contrary of the sentence in these texts that it has most words of: it denies what
    that affirms or affirms what it denies, chooses otherwise, limits it as no text does, lets be what must be, or has
    its words the other way round."""
    texts = list(sources)
    told = _read(said)
    if (limits(said) & _TELLING) - {one for text in texts for one in limits(unframed(text))}:
        return True
    near: list[tuple[int, str]] = []
    for sentence in (part.strip() for text in texts for part in _SENTENCE.split(unframed(text)) if part.strip()):
        shared = len(told.bare.title & _read(sentence).bare.title)
        if shared and (shared >= NEAR or 2 * shared >= len(told.bare.title)):
            near.append((shared, sentence))
    most = max((shared for shared, _ in near), default=0)
    nearest = [sentence for shared, sentence in near if shared == most]
    return bool(nearest) and all(_opposed(_read(sentence), told) for sentence in nearest)


def _opposed(source: Said, said: Said) -> bool:
    was, now = source.written[0], said.written[0]
    if contrast(source, said).opposite:
        return bool(denials(was)) == bool(denials(now))
    refused, refuses = _denied(source), _denied(said)
    if refuses & _affirmed(was) or refused & _affirmed(now):
        return True
    if _ALL.search(now) and limits(was) & _PARTLY and not _ALL.search(was):
        return True
    if _REQUIRED.search(now) and _OPTIONAL.search(was) and not _REQUIRED.search(was):
        return True
    if _OPTIONAL.search(now) and _REQUIRED.search(was) and not (_OPTIONAL.search(was) or _refuses(now)):
        return True
    if (_ON.search(now) and _OFF.search(was) and not _OFF.search(now)) or (_OFF.search(now) and not _OFF.search(was)):
        return True
    return not (refused and refused == refuses) and reordered((was, ""), (now, ""))


def _denied(said: Said) -> frozenset[str]:
    """Words that are denied and nowhere affirmed."""
    words = said.claim.title
    return frozenset(word[1:] for word in words if word.startswith("!") and word[1:] not in words)


def _affirmed(text: str) -> frozenset[str]:
    """Words of the clauses that deny nothing: of another (“floats are never used”) nobody knows what it denies."""
    clauses = [clause for clause in _CLAUSE.split(text) if not _refuses(clause)]
    return frozenset(word for clause in clauses for word in _read(clause).bare.title)


def _read(text: str) -> Said:
    return read(_OVER.sub("above", text), "")


def _refuses(text: str) -> bool:
    return bool(denials(text)) or _REFUSES.search(text) is not None
