"""A subset of regular expressions that takes bounded time on any line, for searches requested by a model.

It has literals, character classes, escapes such as `\\d` and `\\b`, `^`, `$`, the quantifiers `*` `+` `?` `{2,5}` after
one character, and `|` between alternatives. There are no groups, so repetitions cannot be nested. Each alternative has
at most MAX_REPEATS variable repetitions of at most MAX_REPEAT_COUNT characters each, and only the first MAX_LINE_CHARS
characters of a line are searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_PATTERN_CHARS = 200
MAX_LINE_CHARS = 400
MAX_REPEATS = 2
MAX_REPEAT_COUNT = 80

_ATOM = re.compile(
    r"\\[dDwWsSbB]|\\[^A-Za-z0-9]|\[\^?\]?(?:\\[dDwWsS]|\\[^A-Za-z0-9]|[^\\\]])*\]|[^\\\[\](){}*+?|]", re.DOTALL
)
_REPEAT = re.compile(r"[*+?]|\{(\d{1,3})(?:(,)(\d{0,3}))?\}")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compiles a pattern, ignoring case. Raises ValueError with a message for its author."""
    if not pattern.strip() or len(pattern) > MAX_PATTERN_CHARS:
        raise ValueError(f"a pattern has 1 to {MAX_PATTERN_CHARS} characters")
    try:
        return re.compile("".join(_bounded_parts(pattern)), re.IGNORECASE)
    except (re.error, OverflowError) as error:
        raise ValueError("this is not a valid pattern") from error


def matches(pattern: re.Pattern[str], line: str) -> bool:
    """Returns whether a line contains a match."""
    return pattern.search(line[:MAX_LINE_CHARS]) is not None


def _bounded_parts(pattern: str) -> Iterator[str]:
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
            raise ValueError("a repetition must follow one character or class")
        bounds = _bounds(repeat)
        repeats += bounds[0] != bounds[1]
        if repeats > MAX_REPEATS:
            raise ValueError(f"an alternative has at most {MAX_REPEATS} repetitions")
        yield f"{atom[0]}{{{bounds[0]},{bounds[1]}}}"


def _bounds(repeat: re.Match[str]) -> tuple[int, int]:
    if repeat[0] in ("*", "+", "?"):
        return (1 if repeat[0] == "+" else 0), (1 if repeat[0] == "?" else MAX_REPEAT_COUNT)
    least = min(int(repeat[1]), MAX_REPEAT_COUNT)
    most = least if repeat[2] is None else MAX_REPEAT_COUNT if not repeat[3] else min(int(repeat[3]), MAX_REPEAT_COUNT)
    if most < least:
        raise ValueError("this is not a valid pattern")
    return least, most
