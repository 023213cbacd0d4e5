"""Windows over a session's turns: what one call of a model is shown.

Windows begin and end with turns; only a turn that is larger than a window is cut, at line ends or else between tokens,
and each part carries its turn's header. Every block ends with a line's end and begins with a bracket, where o200k never
joins tokens, so a window has exactly as many tokens as its blocks together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lerim.extraction.transcript import Shown
from lerim.models import tokens

HEADER = 24
"""Tokens kept free for the header of a part of a turn."""


@dataclass(frozen=True, slots=True)
class Window:
    """What one call is shown. `turns` are those in `text`, from `first` on for the first time."""

    turns: tuple[Shown, ...]
    text: str
    first: int
    size: int
    """Tokens of `text`, or its bytes where all of it is shorter in bytes than a window may be in tokens."""


@dataclass(frozen=True, slots=True)
class _Block:
    turn: Shown
    text: str
    size: int
    fresh: bool


def windows(
    turns: Sequence[Shown], max_tokens: int = 300_000, overlap_tokens: int = 30_000, seen: int = -1
) -> list[Window]:
    """The fewest windows of at most `max_tokens` (64 or more) in order that show every turn numbered above `seen`.

    Each begins with turns that were shown before: as many as have at most `overlap_tokens`, and fit. The o200k encoding
    is asked for only where the text has more bytes than a window may have tokens. SettingsError if it is missing.
    """
    texts = [turn.header + turn.body() for turn in turns]
    sizes = [len(text.encode("utf-8", "surrogatepass")) for text in texts]
    if sum(sizes) > max_tokens:
        overlap_tokens = min(overlap_tokens, max_tokens // 2)
        blocks = [
            block for turn, text in zip(turns, texts, strict=True) for block in _blocks(turn, text, max_tokens, seen)
        ]
    else:
        both = zip(turns, texts, sizes, strict=True)
        blocks = [_Block(turn, text, size, turn.number > seen) for turn, text, size in both]
        overlap_tokens = max_tokens * 2  # all of it fits
    return list(_packed(blocks, max_tokens, overlap_tokens))


def tail(turns: Sequence[Shown], overlap_tokens: int) -> tuple[Shown, ...]:
    """The last turns that have at most `overlap_tokens` together: what the next pass begins with."""
    texts = [turn.header + turn.body() for turn in turns]
    if sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) <= overlap_tokens:
        return tuple(turns)
    left, start = overlap_tokens, len(turns)
    while start and (left := left - tokens.count(texts[start - 1])) >= 0:
        start -= 1
    return tuple(turns[start:])


def _blocks(turn: Shown, text: str, most: int, seen: int) -> Iterator[_Block]:
    fresh = turn.number > seen
    size = tokens.count(text)
    if size <= most:
        yield _Block(turn, text, size, fresh)
        return
    parts = tokens.pieces(turn.body(), most - HEADER)
    for number, part in enumerate(parts, 1):
        whole = f"[{turn.number}] {turn.role} (part {number} of {len(parts)}):\n{part.rstrip(chr(10))}\n"
        yield _Block(turn, whole, tokens.count(whole), fresh)


def _packed(blocks: Sequence[_Block], most: int, overlap: int) -> Iterator[Window]:
    start = next((at for at, block in enumerate(blocks) if block.fresh), len(blocks))
    while start < len(blocks):
        first, size, shared = start, blocks[start].size, 0
        while first and shared + blocks[first - 1].size <= overlap and size + blocks[first - 1].size <= most:
            first -= 1
            shared += blocks[first].size
            size += blocks[first].size
        end = start + 1
        while end < len(blocks) and size + blocks[end].size <= most:
            size += blocks[end].size
            end += 1
        held = blocks[first:end]
        turns = tuple({block.turn.number: block.turn for block in held}.values())
        yield Window(turns, "".join(block.text for block in held), blocks[start].turn.number, size)
        start = end
