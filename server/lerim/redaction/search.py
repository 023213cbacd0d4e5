"""Finds every secret and `<private>` block of a text. All rules are applied to the text, to its decoded base64, and
to the text without what may interrupt a secret: invisible characters, markup, an escape, a join of two literals, and
the numbers that a search puts before the lines of a file."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import NamedTuple

from lerim.patterns import compile_later
from lerim.redaction.hidden import HIDDEN_CHARACTERS
from lerim.redaction.places import (
    arguments_and_headers,
    cookies_and_files,
    idioms,
    keywords,
    lines_above,
    named_literals,
    positional,
    sentences,
)
from lerim.redaction.values import (
    TOKEN_RUN,
    NameFinder,
    Span,
    encoded,
    extend_span,
    find_places,
    find_tokens,
    is_next_variable,
    is_public,
    private_keys,
)

REDACTION_MARK = compile_later(r"\[redacted:[a-z-]{1,30}\]")
_name_finder = NameFinder(
    (
        *positional.SEARCHED_NAMES,
        *idioms.SEARCHED_NAMES,
        *arguments_and_headers.SEARCHED_NAMES,
        *named_literals.SEARCHED_NAMES,
        *lines_above.SEARCHED_NAMES,
        *sentences.SEARCHED_NAMES,
        *keywords.SEARCHED_NAMES,
        *cookies_and_files.SEARCHED_NAMES,
    )
)
_MOST_REPEATED_VALUES = 40
_TAG = compile_later(r"<(/?)private>", re.IGNORECASE)
_OPENING_TAG = compile_later(r"<private>", re.IGNORECASE)
_INVISIBLE = compile_later(rf"\x1b\[[0-9;]{{0,20}}[A-Za-z]|{HIDDEN_CHARACTERS.pattern}")
"""Terminal escapes and characters that are not displayed."""
_MARKUP_TAG = r"/?(?:b|i|em|strong|wbr|span|code|br ?/?)>"
_INTERRUPTION = compile_later(
    r"[\\%&<*\"'`](?<=[A-Za-z0-9_-].)(?:"
    r"(?P<underscore>(?<=\\)(?:_|\\?u005[fF])|(?<=%)5[fF]|(?<=&)#(?:95|x5[fF]);)|"
    rf"(?:(?<=<){_MARKUP_TAG}|(?<=\*)\*)(?:<{_MARKUP_TAG}|\*\*){{0,3}}|"
    r"(?<=[\"'`])\s{0,4}[+.&]?\s{0,20}[\"'`])(?=[A-Za-z0-9_-])"
)
"""Markup, escapes and joins of literals that can interrupt a token. The token itself has nothing or an underscore in
their place."""
_LINE_NUMBER = compile_later(
    r"^(?:(?:[\w./@+-]{0,200}\.[A-Za-z]\w{0,9}|[\w.@+-]{0,100}/[\w./@+-]{1,200}|[A-Z][a-z]{1,20}file)[:-]\d{1,6}[:-]"
    r"|[ \t]{0,8}\d{1,6}(?:→|\t|[:-](?!\d)))",
    re.MULTILINE,
)
"""What a search or an agent's reading puts before each line of a file: `src/app.py:12:`, `12-`, `12→`."""
_FULL_WIDTH = compile_later("[\uff10-\uff5a]")
_TO_ASCII = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def find_secrets(text: str) -> list[Span]:
    """Finds the secrets of a text, with and without its invisible characters. The spans are in order and do not
    overlap."""
    spans = _apply_rules(text)
    if spans:
        spans += _find_repetitions(text, spans)
    if HIDDEN_CHARACTERS.search(text):
        visible = remove_invisible(text)
        spans += map(visible.map_to_original, _apply_rules(visible.text))
    if numbers := list(_LINE_NUMBER.finditer(text)):  # lines of password files are recognised by how they begin
        lines = _remove_matches(text, numbers)
        spans += map(lines.map_to_original, _apply_rules(lines.text))
    spans += find_interrupted_tokens(text)
    if spans and "[redacted:" in text:
        marks = [match.span() for match in REDACTION_MARK.finditer(text)]
        # a private block is removed as a whole, whatever was removed from it before
        spans = [span for span in spans if span.kind == "private" or not _touches(span, marks)]
    return _merge(spans)


def _touches(span: Span, marks: list[tuple[int, int]]) -> bool:
    """Returns whether the span overlaps one of the marks, which are in order."""
    following = bisect_right(marks, span.start, key=itemgetter(1))  # the first that does not end before the span
    return following < len(marks) and marks[following][0] < span.end


def _find_repetitions(text: str, spans: list[Span]) -> list[Span]:
    """Finds other occurrences of the same secrets, in places that do not identify them."""
    values = {text[span.start : span.end]: span.kind for span in spans if 12 <= span.end - span.start <= 400}
    return [
        Span(at, at + len(value), kind)
        for value, kind in list(values.items())[:_MOST_REPEATED_VALUES]
        for at in find_places(text, value)
    ]


def _apply_rules(text: str, *, decode: bool = True) -> list[Span]:
    """Finds the secrets of a text as it is; `decode`: also those in base64."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters change length in lower case; positions must agree
        lowered = "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)
    runs = TOKEN_RUN.findall(text)
    spans = find_tokens(text, runs) + private_keys.find_private_keys(text)
    if "<private>" in lowered:
        spans += find_private_blocks(lowered)
    found_parts = _name_finder.find_parts(lowered)
    by_place = (
        positional.find_unnamed_values(text, lowered, found_parts)
        + cookies_and_files.find_spans(text, lowered, found_parts)
        + positional.find_named_values(text, lowered, found_parts)
    )
    by_names = (lines_above, sentences) if found_parts else ()  # these find nothing without a name
    for place in (keywords, named_literals, arguments_and_headers, *by_names, idioms):
        by_place += place.find_spans(text, lowered, found_parts)
    values = dict.fromkeys(by_place)  # several rules may find the same secret
    next_variables = {span.start for span in values if is_next_variable(text, span)}
    spans += [span for span in values if span.start not in next_variables and not is_public(text, span)]
    spans += [found for start in next_variables for found in _find_in_line(text, start)]
    if decode and max(map(len, runs), default=0) >= encoded.SHORTEST_RUN:
        spans += encoded.find_encoded_secrets(text, lambda decoded: _apply_rules(decoded, decode=False))
    return [extend_span(text, span) for span in spans]


def _find_in_line(text: str, start: int) -> list[Span]:
    """Finds the secrets of a variable whose whole line, from `start` on, was taken for the value of an empty
    variable before it."""
    end = text.find("\n", start)
    found = _apply_rules(text[start : end if end >= 0 else len(text)], decode=False)
    return [Span(start + span.start, start + span.end, span.kind) for span in found]


def _merge(spans: list[Span]) -> list[Span]:
    """Sorts the spans and joins those that overlap. A joined span keeps the kind of the first one."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda item: (item.start, -item.end)):
        if merged and span.start < merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end), merged[-1].kind)
        else:
            merged.append(span)
    return merged


def remove_private_blocks(text: str) -> str:
    """Removes `<private>` blocks: nothing is learned from them, not even that they existed."""
    if not _OPENING_TAG.search(text):
        return text
    parts, copied = [], 0
    for span in find_private_blocks(text):
        parts.append(text[copied : span.start])
        copied = span.end
    return "\n\n".join([*parts, text[copied:]])


def find_private_blocks(text: str) -> list[Span]:
    """Finds `<private>` blocks in upper or lower case, including nested ones; an unclosed block extends to the end."""
    blocks: list[Span] = []
    depth = start = 0
    for match in _TAG.finditer(text):
        if not match[1]:
            start = start if depth else match.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                blocks.append(Span(start, match.end(), "private"))
    return [*blocks, Span(start, len(text), "private")] if depth else blocks


class UninterruptedText(NamedTuple):
    """A text without its interruptions, and the mapping of its positions to the original."""

    text: str
    starts: list[int]
    """For each part of the original between two interruptions, the position in `text` at which it begins."""
    offsets: list[int]
    """For each of these parts, the number to add to a position in it to get the position in the original."""

    def map_to_original(self, span: Span) -> Span:
        """Returns the span in the original that corresponds to this span of `text`."""
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
    """Removes the matches; a match of the group `underscore` is replaced with an underscore."""
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
