"""Parses a model's answer based on numbered texts, line by line. A sentence is accepted only if it cites texts, and
if they contain its names, numbers, paths, code and quotations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lerim.extraction.cited.support import NumberedText, is_supported
from lerim.extraction.facts import shorten
from lerim.patterns import compile_later
from lerim.redaction import clean_text, find_flags, strip_markup

NO_ANSWER = "NOTHING KNOWN"
MAX_SENTENCE_CHARS = 600
MAX_LINE_CHARS = 4_000
"""Maximum number of characters of a line; a line that has not ended by then is parsed as it is."""
MAX_SENTENCES = 40
_SOURCE_NUMBERS = compile_later(r"\[\s{0,4}(\d{1,6}(?:\s{0,4}[,;]\s{0,4}\d{1,6}){0,20})\s{0,4}\]")
_CITATION = compile_later(r"(?:\s{0,4}\[\s{0,4}\d{1,6}(?:\s{0,4}[,;]\s{0,4}\d{1,6}){0,20}\s{0,4}\]){1,20}\s{0,4}[.!?]?")
_LIST_MARKER = compile_later(r"^\s{0,12}(?:[-*•>]\s{1,4}|\d{1,2}[.)]\s{1,4}|#{1,6}\s{1,4}){0,3}")
_SENTENCE_END = compile_later(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)[\"'”)]{0,2}\s{1,4}(?=[\"'“(`A-Z0-9])")
_WORD_CHAR = compile_later(r"\w")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence and the numbers of the texts that support it."""

    text: str
    numbers: tuple[int, ...]


class CitedSentenceParser:
    """Parses an answer as it is streamed, in pieces of any size, and emits each accepted sentence.

    `found_nothing` is True once the model says that no source has anything to say; `unsupported_count` is the number
    of sentences rejected because no source supports them.
    """

    def __init__(self, sources: Sequence[NumberedText], emit: Callable[[CitedSentence], None]) -> None:
        self._sources = {source.number: source for source in sources}
        self._emit = emit
        self._pending = ""
        self._is_thinking = False
        self.accepted: list[CitedSentence] = []
        self.unsupported_count = 0
        self.found_nothing = False

    def feed(self, piece: str) -> None:
        """Takes the next piece of the answer and parses the lines it completes."""
        *lines, self._pending = (self._pending + piece).split("\n")
        for line in lines:
            self._parse_line(line)
        if len(self._pending) > MAX_LINE_CHARS:
            self._parse_line(self._pending)
            self._pending = ""

    def end(self, *, is_complete: bool) -> None:
        """Ends the answer. Unless it `is_complete`, its last line was cut off and is not a sentence."""
        rest, self._pending = self._pending, ""
        if is_complete:
            self._parse_line(rest)
        elif _WORD_CHAR.search(rest):
            self.unsupported_count += 1

    def _parse_line(self, line: str) -> None:
        line = self._strip_thoughts(line)
        if not _WORD_CHAR.search(line) or line.strip().startswith("```"):
            return
        if line.strip().strip("*`.").upper() == NO_ANSWER:
            self.found_nothing = True
            return
        for text, numbers in split_cited_sentences(line):
            sentence = self._check_sentence(text, numbers)
            if sentence is None or len(self.accepted) >= MAX_SENTENCES:
                self.unsupported_count += 1
            elif sentence not in self.accepted:
                self.accepted.append(sentence)
                self._emit(sentence)

    def _strip_thoughts(self, line: str) -> str:
        """Returns a line without the reasoning that small models write between <think> tags."""
        if not self._is_thinking and "<think>" in line:
            before, _, line = line.partition("<think>")
            self._is_thinking = True
            after = self._strip_thoughts(line)
            return before + after
        if self._is_thinking:
            _, end, line = line.partition("</think>")
            self._is_thinking = not end
            return line if end else ""
        return line

    def _check_sentence(self, text: str, numbers: Sequence[int]) -> CitedSentence | None:
        sources = [self._sources[number] for number in numbers if number in self._sources]
        text = shorten(clean_text(strip_markup(text)), MAX_SENTENCE_CHARS)
        if (
            not text
            or not sources
            or len(sources) < len(numbers)
            or find_flags(text)
            or not is_supported(text, sources)
        ):
            return None
        return CitedSentence(text, tuple(source.number for source in sources))


def split_cited_sentences(line: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yields the sentences of a line, each with the source numbers it ends with; () if it has none."""
    line = _LIST_MARKER.sub("", line[:MAX_LINE_CHARS].replace("**", ""))
    at = 0
    for match in _CITATION.finditer(line):
        *before, last = _SENTENCE_END.split(line[at : match.start()].strip())
        for sentence in before:
            yield sentence, ()
        end = match.group().rstrip()[-1]
        text = last.strip()
        if text:
            text = text if text[-1] in ".!?" else text + (end if end in ".!?" else ".")
            yield text, tuple(dict.fromkeys(_source_numbers(match.group())))
        at = match.end()
    if _WORD_CHAR.search(line[at:]):
        for sentence in _SENTENCE_END.split(line[at:].strip()):
            yield sentence, ()


def _source_numbers(text: str) -> Iterator[int]:
    for match in _SOURCE_NUMBERS.finditer(text):
        for number in re.findall(r"\d{1,6}", match[1]):
            yield int(number)
