"""Splits a text into the word pieces of BERT's uncased vocabulary, whose numbers a sentence model takes.

`wordpieces.txt` is that vocabulary (Google, Apache License 2.0): the piece in line N, counted from 0, has the number N.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

UNKNOWN, START, END = 100, 101, 102
VOCABULARY = Path(__file__).with_name("wordpieces.txt")
_LONGEST_WORD = 100
_IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))


def load_vocabulary() -> dict[str, int]:
    """Returns the number of each word piece; pieces that continue a word begin with `##`."""
    return {piece: number for number, piece in enumerate(VOCABULARY.read_text(encoding="utf-8").split("\n")[:-1])}


def tokenize(text: str, vocabulary: Mapping[str, int], limit: int) -> list[int]:
    """Returns the numbers of a text's word pieces between `START` and `END`, at most `limit` in all."""
    numbers = [START]
    for word in _split_words(text):
        numbers += _split_pieces(word, vocabulary)
        if len(numbers) >= limit:
            break
    return [*numbers[: limit - 1], END]


def _split_words(text: str) -> Iterator[str]:
    """Yields the words of a text in lower case and without accents; each punctuation mark or ideograph is a word."""
    word = ""
    for character in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(character)
        if category == "Mn" or (category[0] == "C" and character not in "\t\n\r") or character == "\ufffd":
            continue
        is_space = character in "\t\n\r" or category[0] == "Z"
        if is_space or _stands_alone(character, category):
            if word:
                yield word
            word = ""
            if not is_space:
                yield character
        else:
            word += character
    if word:
        yield word


def _stands_alone(character: str, category: str) -> bool:
    is_symbol = character.isascii() and character.isprintable() and not character.isalnum()
    return is_symbol or category[0] == "P" or any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)


def _split_pieces(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    if len(word) > _LONGEST_WORD:
        return [UNKNOWN]
    numbers: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = vocabulary.get(prefix + word[start:end])
            if number is not None:
                break
        else:
            return [UNKNOWN]
        numbers.append(number)
        start = end
    return numbers
