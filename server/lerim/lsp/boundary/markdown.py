"""Escapes untrusted text for markdown: no links, HTML, code fences or invisible characters.

Hovers contain command links of our own. Memory text can be written by anyone who can push to the repository and must
never be able to create such a link.
"""

from __future__ import annotations

import re
import unicodedata

from lerim.redaction import HIDDEN_CHARACTERS

MARKDOWN_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
CODE_SPAN = re.compile(r"(?<!`)(`[^`\s](?:[^`]{0,118}[^`\s])?`)(?!`)")
EMOJI_JOINERS = "\u200d\ufe0f\ufe0e"
SPACES = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+")


def show_hidden_characters(text: str) -> str:
    """Spells out every invisible or direction-changing character, such as `⟦U+202E⟧`. Emoji sequences stay whole."""
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN_CHARACTERS.sub(lambda match: _spell_out(text, match), text.replace("\r\n", "\n").replace("\r", "\n"))


def escape_line(text: str) -> str:
    """Escapes untrusted text as one line of markdown.

    A simple `code span` is kept, since markdown inside it has no effect.
    """
    line = SPACES.sub(" ", " ".join(show_hidden_characters(text).split("\n"))).strip()
    parts = CODE_SPAN.split(line)  # text, code, text, code, …, text
    return "".join(part if number % 2 else MARKDOWN_PUNCTUATION.sub(r"\\\1", part) for number, part in enumerate(parts))


def escape_block(text: str) -> str:
    """Escapes untrusted text of several lines. Line breaks are kept; indentation, a code block in markdown, is not."""
    lines = [escape_line(line) for line in show_hidden_characters(text).split("\n")]
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line:
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n\n".join("  \n".join(paragraph) for paragraph in paragraphs if paragraph)


def shorten_text(text: str, limit: int) -> str:
    """Cuts text to `limit` characters, at a word boundary if one is near, and adds an ellipsis if anything was cut."""
    stripped = text.strip()
    if len(stripped) <= limit:
        return stripped
    head = stripped[:limit]
    space = max(head.rfind(" "), head.rfind("\n"))
    return head[: space if space > limit // 2 else limit].rstrip() + " …"


def _spell_out(text: str, match: re.Match[str]) -> str:
    character = match.group()
    before = text[match.start() - 1] if match.start() else ""
    if (
        character in EMOJI_JOINERS
        and before
        and (unicodedata.category(before) in ("So", "Sk") or before in EMOJI_JOINERS)
    ):
        return character
    return f"⟦U+{ord(character):04X}⟧"
