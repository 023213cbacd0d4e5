"""What an insight in a model's words leaves out or makes up of the learnings it was made from, as code can see it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lerim.memory.claim import Claim, claim
from lerim.memory.contrary import contrary
from lerim.memory.contrast import read
from lerim.memory.framing import unframed
from lerim.memory.record import MemoryRecord
from lerim.memory.substance import exact, limits

TOLD_FROM = 0.5
"""The least share of a sentence's words that has to be in an insight which tells it, and the other way round."""
BORNE_FROM = 0.75
OWN_WORDS = "own-words"
"""The flag of an insight in which a model uses many words that no learning has: a person should look at it."""
_QUOTED = re.compile(r"“[^”\n]{1,400}”|\"[^\"\n]{1,400}\"")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")


def losses(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> list[str]:
    """Each thing that is lost or made up, in words for people; empty where all is kept.

    Kept must be every path, number, flag, name and piece of code, every denial of these, every quotation to the letter,
    and of each sentence half of its words. Made up is what is named exactly in no source, and a sentence of which less
    than half of the words stand in one; none says the contrary of its sources. Evidence and places are not a model's to
    tell: code takes them over.
    """
    return [*_losses(insight, sources), *_invented(insight, sources)]


def _losses(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> Iterator[str]:
    told = claim(insight.title, insight.body)
    text = _spaced(f"{insight.title}\n{insight.body}")
    spelt, limited = exact(text), limits(text, modals=True)
    known: set[str] = set()
    known_limits: set[str] = set()
    for source in sources:
        said = claim(source.title, source.body)
        known |= said.words
        written = f"{source.title}\n{unframed(source.body)}"
        known_limits |= limits(written, modals=True)
        for word in sorted(limits(written, modals=True) - limited):
            yield f"it leaves out “{word}” of “{source.title}”"
        for word in sorted(exact(written) - spelt):
            if word.lower() not in {one.lower() for one in spelt} and word.rstrip("s") not in spelt | {f"{word}s"}:
                continue
            yield f"it writes {word} of “{source.title}” otherwise"
        for word in sorted(said.hard - told.words):
            yield f"it leaves out {_shown(word)} of “{source.title}”"
        for quoted in _QUOTED.findall(source.body):
            if _spaced(quoted)[1:-1] not in text:
                yield f"it leaves out the quotation {quoted} of “{source.title}”"
        for sentence in (source.title, *_SENTENCE_END.split(source.body)):
            if not _told(claim(sentence, ""), told):
                yield f"it leaves out “{' '.join(sentence.split())[:120]}”"
    for word in sorted(limited - known_limits):
        yield f"it makes up “{word}”"
    for word in sorted(told.hard - known):
        yield f"it makes up {_shown(word)}"


def _invented(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> Iterator[str]:
    texts = [f"{source.title}\n{source.body}" for source in sources]
    for sentence, borne in _borne(insight, sources):
        if borne < TOLD_FROM:
            yield f"it makes up “{sentence[:120]}”"
        elif contrary(sentence, texts):
            yield f"it says the contrary of what was learned in “{sentence[:120]}”"


def in_their_words(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> bool:
    """Whether of each sentence of an insight BORNE_FROM of its words stand in the learnings it was made from."""
    return all(borne >= BORNE_FROM for _, borne in _borne(insight, sources))


def _borne(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> Iterator[tuple[str, float]]:
    """Each sentence of an insight with the share of its words that stand in the learnings, of none 1."""
    known = frozenset(word for one in sources for word in read(one.title, one.body).bare.words)
    for sentence in (insight.title, *_SENTENCE_END.split(insight.body)):
        words = read(sentence, "").bare.words
        yield " ".join(sentence.split()), len(words & known) / len(words) if words else 1.0


def _told(sentence: Claim, told: Claim) -> bool:
    words = sentence.words
    return not words or len(words & told.words) >= TOLD_FROM * len(words)


def _shown(word: str) -> str:
    return f"that it is not {word[1:]}" if word.startswith("!") else word


def _spaced(text: str) -> str:
    return " ".join(text.split())
