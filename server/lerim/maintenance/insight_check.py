"""What an insight in a model's words leaves out or makes up of the learnings it was made from, as code can see it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lerim.memory import MemoryRecord, overlap, strip_boilerplate, word_stems

TOLD_FROM = 0.5
"""The least share of a sentence's words that has to be in an insight which tells it, and the other way round."""
BORNE_FROM = 0.75
SAME_WORDS_FROM = 0.8
"""The overlap of two sentences (Dice's coefficient) from which they speak of the same, denied or not."""
OWN_WORDS = "own-words"
"""The flag of an insight in which a model uses many words that no learning has: a person should look at it."""
_DENIES = re.compile(r"\b(?:not|never|no|none|without|cannot|avoid)\b|n['’]t\b", re.IGNORECASE)
_QUOTED = re.compile(r"“[^”\n]{1,400}”|\"[^\"\n]{1,400}\"")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_CODE = re.compile(r"`([^`\n]+)`")
_EXACT = re.compile(
    r"(?<![\w-])(?:--?[A-Za-z][\w-]*|[\w./+#@-]*(?:\d|[/_#@]|\w\.\w|[a-z][A-Z])[\w./+#@-]*|[A-Z]{2,}\w*)"
)
_STRICT = re.compile(
    r"\b(?:must|shall|may|might|only|always|never|all|every|some|most|few|unless|except)\b", re.IGNORECASE
)


def find_losses(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> list[str]:
    """Each thing that is lost or made up, in words for people; empty where all is kept.

    Kept must be every path, number, flag, name and piece of code as it is spelt, every word such as `must` or `only`,
    every quotation to the letter, and of each sentence half of its words. Made up is what is named exactly in no
    source, a word such as `must` that none has, and a sentence of which less than half of the words stand in one or
    that denies what another with the same words affirms, or the other way round. Evidence and places are not a
    model's to tell: code takes them over.
    """
    return [*_lost(insight, sources), *_invented(insight, sources)]


def exact(text: str) -> frozenset[str]:
    """The code, paths, numbers, flags and names of a text as they are written."""
    words = [word for span in _CODE.findall(text) for word in span.split()]
    words += _EXACT.findall(_CODE.sub(" ", text))
    return frozenset(word.strip(".,:;/-()") if not word.startswith("-") else word for word in words) - {""}


def _lost(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> Iterator[str]:
    text = _spaced(f"{insight.title}\n{insight.body}")
    told, strict, spelt = word_stems(text), _strict(text), exact(text)
    known: set[str] = set()
    for source in sources:
        written = f"{source.title}\n{strip_boilerplate(source.body)}"
        known |= exact(written) | _strict(written)
        for word in sorted(_strict(written) - strict):
            yield f"it leaves out “{word}” of “{source.title}”"
        for word in sorted(exact(written) - spelt):
            same = word.lower() in {one.lower() for one in spelt}
            of = f"of “{source.title}”"
            yield f"it writes {word} {of} otherwise" if same else f"it leaves out {word} {of}"
        for quoted in _QUOTED.findall(source.body):
            if _spaced(quoted)[1:-1] not in text:
                yield f"it leaves out the quotation {quoted} of “{source.title}”"
        for sentence in (source.title, *_SENTENCE_END.split(source.body)):
            words = word_stems(sentence)
            if len(words & told) < TOLD_FROM * len(words):
                yield f"it leaves out “{_spaced(sentence)[:120]}”"
    for word in sorted((strict | spelt) - known):
        if word.lower() not in {one.lower() for one in known}:  # another spelling was told above
            yield f"it makes up {word}"


def _invented(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> Iterator[str]:
    texts = [f"{source.title}\n{strip_boilerplate(source.body)}" for source in sources]
    for sentence, borne in _borne(insight, sources):
        if borne < TOLD_FROM:
            yield f"it makes up “{sentence[:120]}”"
        elif _is_denied_otherwise(sentence, texts):
            yield f"it says the opposite of what was learned in “{sentence[:120]}”"


def _is_denied_otherwise(sentence: str, texts: Sequence[str]) -> bool:
    words, denies = word_stems(_DENIES.sub(" ", sentence)), bool(_DENIES.search(sentence))
    for part in (part for text in texts for part in _SENTENCE_END.split(text)):
        same = overlap(words, word_stems(_DENIES.sub(" ", part))) >= SAME_WORDS_FROM
        if words and same and bool(_DENIES.search(part)) != denies:
            return True
    return False


def is_in_source_words(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> bool:
    """Whether of each sentence of an insight BORNE_FROM of its words stand in the learnings it was made from."""
    return all(borne >= BORNE_FROM for _, borne in _borne(insight, sources))


def _borne(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> Iterator[tuple[str, float]]:
    """Each sentence of an insight with the share of its words that stand in the learnings, of none 1."""
    known = frozenset(word for one in sources for word in word_stems(f"{one.title}\n{strip_boilerplate(one.body)}"))
    for sentence in (insight.title, *_SENTENCE_END.split(insight.body)):
        words = word_stems(sentence)
        yield _spaced(sentence), len(words & known) / len(words) if words else 1.0


def _strict(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _STRICT.findall(_CODE.sub(" ", text)))


def _spaced(text: str) -> str:
    return " ".join(text.split())
