"""Finds and removes `<private>` blocks, which a person writes around what nothing may be learned from."""

from __future__ import annotations

import re

from lerim.redaction.values import Span

_TAG = re.compile(r"<(/?)private>", re.IGNORECASE)
_OPENING_TAG = re.compile(r"<private>", re.IGNORECASE)


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
