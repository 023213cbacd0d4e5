"""Finds secrets that something interrupts: invisible characters, markup, an escape, a join of two literals."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from lerim.redaction.hidden import HIDDEN_CHARACTERS
from lerim.redaction.values import TOKEN_RUN, Span, find_tokens

_INVISIBLE = re.compile(rf"\x1b\[[0-9;]{{0,20}}[A-Za-z]|{HIDDEN_CHARACTERS.pattern}")
"""Terminal escapes and characters that are not displayed."""
_TAG = r"/?(?:b|i|em|strong|wbr|span|code|br ?/?)>"
_INTERRUPTION = re.compile(
    r"[\\%&<*\"'`](?<=[A-Za-z0-9_-].)(?:"
    r"(?P<underscore>(?<=\\)(?:_|\\?u005[fF])|(?<=%)5[fF]|(?<=&)#(?:95|x5[fF]);)|"
    rf"(?:(?<=<){_TAG}|(?<=\*)\*)(?:<{_TAG}|\*\*){{0,3}}|"
    r"(?<=[\"'`])\s{0,4}[+.&]?\s{0,20}[\"'`])(?=[A-Za-z0-9_-])"
)
"""Markup, escapes and joins of literals that can interrupt a token. The token itself has nothing or an underscore
there."""
_FULL_WIDTH = re.compile("[\uff10-\uff5a]")
_TO_ASCII = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


class UninterruptedText(NamedTuple):
    """A text without its interruptions, and how its positions map to the original."""

    text: str
    starts: list[int]
    """Where each part that was between two interruptions begins in `text`."""
    offsets: list[int]
    """What to add to a position in that part to get the position in the original."""

    def map_to_original(self, span: Span) -> Span:
        """Returns the span that this span of `text` has in the original."""
        first = bisect_right(self.starts, span.start) - 1
        last = bisect_right(self.starts, span.end - 1) - 1
        return Span(span.start + self.offsets[first], span.end + self.offsets[last], span.kind)

    def is_interrupted(self, span: Span) -> bool:
        """Returns whether the original has an interruption within this span of `text`."""
        return bisect_right(self.starts, span.start) != bisect_right(self.starts, span.end - 1)


def remove_invisible(text: str) -> UninterruptedText:
    """Returns the text without its invisible characters and terminal escapes."""
    return _remove_matches(text, list(_INVISIBLE.finditer(text)))


def find_interrupted_tokens(text: str) -> list[Span]:
    """Finds tokens that markup, an escape or a join of two literals interrupts, and tokens in full-width letters."""
    spans: list[Span] = []
    if not text.isascii() and _FULL_WIDTH.search(text):
        narrow = text.translate(_TO_ASCII)
        spans += find_tokens(narrow, TOKEN_RUN.findall(narrow))
    interruptions = list(_INTERRUPTION.finditer(text))
    if not interruptions:
        return spans
    joined = _remove_matches(text, interruptions)
    for span in find_tokens(joined.text, TOKEN_RUN.findall(joined.text)):
        if joined.is_interrupted(span):
            spans.append(joined.map_to_original(span))
    return spans


def _remove_matches(text: str, matches: list[re.Match[str]]) -> UninterruptedText:
    """Removes the matches; one of the group `underscore` is replaced with an underscore."""
    parts: list[str] = []
    starts, offsets = [0], [0]
    copied = size = 0
    for match in matches:
        replacement = "_" if match.lastgroup == "underscore" else ""
        parts += (text[copied : match.start()], replacement)
        size += match.start() - copied + len(replacement)
        copied = match.end()
        starts.append(size)
        offsets.append(copied - size)
    parts.append(text[copied:])
    return UninterruptedText("".join(parts), starts, offsets)
