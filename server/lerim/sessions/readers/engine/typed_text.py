"""Text that a person typed, in the same form for every agent, and texts without the blocks inserted into them."""

from __future__ import annotations

import re
from typing import NamedTuple

from lerim.sessions.model import TurnKind

MEMORIES_TAG = "lerim-memories"
"""Encloses our own memories when they are passed to an agent; they must never be extracted from again."""
ASKS_MARK = "<lerim-asks/>"
"""Starts every question that Lerim asks an agent's program, so that such sessions can be recognised and skipped."""


class TypedText(NamedTuple):
    """Text that a person typed, and how they typed it."""

    kind: TurnKind
    text: str


def cut_blocks(text: str, tags: tuple[str, ...] = (MEMORIES_TAG, "system-reminder")) -> str:
    """Removes the blocks of `tags` from `text`; an unclosed block of our own is cut to the end of the text."""
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
                if tag == MEMORIES_TAG:
                    kept.append(text[position:start])
                    position = len(text)
                break
            kept.append(text[position:start])
            position = end + len(closing)
            start = text.find(opening, position)
        kept.append(text[position:])
        text = "".join(kept)
    return text


def text_outside_blocks(text: str, tags: tuple[str, ...] = (MEMORIES_TAG, "system-reminder")) -> str:
    """Returns the part of a person's message outside the blocks of `tags`. A block extends to the last closing tag of
    its name, because its contents may include a forged earlier one."""
    if "<" not in text:
        return text
    kept: list[str] = []
    position = 0
    ends = {closing[1]: closing.end() for closing in re.finditer(rf"</({'|'.join(map(re.escape, tags))})>", text)}
    for opening in re.finditer(rf"<({'|'.join(map(re.escape, tags))})>", text):
        end = ends.get(opening[1], -1)
        if end < opening.end() and opening[1] == MEMORIES_TAG:
            end = len(text)
        if opening.start() >= position and end > opening.start():
            kept.append(text[position : opening.start()])
            position = end
    return "".join([*kept, text[position:]])


def tag_content(text: str, tag: str, *, last: bool = False) -> str:
    """Returns the text between a tag and its first closing tag (its last one with `last`), or '' without the tag."""
    start = text.find(f"<{tag}>")
    if start < 0:
        return ""
    start += len(tag) + 2
    end = text.rfind(f"</{tag}>", start) if last else text.find(f"</{tag}>", start)
    return text[start : end if end >= 0 else len(text)].strip()


_OLD_TEMPLATE = re.compile(
    r"\s{0,8}---\ndescription: [^\n]{1,2000}\n---\n\nThe user input (?:to you )?can be provided directly by the agent "
    r"or as a command argument[^\n]{0,400}\n\nUser input:\n\n(.{0,100000}?)\n\n",
    re.DOTALL,
)
"""Of its first versions, which Codex stores with the variable for what was typed as it stands."""
_TEMPLATE = re.compile(
    r"\s{0,8}## User Input\n\n```text\n(.{0,100000}?)\n?```\n\nYou \*\*MUST\*\* consider the user input before",
    re.DOTALL,
)


def cut_command_template(text: str) -> str:
    """Returns what a person typed after a command of Spec Kit, given the command's whole text, which some agents
    store as the prompt; `/speckit` if the person typed nothing after it. Returns any other text as it is."""
    template = _TEMPLATE.match(text) or _OLD_TEMPLATE.match(text)
    return (template[1].replace("$ARGUMENTS", "").strip() or "/speckit") if template else text
