"""Counts tokens with the o200k encoding, without a network: the package contains it (scripts/fetch_encoding.py).

tiktoken would download a missing or damaged file, so `load_encoding` raises an error for either before it calls
tiktoken.
"""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lerim.errors import SettingsError

if TYPE_CHECKING:
    import tiktoken

FOLDER = Path(__file__).with_name("o200k")
FILE_NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"


@functools.cache
def load_encoding(folder: Path = FOLDER) -> tiktoken.Encoding:
    """Loads the o200k encoding from `folder`. Raises SettingsError if its file is missing or damaged."""
    path = folder / FILE_NAME
    try:
        is_intact = hashlib.sha256(path.read_bytes()).hexdigest() == SHA256
    except OSError:
        is_intact = False
    if not is_intact:
        raise SettingsError(
            "The file of the o200k encoding is missing or damaged, so tokens cannot be counted.",
            where=str(path),
            todo="Install Lerim again; in a checkout, run `make package`.",
        )
    import tiktoken

    previous = os.environ.get(_CACHE_VARIABLE)
    os.environ[_CACHE_VARIABLE] = str(folder)
    try:
        return tiktoken.get_encoding("o200k_base")
    finally:
        if previous is None:
            del os.environ[_CACHE_VARIABLE]
        else:
            os.environ[_CACHE_VARIABLE] = previous


def count_tokens(text: str) -> int:
    """Returns the number of tokens in a text. Raises SettingsError if the encoding is missing."""
    return len(load_encoding().encode_ordinary(text))


def split_by_tokens(text: str, most: int) -> list[str]:
    """Splits the text into pieces of at most `most` (8 or more) tokens, at line ends if the lines fit. Joining the
    pieces gives the text again. Raises SettingsError if the encoding is missing."""
    pieces: list[str] = []
    current, size = "", 0
    for line in text.splitlines(keepends=True):
        tokens = count_tokens(line)
        if size + tokens <= most:
            current, size = current + line, size + tokens
            continue
        if current:
            pieces.append(current)
        *complete, current = [line] if tokens <= most else _split_line(line, tokens, most)
        pieces += complete
        size = count_tokens(current)
    return [piece for part in (*pieces, current) for piece in _halve_until_fitting(part, most)]


def _split_line(line: str, tokens: int, most: int) -> list[str]:
    """Splits a line into pieces of equal length. Most of them have slightly fewer than `most` tokens."""
    step = max(1, len(line) * most * 9 // (tokens * 10))
    return [line[at : at + step] for at in range(0, len(line), step)]


def _halve_until_fitting(piece: str, most: int) -> list[str]:
    if not piece:
        return []
    if len(piece) == 1 or count_tokens(piece) <= most:
        return [piece]
    middle = len(piece) // 2
    return [*_halve_until_fitting(piece[:middle], most), *_halve_until_fitting(piece[middle:], most)]
