"""Checks whether texts support a sentence that cites them: word for word where it matters, and in its meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lerim.extraction.contradictions import contradicts
from lerim.extraction.model import fold_text, has_exact_parts
from lerim.patterns import compile_later
from lerim.sessions import tokenize_text
from lerim.words import STOP_WORDS, stem

MAX_WORDS_PER_SUPPORTED = 3
"""Maximum number of words in a sentence for each word that also occurs in its sources, not counting stop words."""
_QUOTATION = compile_later(r"[\"“„«]([^\"“”„«»\n]{3,300})[\"”»]")
_CAPITALISED = compile_later(r"(?<![\w`])[A-Z][\w+#-]{1,40}")
_NUMBERED = compile_later(r"\[(?=\s{0,4}\d{1,6}(?:\s{0,4}[,;]\s{0,4}\d{1,6}){0,20}\s{0,4}\])")


@dataclass(frozen=True, slots=True)
class NumberedText:
    """A text that sentences may cite by its number. `context` is what else is known about it: its title, its time,
    who said it."""

    number: int
    context: str
    text: str


def is_supported(text: str, sources: Sequence[NumberedText]) -> bool:
    """Returns whether these texts support a sentence: they contain its numbers, paths, code, quotations and names,
    and enough of its other words, and the sentence does not contradict them."""
    source_text = "\n".join(f"{source.context}\n{source.text}" for source in sources)
    lowered = source_text.lower()
    if not has_exact_parts(text, lowered):
        return False
    folded = fold_text(source_text)[0]
    if any(fold_text(match[1])[0].strip() not in folded for match in _QUOTATION.finditer(text)):
        return False
    known_stems = {stem(word) for word in tokenize_text(source_text)}
    start = len(text) - len(text.lstrip("\"'“(`*"))
    for match in _CAPITALISED.finditer(text):
        if match.start() <= start or match[0].lower() in STOP_WORDS:
            continue  # the first word is capitalised because it begins the sentence
        if not _is_known_name(match[0], lowered, known_stems):
            return False
    content_words = [word for word in map(stem, dict.fromkeys(tokenize_text(text))) if word not in _STOP_STEMS]
    if sum(word in known_stems for word in content_words) * MAX_WORDS_PER_SUPPORTED < len(content_words):
        return False
    return not contradicts(text, [source.text for source in sources])


def _is_known_name(name: str, lowered: str, known_stems: set[str]) -> bool:
    return name.lower() in lowered or all(stem(word) in known_stems for word in tokenize_text(name))


_STOP_STEMS: Mapping[str, None] = dict.fromkeys(map(stem, STOP_WORDS))


def escape_lines(text: str) -> str:
    """Prefixes each line with a bar and escapes whatever looks like a source number or a DSPy field marker."""
    escaped = _NUMBERED.sub("⁅", text.replace("[[", "⟦"))
    return "\n".join(f"| {line}" for line in escaped.splitlines())
