"""Untrusted text as markdown that shows it and does nothing: no links, no HTML, no fences, no invisible characters.

A hover may hold command links of our own; memory text, which anyone who can push to the repository writes, must
never be able to make one.
"""

from __future__ import annotations

import re
import unicodedata

PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
CODE = re.compile(r"(?<!`)(`[^`\s](?:[^`]{0,118}[^`\s])?`)(?!`)")
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
JOINERS = "\u200d\ufe0f\ufe0e"
SPACES = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+")


def show_hidden_characters(text: str) -> str:
    """The text with every hidden or direction-changing character spelled out, `⟦U+202E⟧`; emoji stay whole."""
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN.sub(lambda match: _spelled(text, match), text.replace("\r\n", "\n").replace("\r", "\n"))


def escape_line(text: str) -> str:
    """One line of untrusted text for markdown: every mark that could mean something is escaped.

    A plain `code span` stays one: nothing inside it means anything.
    """
    line = SPACES.sub(" ", " ".join(show_hidden_characters(text).split("\n"))).strip()
    parts = CODE.split(line)  # text, code, text, code, …, text
    return "".join(part if at % 2 else PUNCTUATION.sub(r"\\\1", part) for at, part in enumerate(parts))


def escape_block(text: str) -> str:
    """Untrusted text of several lines: line breaks stay, indentation (a code block in markdown) goes."""
    lines = [escape_line(line) for line in show_hidden_characters(text).split("\n")]
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line:
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n\n".join("  \n".join(paragraph) for paragraph in paragraphs if paragraph)


def shorten_text(text: str, limit: int) -> str:
    """The first `limit` characters, cut at a word where one ends near, with an ellipsis if something is left out."""
    stripped = text.strip()
    if len(stripped) <= limit:
        return stripped
    head = stripped[:limit]
    space = max(head.rfind(" "), head.rfind("\n"))
    return head[: space if space > limit // 2 else limit].rstrip() + " …"


def _spelled(text: str, match: re.Match[str]) -> str:
    character = match.group()
    before = text[match.start() - 1] if match.start() else ""
    if character in JOINERS and before and (unicodedata.category(before) in ("So", "Sk") or before in JOINERS):
        return character
    return f"⟦U+{ord(character):04X}⟧"
