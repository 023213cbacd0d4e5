"""What a person typed, in the form every agent's is told in, and texts without what was put into them."""

from __future__ import annotations

from typing import NamedTuple

from lerim.sessions.model import TurnKind

OWN = "lerim-memories"
"""Our own memories as handed to an agent; they must never be learned from again."""


class Typed(NamedTuple):
    """What a person typed and how."""

    kind: TurnKind
    text: str


def cut(text: str, tags: tuple[str, ...] = (OWN, "system-reminder")) -> str:
    """`text` without the blocks of `tags`; a block of our own that never ends is cut to the end of the text."""
    if "<" not in text:
        return text
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        start = text.find(opening)
        if start < 0:
            continue
        kept: list[str] = []
        position = 0
        while start >= 0:
            end = text.find(closing, start)
            if end < 0:
                if tag == OWN:
                    kept.append(text[position:start])
                    position = len(text)
                break
            kept.append(text[position:start])
            position = end + len(closing)
            start = text.find(opening, position)
        kept.append(text[position:])
        text = "".join(kept)
    return text
