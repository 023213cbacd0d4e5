"""Finds the fenced code blocks of Markdown, line by line."""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ \t]{0,12}(`{3,200}|~{3,200})([^\n]*)")


def next_fence(line: str, fence: str) -> str:
    """Returns the mark of the code fence that is open after this line, or "" if none is; `fence` is the one that was
    open before it.

    Backticks that are followed by more backticks on the same line are code within a sentence ("```npm test```
    fails") and open no fence; a mark followed by text closes none
    (https://spec.commonmark.org/0.31.2/#fenced-code-blocks). In lists, fences may be indented.
    """
    found = _FENCE.match(line)
    if found is None:
        return fence
    mark, rest = found[1], found[2]
    if not fence:
        return "" if mark[0] == "`" and "`" in rest else mark
    return "" if mark.startswith(fence) and not rest.strip() else fence


def remove_fenced_code(text: str) -> str:
    """Returns a text without its fenced code blocks; a block that is not closed extends to the end."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        was, fence = fence, next_fence(line, fence)
        if not was:
            kept.append("" if fence else line)
    return "\n".join(kept)
