"""Follows values that continue on the next lines or in a second string literal."""

from __future__ import annotations

import re

from lerim.redaction.values.appearance import is_scrambled
from lerim.redaction.values.rules import Span

_MOST_LINES = 60
"""The most lines one token may be split over."""
_NEXT_LINE = re.compile(
    r"[\"']?[ \t]{0,4}\\{0,2}\r?\n[ \t>|#*+]{0,20}[\"']?([A-Za-z0-9_+/=.-]{4,200})(?=[\s\"',;)`]|\Z)"
)
_NEXT_LITERAL = re.compile(r"[\"']\s{0,8}[+.&]?\s{0,20}[fbr]?[\"']([A-Za-z0-9_+/=.-]{8,200})(?=[\"'])")
"""The second literal of a value that is split into two literals."""


def extend_span(text: str, span: Span) -> Span:
    """Extends the span to the rest of its value, in a second literal or on the following lines."""
    if not 8 <= span.end - span.start <= 200 or span.kind == "url-password":
        return span
    end, is_first = span.end, True
    while end - span.start < 1000 and (rest := (_NEXT_LINE.match(text, end) or _NEXT_LITERAL.match(text, end))):
        if (
            not (is_first or text[rest.start()] in "\"'\\")
            or len(rest[1]) < 8
            or not is_scrambled(rest[1])
            or not is_scrambled(text[span.start : span.end])
        ):
            break
        end, is_first = rest.end(1), False
    return Span(span.start, end, span.kind) if end > span.end else span


def match_next_lines(text: str, at: int) -> list[re.Match[str]]:
    """Matches the next lines of a token that a screen wrapped into lines of equal length, with a shorter last line.
    Group 1 of each match is that line's part of the token."""
    lines: list[re.Match[str]] = []
    while len(lines) < _MOST_LINES and (line := _NEXT_LINE.match(text, at)) and has_letters_and_digits(line[1]):
        lines.append(line)
        at = line.end()
        if len(lines) > 1 and len(line[1]) < len(lines[-2][1]):
            break
    is_wrapped = len(lines) < 2 or len(lines[-1][1]) <= len(lines[0][1]) == len(lines[-2][1])
    return lines if is_wrapped else lines[:1]


def has_letters_and_digits(text: str) -> bool:
    """Returns whether a run of characters contains letters and digits, as the second half of a token does."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))
