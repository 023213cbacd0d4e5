"""Merges the old text of a memory into a new one: keeps every sentence that the new text does not repeat."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from lerim.memory.claims.boilerplate import strip_boilerplate
from lerim.memory.claims.claim_words import dice_overlap, word_stems
from lerim.memory.similarity import normalise_claim

MIN_REPLACED_OVERLAP = 0.5
"""The overlap of words (Dice's coefficient) from which a new sentence replaces one that Lerim wrote."""
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?=[^\Wa-z_]|[`“\"(\[])|(?<=[。！？])")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_GAPS = re.compile(r"\n(?:[ \t]*\n){2,}")

IsWrittenByLerim = Callable[[str], bool]
"""Returns whether Lerim, and not a person, wrote a sentence."""


def never_written_by_lerim(_: str) -> bool:
    """Returns False: a text of unknown origin counts as written by a person."""
    return False


def merge_bodies(old: str, title: str, body: str, by_lerim: IsWrittenByLerim = never_written_by_lerim) -> str:
    """Returns the new body, followed by what only the old one says. Code blocks and lines without words are kept whole
    unless the new body contains them.

    A sentence is dropped if the new title or body has it, ignoring case, punctuation and markdown. A sentence that is
    `by_lerim` is also dropped if its overlap with a new one reaches MIN_REPLACED_OVERLAP; a sentence that a
    person wrote stays.
    """
    new = body.replace("\r\n", "\n")
    lines = [line.strip() for line in new.split("\n")]
    new_sentences = [title, *split_sentences(new)]
    normalised = {_normalise_sentence(sentence) for sentence in new_sentences}
    new_stems = [stems for sentence in new_sentences if (stems := word_stems(sentence))]

    def is_repeated(sentence: str) -> bool:
        if _normalise_sentence(sentence) in normalised:
            return True
        stems = word_stems(sentence)
        return by_lerim(sentence.strip()) and any(
            dice_overlap(stems, other) >= MIN_REPLACED_OVERLAP for other in new_stems
        )

    kept_lines: list[str] = []
    block: list[str] = []
    for line in old.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if block or mark:
            closes = bool(block and mark and mark[1] == block[0].lstrip(" ")[:3])
            block.append(line)
            if closes:
                kept_lines += [] if "\n".join(block) in new else block
                block = []
        elif not line.strip() or line.strip() not in lines:
            unrepeated = _remove_repeats(line, is_repeated)
            if unrepeated or not line.strip():
                kept_lines.append(unrepeated)
    rest = _GAPS.sub("\n\n", "\n".join([*kept_lines, *block])).strip("\n")
    if not rest or rest in body:
        return body
    return f"{body}\n\n{rest}" if body.strip() else rest


def split_sentences(text: str) -> list[str]:
    """Returns the sentences of a text, without boilerplate and code blocks."""
    sentences: list[str] = []
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        elif not fence:
            sentences += _sentences_of_line(line)
    return sentences


def _sentences_of_line(line: str) -> Sequence[str]:
    return [part.strip() for part in _SENTENCE_END.split(strip_boilerplate(line)) if part.strip()]


def _remove_repeats(line: str, is_repeated: Callable[[str], bool]) -> str:
    """Returns a line without boilerplate and repeated sentences; unchanged if it has neither."""
    sentences = [sentence for sentence in _SENTENCE_END.split(strip_boilerplate(line)) if sentence.strip()]
    unrepeated = [sentence for sentence in sentences if not is_repeated(sentence)]
    return line if unrepeated == sentences and strip_boilerplate(line) == line else " ".join(unrepeated).rstrip()


def _normalise_sentence(sentence: str) -> str:
    return normalise_claim("", sentence.strip().rstrip(".!?。！？"))
