"""Finds the word or path under the cursor. Both have a maximum length, so that minified lines cost little."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

MAX_WORD = 200
MAX_PATH = 400
PATH_PUNCTUATION = frozenset("./\\_-+@~#$%")
TRAILING_PUNCTUATION = ".,"


def word_at(line: str, index: int) -> str:
    """The identifier that covers `index` or ends right before it; "" if there is none or it is too long."""
    start, end = _expand(line, index, lambda character: character.isalnum() or character in "_$", MAX_WORD)
    return line[start:end] if end - start <= MAX_WORD else ""


def path_at(line: str, index: int) -> str:
    """The path-like text that covers `index`, with forward slashes; "" if it has neither a slash nor a dot."""
    start, end = _expand(line, index, lambda character: character.isalnum() or character in PATH_PUNCTUATION, MAX_PATH)
    text = line[start:end].partition("#")[0].replace("\\", "/").rstrip(TRAILING_PUNCTUATION)
    if end - start > MAX_PATH or not ("/" in text or "." in text.strip(".")):
        return ""
    return text


def possible_paths(text: str, folder: str) -> tuple[str, ...]:
    """The paths in the repository that `text` may name in a file of `folder` ("" is the root); none leads outside."""
    joined = (posixpath.join(folder, text), text.lstrip("/"))
    normalized = (posixpath.normpath(path) for path in dict.fromkeys(joined))
    return tuple(
        path for path in dict.fromkeys(normalized) if not path.startswith(("../", "/")) and path not in (".", "..")
    )


def _expand(line: str, index: int, is_part: Callable[[str], bool], limit: int) -> tuple[int, int]:
    start = end = min(index, len(line))
    while start > 0 and index - start <= limit and is_part(line[start - 1]):
        start -= 1
    while end < len(line) and end - index <= limit and is_part(line[end]):
        end += 1
    return start, end
