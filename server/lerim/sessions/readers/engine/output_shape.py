"""Finds the output of tools in a person's message by its shape: columns, margins, and lines with more numbers, paths
and signs than words. No tool is named here; lines that are recognised by the form of one tool are in
`pasted_text.py`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

_LIST_MARK = re.compile(r"\s{0,40}(?:[-*•+]|#{1,6}|\d{1,3}[.)]|\[[ xX]\])\s{1,4}(?=\S)")
_WORD = re.compile(
    r"[(\"'“‘`*_]{0,3}[^\W\d_]{1,40}(?:['’/-][^\W\d_]{1,40}){0,4}[)\"'”’`*_]{0,3}[.,;:!?…]{0,3}[)\"'”]?\Z"
)
_CAPITALS = re.compile(r"[A-Z][A-Z%/()+-]{1,20}:?\Z")
_GAP = re.compile(r"[^\s.,;:!?](?: {2,200}|\t)(?=\S)")
"""A gap between two columns. After a sentence, two spaces are none."""
_MARGIN = re.compile(r"\s{0,12}(?:[>*] ?)?(?:\d{1,6}\s?)?[|│](?:\s|$)|\s{0,12}-->\s\S|>\s{2,40}\S|\+-{2,200}\+")
"""The margin of a source line that a compiler or a test shows, and the border of a table."""
_UNDERLINES = re.compile(r"\s{0,12}[-=]{2,300}(?:[ +|]{1,9}[-=]{2,300}){1,100}[+|]?\s{0,4}\Z")
"""The line below the heads of columns."""
_MARKDOWN_TABLE = re.compile(r"\s{0,8}\|.{0,2000}\|\s{0,8}\Z")
_INDENTED = re.compile(r"(?: {4}|\t)\s{0,80}\S")
_LEAST_OUTPUT_SHARE = 0.5
_MOST_SHARE_IN_SENTENCE = 0.35
_LEAST_TOKENS = 3
_LEAST_WORDS = 4
_LEAST_LINES = 2
_MOST_SENTENCES = 2
"""How many sentences in a row may stand among lines of output."""
_MOST_BLANK_LINES = 2

LineShape = Literal["output", "sentence", "words", "other", "blank"]
"""What a line looks like. `words` are too few for a sentence; `other` has signs or numbers too few for output."""


def find_output_lines(lines: Sequence[str], known: Collection[int] = ()) -> set[int]:
    """Returns the indexes of the lines of tools' output: runs of at least two lines in its shape or `known` as output,
    with what stands among them or beside them and is neither words nor a sentence. Blank lines do not end a run, and
    neither do sentences between its lines, unless a blank line is beside them."""
    shapes: list[LineShape] = ["output" if at in known else classify_line(line) for at, line in enumerate(lines)]
    for at in range(1, len(lines)):
        if shapes[at] != "blank" and shapes[at - 1] == "output" and _INDENTED.match(lines[at]):
            shapes[at] = "output"
    found = set(known)
    at = 0
    while at < len(lines):
        start, end = at, _find_run_end(shapes, at) if shapes[at] == "output" else at + 1
        at = end
        if shapes[start:end].count("output") >= _LEAST_LINES:
            found.update(range(start, end))
            found |= _find_lines_beside(shapes, range(start - 1, -1, -1))
            found |= _find_lines_beside(shapes, range(end, len(lines)))
    return found


def _find_lines_beside(shapes: Sequence[LineShape], order: Iterable[int]) -> set[int]:
    """Returns the lines that belong to a run, of those beside it in this `order`: lines that are neither words nor a
    sentence, up to the second blank line."""
    found: set[int] = set()
    blanks = 0
    for at in order:
        blanks += shapes[at] == "blank"
        if shapes[at] not in ("other", "blank") or blanks > 1:
            break
        if shapes[at] == "other":
            found.add(at)
    return found


def _find_run_end(shapes: Sequence[LineShape], start: int) -> int:
    """Returns the index after the last line of the run of output that begins at `start`."""
    end = start + 1
    sentences = blanks = 0
    for at in range(start + 1, len(shapes)):
        sentences += shapes[at] in ("sentence", "words")
        blanks += shapes[at] == "blank"
        if sentences > _MOST_SENTENCES or blanks > _MOST_BLANK_LINES or (sentences and blanks):
            break
        if shapes[at] == "output":
            end, sentences, blanks = at + 1, 0, 0
    return end


def classify_line(line: str) -> LineShape:
    """Returns the shape of a line of a message."""
    if not line.strip():
        return "blank"
    if _MARKDOWN_TABLE.match(line):
        return "other"
    if _MARGIN.match(line) or _UNDERLINES.match(line) or len(_GAP.findall(line.strip())) >= 2:
        return "output"
    mark = _LIST_MARK.match(line)
    tokens = line[mark.end() if mark else 0 :].split()
    capitals = sum(bool(_CAPITALS.match(token)) for token in tokens)
    words = sum(not token.isascii() or bool(_WORD.match(token)) for token in tokens) - capitals
    share = (len(tokens) - words - capitals) / max(1, len(tokens))
    if line.rstrip().endswith("?"):
        return "sentence"  # a tool asks nothing
    if len(tokens) >= _LEAST_TOKENS and share >= _LEAST_OUTPUT_SHARE:
        return "output"
    if words >= _LEAST_WORDS and share < _MOST_SHARE_IN_SENTENCE:
        return "sentence"
    return "words" if words == len(tokens) else "other"
