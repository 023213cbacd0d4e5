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
NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_CACHE = "TIKTOKEN_CACHE_DIR"


@functools.cache
def load_encoding(folder: Path = FOLDER) -> tiktoken.Encoding:
    """Loads the o200k encoding from `folder`. Raises SettingsError if its file is missing or damaged."""
    path = folder / NAME
    try:
        whole = hashlib.sha256(path.read_bytes()).hexdigest() == SHA256
    except OSError:
        whole = False
    if not whole:
        raise SettingsError(
            "The file of the o200k encoding is missing or damaged, so tokens cannot be counted.",
            where=str(path),
            todo="Install Lerim again; in a checkout, run `make package`.",
        )
    import tiktoken

    before = os.environ.get(_CACHE)
    os.environ[_CACHE] = str(folder)
    try:
        return tiktoken.get_encoding("o200k_base")
    finally:
        if before is None:
            del os.environ[_CACHE]
        else:
            os.environ[_CACHE] = before


def count_tokens(text: str) -> int:
    """Returns the number of tokens in a text. Raises SettingsError if the encoding is missing."""
    return len(load_encoding().encode_ordinary(text))


def split_by_tokens(text: str, most: int) -> list[str]:
    """Splits the text into pieces of at most `most` (8 or more) tokens: at line ends if the lines fit, else between
    tokens, never within a character. Joined, the pieces are the text. Raises SettingsError if the encoding is
    missing."""
    out: list[str] = []
    held, size = "", 0
    for line in text.splitlines(keepends=True):
        tokens = count_tokens(line)
        if size + tokens <= most:
            held, size = held + line, size + tokens
            continue
        if held:
            out.append(held)
        *whole, held = [line] if tokens <= most else _between_tokens(line, most)
        out += whole
        size = count_tokens(held)
    return [piece for part in (*out, held) for piece in _checked(part, most)]


def _between_tokens(line: str, most: int) -> list[str]:
    """Splits one long line into pieces of at most `most` of its tokens."""
    out: list[str] = []
    tokens = load_encoding().encode_ordinary(line)
    data = line.encode("utf-8", "surrogatepass")
    ends, at = [0], 0
    for token in tokens:
        at += len(load_encoding().decode_single_token_bytes(token))
        ends.append(at)
    if at != len(data):  # tiktoken replaces lone surrogates, so cutting its bytes would change the text
        return _between_characters(line, most)
    start = 0
    while start < len(tokens):
        stop = min(start + most, len(tokens))
        while stop > start + 1 and stop < len(tokens) and data[ends[stop]] & 0xC0 == 0x80:
            stop -= 1
        out.append(data[ends[start] : ends[stop]].decode("utf-8", "surrogatepass"))
        start = stop
    return out


def _between_characters(line: str, most: int) -> list[str]:
    """Splits a line by characters. A token is at least one byte and a character at most four, so `most // 4` characters
    always fit."""
    step = max(1, most // 4)
    return [line[at : at + step] for at in range(0, len(line), step)]


def _checked(piece: str, most: int) -> list[str]:
    """Returns the piece, halved repeatedly in the rare case that it has more tokens on its own than within its line."""
    if not piece:
        return []
    if len(piece) == 1 or count_tokens(piece) <= most:
        return [piece]
    middle = len(piece) // 2
    return [*_checked(piece[:middle], most), *_checked(piece[middle:], most)]
