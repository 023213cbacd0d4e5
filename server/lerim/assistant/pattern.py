"""What a model may look for in files: a small part of regular expressions that takes bounded time on any line.

Words, classes, escapes such as `\\d` and `\\b`, `^` `$`, `*` `+` `?` `{2,5}` behind one character, and `|` between
alternatives. There are no groups, so that nothing repeats what repeats; each alternative has at most REPEATS open
repetitions, each of at most MOST characters; and of a line only LINE characters are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LENGTH = 200
LINE = 400
REPEATS = 2
MOST = 80

_ATOM = re.compile(
    r"\\[dDwWsSbB]|\\[^A-Za-z0-9]|\[\^?\]?(?:\\[dDwWsS]|\\[^A-Za-z0-9]|[^\\\]])*\]|[^\\\[\](){}*+?|]", re.DOTALL
)
_REPEAT = re.compile(r"[*+?]|\{(\d{1,3})(?:(,)(\d{0,3}))?\}")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern, which ignores case. Raises ValueError, in words for whoever wrote it."""
    if not pattern.strip() or len(pattern) > LENGTH:
        raise ValueError(f"a pattern has 1 to {LENGTH} characters")
    try:
        return re.compile("".join(_parts(pattern)), re.IGNORECASE)
    except (re.error, OverflowError) as error:
        raise ValueError("this is no pattern") from error


def is_found(pattern: re.Pattern[str], line: str) -> bool:
    """Whether the pattern stands in a line."""
    return pattern.search(line[:LINE]) is not None


def _parts(pattern: str) -> Iterator[str]:
    at = repeats = 0
    while at < len(pattern):
        if pattern[at] == "|":
            yield "|"
            at, repeats = at + 1, 0
            continue
        atom = _ATOM.match(pattern, at)
        if atom is None:
            raise ValueError("groups, back references and the like are not taken; write | between plain alternatives")
        at = atom.end()
        repeat = _REPEAT.match(pattern, at)
        if repeat is None:
            yield atom[0]
            continue
        at = repeat.end()
        if pattern[at : at + 1] in ("?", "+", "*", "{"):
            raise ValueError("a repetition stands behind one character or class")
        bounds = _bounds(repeat)
        repeats += bounds[0] != bounds[1]
        if repeats > REPEATS:
            raise ValueError(f"an alternative has at most {REPEATS} repetitions")
        yield f"{atom[0]}{{{bounds[0]},{bounds[1]}}}"


def _bounds(repeat: re.Match[str]) -> tuple[int, int]:
    if repeat[0] in ("*", "+", "?"):
        return (1 if repeat[0] == "+" else 0), (1 if repeat[0] == "?" else MOST)
    least = min(int(repeat[1]), MOST)
    most = least if repeat[2] is None else MOST if not repeat[3] else min(int(repeat[3]), MOST)
    if most < least:
        raise ValueError("this is no pattern")
    return least, most
