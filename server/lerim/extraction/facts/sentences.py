"""Finds the sentences of a message with their positions. Markdown marks are stripped; code and tables are skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from lerim.code_fences import next_fence
from lerim.patterns import compile_later

LineKind = Literal["paragraph", "bullet", "number", "heading", "quote"]

MIN_SENTENCE_CHARS = 12
"""Minimum length of a sentence. Shorter sentences say nothing worth keeping by themselves."""
MIN_WORDS = 3
MAX_SENTENCE_CHARS = 600
"""Maximum length of a sentence. Longer sentences are split at semicolons and dashes outside code."""
MAX_ASIDE_CHARS = 200
"""Characters around a place that are searched for parentheses or backticks. If the place is inside them, no sentence
ends there."""
MAX_READ_CHARS = 40_000
"""Maximum number of characters read of one message; of a longer one its head and its tail are read."""

_MARK = compile_later(
    r"[ \t]*(?:(?P<heading>#{1,6})[ \t]+|(?P<bullet>[-*+•☐])[ \t]+(?:\[[ xX]\][ \t]+)?"
    r"|(?P<number>[A-Za-z]?\d{1,3}[a-z]?[.)]|[A-Za-z]\))[ \t]+|(?P<quote>>)[ \t]?)"
)
_ENDS = compile_later(r"(?:[.!?][\"')*`’”\]]{0,3}(?=\s+[\"'“‘(*`\[A-Z0-9a-zÀ-\U0010ffff])|[。！？][”」』）)]{0,3})")
_LEADS_ON = r"e\.g|i\.e|vs|cf|approx|incl|resp|nr|fig|z\.B|bzw|ca"
ABBREVIATED = compile_later(rf"\b(?:{_LEADS_ON}|etc|no|v\d*)\.$", re.IGNORECASE)
_LEADS_TO_NEXT_LINE = compile_later(rf"\b(?:{_LEADS_ON})\.$", re.IGNORECASE)
"""Matches an abbreviation that no sentence ends with."""
_PARTS = compile_later(r";\s+|\s[—–]\s|\s-\s")
_CODE = compile_later(
    r"\$ |import |from \S+ import|const |let |var |func |def |class |return |if \(|at |//|/\*|@@|\+\+\+|---"
    r"|diff |[{}]|\w+\(\)?;?$"
)
_COMMENT = compile_later(r"//|/\*|#include|<!--|[\w.$]{1,60}\((?:[^()]|\([^()]*\)){0,200}\)?[;,{]?$")
"""Matches a code comment, or a line that is only a call. Both are code, however much prose they contain."""
_PROSE = compile_later(r"[^\W\d_]{2,} [^\W\d_]{2,} [^\W\d_]{2,}")
_WIDE = compile_later(r"[぀-ヿ㐀-鿿가-힯]")
_NO_LETTERS = compile_later(r"(?:[^\w ]|[\d_])+")
_EDGE = " \t\n*_"


class SentenceSpan(NamedTuple):
    """The position of a sentence in its message (`text[start:end]`, verbatim), the kind of line it is in, and the
    heading above it ('' if none)."""

    start: int
    end: int
    kind: LineKind
    heading: str


def find_sentences(text: str) -> tuple[SentenceSpan, ...]:
    """Returns the sentences of a message that are long enough to be kept by themselves, in order."""
    return tuple(one for one in split_sentences(text) if _is_long_enough(text[one.start : one.end]))


@lru_cache(maxsize=512)  # the replies of an exchange are searched for corrections and for passages to rank
def split_sentences(text: str) -> tuple[SentenceSpan, ...]:
    """Returns all sentences of a message in order, including short ones. Skips code blocks, tables, code-like lines
    and the middle of a very long message."""
    heading = ""
    out: list[SentenceSpan] = []
    for start, end, kind in _split_blocks(text):
        if kind == "heading":
            heading = text[start:end].strip(" #*_")
        above = "" if kind == "heading" else heading
        out += [SentenceSpan(*one, kind, above) for one in _split_block(text, start, end)]
    return tuple(out)


def _split_blocks(text: str) -> Iterator[tuple[int, int, LineKind]]:
    """Yields the start, the end and the kind of each group of lines that belong together: a paragraph, or one list
    item with its continuation lines."""
    fence = ""
    run: tuple[int, int, LineKind] | None = None
    for start, end in _split_lines(text):
        line = text[start:end]
        was, fence = fence, next_fence(line, fence)
        if was or fence:
            if run:
                yield run
            run = None
            continue
        mark = _MARK.match(line)
        body = start + (mark.end() if mark else len(line) - len(line.lstrip()))
        if not line.strip() or line.lstrip().startswith("|") or body >= end or _is_code(text[body:end]):
            if run:
                yield run
            run = None
            continue
        if run and not mark and _continues_line(text[run[0] : run[1]]):
            run = (run[0], end, run[2])
            continue
        if run:
            yield run
        run = (body, end, _kind_of(mark))
        if mark and mark["heading"]:
            yield run
            run = None
    if run:
        yield run


def _split_lines(text: str) -> Iterator[tuple[int, int]]:
    half = MAX_READ_CHARS // 2
    at = 0
    while at < len(text):
        if half < at < len(text) - half:
            at = len(text) - half
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield at, end
        at = end + 1


def _kind_of(mark: re.Match[str] | None) -> LineKind:
    name = mark.lastgroup if mark else None
    return name if name in ("heading", "bullet", "number", "quote") else "paragraph"  # type: ignore[return-value]


def _continues_line(before: str) -> bool:
    last = before.rsplit("\n", 1)[-1]
    end = last[-20:].rstrip(" *_`\"')")
    return len(last) > 50 and (
        not end.endswith((".", "!", "?", ":", ";", "。")) or bool(_LEADS_TO_NEXT_LINE.search(end))
    )


def _is_code(line: str) -> bool:
    if _COMMENT.match(line) or (_CODE.match(line) and not _PROSE.search(line)):
        return True
    return line.count("`") < 2 and len(_NO_LETTERS.sub("", line)) < 0.62 * len(line)


def _split_block(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for found in _ENDS.finditer(text, start, end):
        if ABBREVIATED.search(text[max(start, found.start() - 8) : found.start() + 1]):
            continue
        if _is_in_aside(text, max(at, found.end() - MAX_ASIDE_CHARS), found, end):
            continue
        yield from _split_to_fit(text, at, found.end())
        at = found.end()
    yield from _split_to_fit(text, at, end)


def _is_in_aside(text: str, start: int, found: re.Match[str], end: int) -> bool:
    """Returns whether a sentence continues after what looks like its end: inside a parenthesis that was opened after
    `start` and is closed soon, or in lower case after a closing parenthesis."""
    at = found.end()
    if text.count("(", start, at) > text.count(")", start, at):
        closing = text.find(")", at, min(end, at + MAX_ASIDE_CHARS))
        return closing >= 0 and text.find("(", at, closing) < 0
    return ")" in found.group() and text[at : min(end, at + 9)].lstrip()[:1].islower()


def _split_to_fit(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if end - start > MAX_SENTENCE_CHARS:
        at = start
        for part in _PARTS.finditer(text, start, end):
            if part.start() - at >= MAX_SENTENCE_CHARS // 4 and not _is_in_code(text, at, part, end):
                yield from _trim_spans(text, at, part.start())
                at = part.end()
        yield from _trim_spans(text, at, end)
    else:
        yield from _trim_spans(text, start, end)


def _is_in_code(text: str, start: int, found: re.Match[str], end: int) -> bool:
    """Returns whether a place is inside code that begins after `start` and ends soon."""
    is_closed = text.find("`", found.end(), min(end, found.end() + MAX_ASIDE_CHARS)) >= 0
    return is_closed and text.count("`", start, found.start()) % 2 == 1


def _trim_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    while start < end and text[start] in _EDGE and text.count("**", start, end) % 2:
        start += 1
    while start < end and text[end - 1] in _EDGE and text.count("**", start, end) % 2:
        end -= 1
    if start < end:
        yield start, end


def _is_long_enough(sentence: str) -> bool:
    has_words = len(sentence.split()) >= MIN_WORDS or len(_WIDE.findall(sentence)) >= 6
    return has_words and bool(len(sentence) >= MIN_SENTENCE_CHARS or _WIDE.search(sentence))
