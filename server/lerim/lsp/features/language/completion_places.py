"""Finds what a person is typing in the frontmatter, line by line: while they type, it is often no valid YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lerim.lsp.features.language.memory_texts import MemoryText

MAX_LINES_ABOVE = 300
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+|$)")
_PART_OF_KEY = re.compile(r"[\w-]*")
_LEAD = re.compile(r"[ \t]*(?:-(?:[ \t]+|$))?")
_VALUE_END = re.compile(r"""(?:[^\s,\[\]"'#]|(?<=\S)\#)*""")


@dataclass(frozen=True, slots=True)
class CompletionPlace:
    """What is being typed: the key it belongs to ("" if it is a key itself), the text before the cursor, and the
    characters of its line to replace. `quote` is the quotation mark it began with, `in_brackets` whether it is in a
    list in brackets, `has_colon` whether a key is already followed by one."""

    key: str
    typed: str
    line: int
    start: int
    end: int
    quote: str = ""
    in_brackets: bool = False
    has_colon: bool = False


def find_completion_place(text: MemoryText, line: int, character: int) -> CompletionPlace | None:
    """What is being typed at a place; None outside the frontmatter, and in a comment."""
    head = text.document.frontmatter
    written = text.line(line)
    if head is None or not head.start_line <= line <= head.end_line or written.startswith("---"):
        return None
    key_part = _PART_OF_KEY.match(written)
    if key_part is not None and character <= key_part.end():
        has_colon = written[key_part.end() :].lstrip().startswith(":")
        return CompletionPlace("", written[:character], line, 0, key_part.end(), has_colon=has_colon)
    if written.lstrip().startswith("#"):
        return None
    key, start = _find_key(text, line)
    if key == "" or character < start:
        return None
    return _value_place(written, key, line, start, character)


def _find_key(text: MemoryText, line: int) -> tuple[str, int]:
    """The key that a line's value belongs to, dotted in an entry of `evidence`, and where the value begins."""
    written = text.line(line)
    own = _KEY.match(written)
    if own is not None:
        return own[1], own.end()
    lead = _LEAD.match(written)
    start = lead.end() if lead is not None else 0
    for above in range(line - 1, max(-1, line - MAX_LINES_ABOVE), -1):
        outer = _KEY.match(text.line(above))
        if outer is not None:
            inner = _KEY.match(written, start)
            return (f"{outer[1]}.{inner[1]}", inner.end()) if inner is not None else (outer[1], start)
        if text.line(above).startswith("---"):
            break
    return "", 0


def _value_place(written: str, key: str, line: int, start: int, character: int) -> CompletionPlace:
    before = written[start:character]
    in_brackets = before.lstrip().startswith("[")
    if in_brackets:
        start += max(before.rfind("["), before.rfind(",")) + 1
        start += len(written[start:character]) - len(written[start:character].lstrip())
    quote = written[start : start + 1] if written[start : start + 1] in ("'", '"') and start < character else ""
    start += len(quote)
    end = _VALUE_END.match(written, character)
    return CompletionPlace(
        key,
        written[start:character],
        line,
        start,
        end.end() if end is not None else character,
        quote,
        in_brackets,
    )
