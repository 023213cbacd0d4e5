"""The block between Lerim's two markers in a file that belongs to somebody else.

    <!-- lerim:begin v1 sha=1a2b3c4d5e6f -->
    …
    <!-- lerim:end -->

`sha` is over the lines between the markers, so that an edit by hand is noticed. Nothing outside of the block is
changed, except for the empty line before it, which is taken away with it: a text that ended with a line end gets one
more line end before the block, a text that did not gets two, and then the block has none after it. A new file begins
with the block; an empty file that was there gets an empty line before it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

BLOCK_HEAD = (
    "## Project memory",
    "",
    "Decided and learned in this repository and reviewed by its developers: facts with their day and places.",
    "",
)
"""The first lines of a block, which are followed by the memories."""
END_MARKER = "<!-- lerim:end -->"
HASH_LENGTH = 12
_BEGIN = re.compile(r"\ufeff?[ \t]*<!-- lerim:begin v(?P<version>\d+) sha=(?P<sha>[0-9a-f]*) -->[ \t]*")
_END = re.compile(r"\ufeff?[ \t]*<!-- lerim:end -->[ \t]*")
_ANY_BEGIN, _ANY_END = re.compile(r"<!--\s*lerim:begin\b"), re.compile(r"<!--\s*lerim:end\b")


@dataclass(frozen=True, slots=True)
class ManagedBlock:
    """A block in a text, from the first character of its begin marker to the last character of its end marker.
    `first_line` is the line number, counted from 1, of the first line between the markers."""

    start: int
    end: int
    sha: str
    lines: tuple[str, ...]
    first_line: int

    @property
    def is_intact(self) -> bool:
        """Whether the block is unchanged since Lerim wrote it."""
        return self.sha == hash_lines(self.lines)


@dataclass(frozen=True, slots=True)
class DamagedMarkers:
    """Markers that do not enclose exactly one block, in the line with this number."""

    line: int
    message: str


def hash_lines(lines: Sequence[str]) -> str:
    """Returns the hash of lines, which does not depend on their line ends."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_LENGTH]


def find_block(text: str) -> ManagedBlock | DamagedMarkers | None:
    """Returns the block in a text; None if there is no marker."""
    opened: tuple[int, int, str] | None = None
    found: ManagedBlock | None = None
    parts = text.split("\n")
    lines = [part.removesuffix("\r") for part in parts]
    start = 0
    for number, (line, part) in enumerate(zip(lines, parts, strict=True), 1):
        begin, end = _BEGIN.fullmatch(line), _END.fullmatch(line)
        if begin is not None:
            if opened is not None or found is not None:
                return DamagedMarkers(number, "it begins a second block")
            if begin["version"] != "1":
                return DamagedMarkers(number, "it was written by a newer version of Lerim")
            opened = (number, start + line.startswith("\ufeff"), begin["sha"])
        elif end is not None:
            if opened is None:
                return DamagedMarkers(number, "it ends a block that does not begin")
            first, at, sha = opened
            found = ManagedBlock(at, start + len(line), sha, tuple(lines[first : number - 1]), first + 1)
            opened = None
        elif _ANY_BEGIN.search(line) or _ANY_END.search(line):
            return DamagedMarkers(number, "it is not a whole line as Lerim writes it")
        start += len(part) + 1
    if opened is not None:
        return DamagedMarkers(opened[0], "it begins a block that does not end")
    return found


def set_block(text: str | None, lines: Sequence[str]) -> str:
    """Returns the text with these lines as its block; all other text is unchanged. `text` is None if there is no
    file. If the block already has these lines, it stays byte for byte the same. The markers of the text must not be
    damaged."""
    sha = hash_lines(lines)
    newline = find_newline(text or "")
    block = newline.join((f"<!-- lerim:begin v1 sha={sha} -->", *lines, END_MARKER))
    if text is None:
        return f"{block}{newline}"
    found = find_block(text)
    if isinstance(found, DamagedMarkers):
        raise ValueError(found.message)
    if found is not None:
        if found.sha == sha and found.is_intact:
            return text
        return f"{text[: found.start]}{block}{text[found.end :]}"
    if text and not text.endswith("\n"):
        return f"{text}{newline}{newline}{block}"
    return f"{text}{newline}{block}{newline}"


def remove_block(text: str) -> str | None:
    """Returns the text as it was before the block was added; None if Lerim created the file and it contains only the
    block. The markers of the text must not be damaged."""
    found = find_block(text)
    if isinstance(found, DamagedMarkers):
        raise ValueError(found.message)
    if found is None:
        return text
    before, after = text[: found.start], text[found.end :]
    if not before and after in ("", "\n", "\r\n"):
        return None
    newline = find_newline(text[found.start :])
    shorter = before.removesuffix(newline)
    if shorter == before or (shorter and not shorter.endswith("\n")):
        shorter = before  # somebody removed the empty line
    elif not after:
        shorter = shorter.removesuffix(newline)
    return shorter + after.removeprefix("\r\n" if after.startswith("\r\n") else "\n")


def find_newline(text: str) -> str:
    """Returns the line end of the first line of a text, or LF if it has none."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"
