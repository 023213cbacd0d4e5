"""Checks by rules what an insight worded by a model leaves out of its source learnings, or makes up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lerim.memory import MemoryRecord, dice_overlap, strip_boilerplate, word_stems

MIN_SENTENCE_SHARE = 0.5
"""The least share of the words of a source sentence that an insight must contain, and the least share of the words of
an insight's sentence that the sources must contain."""
MIN_SOURCE_WORDS_SHARE = 0.75
"""The least share of the words of each sentence that the sources contain, if an insight is in their words."""
SAME_SENTENCE_OVERLAP = 0.8
"""The least overlap (Dice's coefficient) of two sentences about the same thing, negated or not."""
OWN_WORDS_FLAG = "own-words"
"""Flags an insight in which a model uses many words that no source has: a person should look at it."""
_DENIAL = re.compile(r"\b(?:not|never|no|none|without|cannot|avoid)\b|n['’]t\b", re.IGNORECASE)
_QUOTED = re.compile(r"“[^”\n]{1,400}”|\"[^\"\n]{1,400}\"")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_CODE = re.compile(r"`([^`\n]+)`")
_EXACT_TERM = re.compile(
    r"(?<![\w-])(?:--?[A-Za-z][\w-]*|[\w./+#@-]*(?:\d|[/_#@]|\w\.\w|[a-z][A-Z])[\w./+#@-]*|[A-Z]{2,}\w*)"
)
_STRICT_WORD = re.compile(
    r"\b(?:must|shall|may|might|only|always|never|all|every|some|most|few|unless|except)\b", re.IGNORECASE
)


def find_losses(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> list[str]:
    """Return everything that is lost or made up, in words for people; empty if nothing is.

    An insight must keep every path, number, flag, name and piece of code exactly as spelt, every word such as `must`
    or `only`, every quotation verbatim, and half of the words of each sentence. It makes something up if it has an
    exact term or a word such as `must` that no source has, a sentence of which less than half of the words are in the
    sources, or a sentence that negates a source sentence with the same words, or the other way round. Evidence and
    references are not checked: code copies them.
    """
    return [*_find_lost(insight, sources), *_find_invented(insight, sources)]


def exact_terms(text: str) -> frozenset[str]:
    """Return the code, paths, numbers, flags and names of a text, exactly as written."""
    words = [word for span in _CODE.findall(text) for word in span.split()]
    words += _EXACT_TERM.findall(_CODE.sub(" ", text))
    return frozenset(word.strip(".,:;/-()") if not word.startswith("-") else word for word in words) - {""}


def _find_lost(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> Iterator[str]:
    text = _normalise_spaces(f"{insight.title}\n{insight.body}")
    insight_stems, insight_strict_words, insight_terms = word_stems(text), _strict_words(text), exact_terms(text)
    source_terms: set[str] = set()
    for source in sources:
        written = f"{source.title}\n{strip_boilerplate(source.body)}"
        source_terms |= exact_terms(written) | _strict_words(written)
        for word in sorted(_strict_words(written) - insight_strict_words):
            yield f"it leaves out “{word}” of “{source.title}”"
        for word in sorted(exact_terms(written) - insight_terms):
            is_respelt = word.lower() in {term.lower() for term in insight_terms}
            of = f"of “{source.title}”"
            yield f"it writes {word} {of} otherwise" if is_respelt else f"it leaves out {word} {of}"
        for quoted in _QUOTED.findall(source.body):
            if _normalise_spaces(quoted)[1:-1] not in text:
                yield f"it leaves out the quotation {quoted} of “{source.title}”"
        for sentence in (source.title, *_SENTENCE_END.split(source.body)):
            words = word_stems(sentence)
            if len(words & insight_stems) < MIN_SENTENCE_SHARE * len(words):
                yield f"it leaves out “{_normalise_spaces(sentence)[:120]}”"
    for word in sorted((insight_strict_words | insight_terms) - source_terms):
        if word.lower() not in {term.lower() for term in source_terms}:  # other spellings are reported above
            yield f"it makes up {word}"


def _find_invented(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> Iterator[str]:
    texts = [f"{source.title}\n{strip_boilerplate(source.body)}" for source in sources]
    for sentence, known_share in _sentence_shares(insight, sources):
        if known_share < MIN_SENTENCE_SHARE:
            yield f"it makes up “{sentence[:120]}”"
        elif _contradicts_source(sentence, texts):
            yield f"it says the opposite of what was learned in “{sentence[:120]}”"


def _contradicts_source(sentence: str, texts: Sequence[str]) -> bool:
    """Return whether a sentence negates a source sentence with the same words, or the other way round."""
    words, is_denial = word_stems(_DENIAL.sub(" ", sentence)), bool(_DENIAL.search(sentence))
    for part in (part for text in texts for part in _SENTENCE_END.split(text)):
        has_same_words = dice_overlap(words, word_stems(_DENIAL.sub(" ", part))) >= SAME_SENTENCE_OVERLAP
        if words and has_same_words and bool(_DENIAL.search(part)) != is_denial:
            return True
    return False


def is_in_source_words(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> bool:
    """Return whether at least MIN_SOURCE_WORDS_SHARE of the words of each sentence are in the source learnings."""
    return all(known_share >= MIN_SOURCE_WORDS_SHARE for _, known_share in _sentence_shares(insight, sources))


def _sentence_shares(insight: MemoryRecord, sources: Sequence[MemoryRecord]) -> Iterator[tuple[str, float]]:
    """Yield each sentence of an insight with the share of its words that are in the sources; 1.0 if it has no words."""
    source_texts = (f"{source.title}\n{strip_boilerplate(source.body)}" for source in sources)
    source_stems = frozenset(stem for text in source_texts for stem in word_stems(text))
    for sentence in (insight.title, *_SENTENCE_END.split(insight.body)):
        words = word_stems(sentence)
        yield _normalise_spaces(sentence), len(words & source_stems) / len(words) if words else 1.0


def _strict_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _STRICT_WORD.findall(_CODE.sub(" ", text)))


def _normalise_spaces(text: str) -> str:
    return " ".join(text.split())
