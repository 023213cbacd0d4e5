"""Windows over a session's turns: what one call of a model is shown.

Windows begin and end with turns; only a turn that is larger than a window is cut, at line ends or else between tokens,
and each part carries its turn's header. Every block ends with a line's end and begins with a bracket, where o200k never
joins tokens, so a window has exactly as many tokens as its blocks together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lerim.extraction.transcript import ShownTurn
from lerim.models import tokens

HEADER = 32
"""Tokens kept free for the header of a part of a turn."""

BYTES = 4
"""About how many bytes one token has."""

CountTokens = Callable[[str], int]
"""How many tokens a text has; it may raise SettingsError."""


@dataclass(frozen=True, slots=True)
class WindowBlock:
    """One turn, or a part of one, as it is shown. `fresh`: for the first time."""

    turn: ShownTurn
    text: str
    size: int
    fresh: bool


@dataclass(frozen=True, slots=True)
class Window:
    """What one call is shown. `size` is in tokens, or in bytes where all turns are shorter in bytes than a window may
    be in tokens: never less than its tokens."""

    blocks: tuple[WindowBlock, ...]
    size: int
    counted: bool = True
    """Whether `size` is in tokens."""

    @property
    def about(self) -> int:
        """About how many tokens it has, exactly where they were counted."""
        return self.size if self.counted else self.size // BYTES + 1

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks)

    @property
    def turns(self) -> tuple[ShownTurn, ...]:
        """The turns in it, also those of which it has a part."""
        return tuple({block.turn.number: block.turn for block in self.blocks}.values())

    @property
    def first(self) -> int:
        """The number of the first turn that is shown for the first time."""
        return next(block.turn.number for block in self.blocks if block.fresh)

    @property
    def fresh(self) -> tuple[ShownTurn, ...]:
        """The turns that are shown for the first time."""
        return tuple({block.turn.number: block.turn for block in self.blocks if block.fresh}.values())


def cut_windows(
    turns: Sequence[ShownTurn],
    max_tokens: int = 300_000,
    overlap_tokens: int = 30_000,
    seen: int = -1,
    count: CountTokens = tokens.count_tokens,
) -> list[Window]:
    """The fewest windows of at most `max_tokens` (64 or more) in order that show every turn numbered above `seen`.

    Each begins with turns that were shown before: as many as have at most `overlap_tokens`, and fit. Tokens are counted
    only where the text has more bytes than a window may have tokens. SettingsError if they cannot be.
    """
    texts = [turn.header + turn.body() for turn in turns]
    sizes = [len(text.encode("utf-8", "surrogatepass")) for text in texts]
    both = zip(turns, texts, sizes, strict=True)
    if sum(sizes) > max_tokens:
        overlap_tokens = min(overlap_tokens, max_tokens // 2)
        whole = (WindowBlock(turn, text, count(text), turn.number > seen) for turn, text, _ in both)
        blocks = [part for block in whole for part in _cut(block, max_tokens, count)]
    else:
        blocks = [WindowBlock(turn, text, size, turn.number > seen) for turn, text, size in both]
        overlap_tokens = max_tokens  # all of it fits
    counted = sum(sizes) > max_tokens
    return list(_packed(blocks, max_tokens, overlap_tokens, counted=counted))


def take_overlap(
    turns: Sequence[ShownTurn], overlap_tokens: int, count: CountTokens = tokens.count_tokens
) -> tuple[ShownTurn, ...]:
    """The last turns that have at most `overlap_tokens` together: what the next pass begins with."""
    texts = [turn.header + turn.body() for turn in turns]
    if sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) <= overlap_tokens:
        return tuple(turns)
    left, start = overlap_tokens, len(turns)
    while start and (left := left - count(texts[start - 1])) >= 0:
        start -= 1
    return tuple(turns[start:])


def shrink_window(
    window: Window, max_tokens: int, overlap_tokens: int, count: CountTokens = tokens.count_tokens
) -> list[Window]:
    """What a window shows for the first time, in windows of at most `max_tokens` (64 or more)."""
    overlap = min(overlap_tokens, max_tokens // 2)
    blocks = [part for block in _counted(window, count) for part in _cut(block, max_tokens, count)]
    return list(_packed(blocks, max_tokens, overlap))


def halve_window(window: Window, count: CountTokens = tokens.count_tokens) -> tuple[Window, ...]:
    """What a window shows for the first time, in two windows of about the same size without anything from before: cut
    between turns, or where it is one turn within it. It stays whole where it has too little to be cut."""
    blocks = [block for block in _counted(window, count) if block.fresh]
    if len(blocks) == 1:
        blocks = list(_cut(blocks[0], max(64, blocks[0].size // 2 + HEADER + 1), count))
    total, size, end = sum(block.size for block in blocks), 0, 0
    while end < len(blocks) - 1 and (not end or 2 * size + blocks[end].size <= total):
        size += blocks[end].size
        end += 1
    parts = (tuple(blocks[:end]), tuple(blocks[end:]))
    return tuple(Window(part, sum(block.size for block in part)) for part in parts if part)


def _counted(window: Window, count: CountTokens) -> list[WindowBlock]:
    return [WindowBlock(block.turn, block.text, count(block.text), block.fresh) for block in window.blocks]


def _cut(block: WindowBlock, most: int, count: CountTokens) -> Iterator[WindowBlock]:
    """The block, or parts of it that have at most `most` tokens."""
    if block.size <= most:
        yield block
        return
    header, _, body = block.text.partition("\n")
    parts = tokens.split_by_tokens(body, most - HEADER)
    for number, part in enumerate(parts, 1):
        whole = f"{header.removesuffix(':')} (part {number} of {len(parts)}):\n{part.rstrip(chr(10))}\n"
        yield WindowBlock(block.turn, whole, count(whole), block.fresh)


def _packed(blocks: Sequence[WindowBlock], most: int, overlap: int, counted: bool = True) -> Iterator[Window]:
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
        shown = (WindowBlock(block.turn, block.text, block.size, False) for block in blocks[first:start])
        yield Window((*shown, *blocks[start:end]), size, counted)
        start = end
