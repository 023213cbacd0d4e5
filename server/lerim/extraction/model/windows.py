"""Windows over a session's turns; one model call reads one window.

Windows begin and end at turn boundaries. Only a turn larger than a window is cut, at line ends or else between tokens,
and each part repeats the turn's header. Every block ends with a newline and begins with a bracket, where o200k never
joins tokens, so a window has exactly as many tokens as all its blocks together. The number of tokens of each text is
kept in the catalog, so that each text is counted only once.

Simple signs decide whether a window is worth sending; in doubt it is sent. A sign is a word or a form, not a
sentence that was understood. Only text without any sign is left out: greetings, plain orders, looking around, and
work that went well and was reported without a reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lerim.extraction.facts import clip_text
from lerim.extraction.signals import git_verb
from lerim.extraction.transcript import ShownPiece, ShownTurn
from lerim.models import tokens
from lerim.patterns import compile_later
from lerim.sessions import Catalog, digest_text

RESERVED_HEADER_TOKENS = 32
"""Tokens reserved for the header of a part of a turn."""

BYTES_PER_TOKEN = 4
"""Approximate bytes per token."""

CountTokens = Callable[[str], int]
"""Returns the number of tokens in a text; may raise SettingsError."""
MAX_READ_CHARS = 20_000  # characters read of one piece: its head and its tail
LONG_COMMAND_CHARS = 200  # a command this long is read, as it may contain the text of a commit or an issue

_PERSON_SIGN = compile_later(
    r"\b(?:always|never|must|should|shall|do not|don['’]?t|does not|doesn['’]?t|did not|didn['’]?t|can ?not|can['’]?t"
    r"|won['’]?t|isn['’]?t|aren['’]?t|not|no|nope|wrong|stop|wait|actually|instead|rather|prefer\w*|only|because|since"
    r"|so that|otherwise|reason|why|decid\w+|decision|choose|chose|option|agree\w*|approve\w*|reject\w*|revert|undo"
    r"|again|still|remember|note|rule|convention|standard|policy|make sure|ensure|keep|avoid|need\w*|want\w*|better"
    r"|correct|use|uses|using|we|our|from now|going forward|by default|learn\w*|lesson|fail\w*|broken?|error|bug|issue"
    r"|problem|later|follow[- ]?up|undecided|unclear|unsure|wonder\w*|doubt|tbd|todo)\b|\?",
    re.IGNORECASE,
)
_AGENT_SIGN = compile_later(
    r"\b(?:because|root cause|cause[sd]?|culprit|reason|issue|problem|bug|mismatch|turns? out|turned out|"
    r"discovered|noticed|realized|learned|found that|actually|instead of|rather than|decid\w+|decision|chose|"
    r"trade-?offs?|work-?around|gotcha|caveat|pitfall|limitation|important(?:ly)?|warning|never|always|must|only|"
    r"fail\w*|broke\w*|does not|doesn['’]t|did not|didn['’]t|do not|don['’]t|cannot|can['’]t|wrong|missing|stale|"
    r"you(?:['’]re| are) (?:\w+ )?right|good (?:catch|point)|understood|agreed|should(?:n['’]t)?|needs?|requires?|"
    r"expects?|so that|otherwise|fix(?:ed|es)?|means|conflict\w*|key (?:insight|finding)|finding|fact|"
    r"recommend\w*|learning|lesson|convention|rule|policy|deprecat\w+|prevent\w*|requirements?|removed|replaced|"
    r"renamed|switched|moved|excluded|included|enabled|disabled|gated|silent\w*|verified|confirmed|proves?|"
    r"deferred|postponed|follow[- ]?up|todo|undecided)\b",
    re.IGNORECASE,
)
_CALL_OUTCOME = compile_later(r"\(([^()]{1,40})\)$")
_PLAIN_OUTCOMES = frozenset(("ok", "pending", "unknown"))
"""Tool call outcomes that say nothing by themselves."""


@dataclass(frozen=True, slots=True)
class WindowBlock:
    """One turn, or a part of one, as shown. `is_fresh` means that it is shown for the first time."""

    turn: ShownTurn
    text: str
    size: int
    is_fresh: bool


@dataclass(frozen=True, slots=True)
class Window:
    """The turns that one call is shown. `size` is in tokens, or in bytes if all turns together have fewer bytes than
    the maximum number of tokens of a window; it is never less than the number of tokens."""

    blocks: tuple[WindowBlock, ...]
    size: int
    counted: bool = True
    """Whether `size` is in tokens."""

    @property
    def approx_tokens(self) -> int:
        """Approximate number of tokens; exact if they were counted."""
        return self.size if self.counted else self.size // BYTES_PER_TOKEN + 1

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks)

    @property
    def turns(self) -> tuple[ShownTurn, ...]:
        """The turns in the window, including those of which it contains only a part."""
        return tuple({block.turn.number: block.turn for block in self.blocks}.values())

    @property
    def first_fresh(self) -> int:
        """The number of the first turn that is shown for the first time."""
        return next(block.turn.number for block in self.blocks if block.is_fresh)

    @property
    def fresh_turns(self) -> tuple[ShownTurn, ...]:
        """The turns that are shown for the first time."""
        return tuple({block.turn.number: block.turn for block in self.blocks if block.is_fresh}.values())


def cut_windows(
    turns: Sequence[ShownTurn],
    max_tokens: int = 300_000,
    overlap_tokens: int = 30_000,
    seen: int = -1,
    count: CountTokens = tokens.count_tokens,
) -> list[Window]:
    """Returns the fewest windows of at most `max_tokens` (64 or more) that show, in order, every turn numbered above
    `seen`.

    Each window begins with as many turns that were shown before as fit into it and into `overlap_tokens`. Tokens are
    counted only if the text has more bytes than the maximum number of tokens of a window. Raises SettingsError if
    they cannot be counted.
    """
    texts = [turn.header + turn.body() for turn in turns]
    sizes = [len(text.encode("utf-8", "surrogatepass")) for text in texts]
    both = zip(turns, texts, sizes, strict=True)
    if sum(sizes) > max_tokens:
        overlap_tokens = min(overlap_tokens, max_tokens // 2)
        whole = (WindowBlock(turn, text, count(text), turn.number > seen) for turn, text, _ in both)
        blocks = [part for block in whole for part in _cut_block(block, max_tokens, count)]
    else:
        blocks = [WindowBlock(turn, text, size, turn.number > seen) for turn, text, size in both]
        overlap_tokens = max_tokens  # everything fits
    counted = sum(sizes) > max_tokens
    return list(_pack_blocks(blocks, max_tokens, overlap_tokens, counted=counted))


def take_overlap(
    turns: Sequence[ShownTurn], overlap_tokens: int, count: CountTokens = tokens.count_tokens
) -> tuple[ShownTurn, ...]:
    """Returns the last turns that together have at most `overlap_tokens`; the next pass begins with them."""
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
    """Returns the fresh turns of a window in windows of at most `max_tokens` (64 or more)."""
    overlap = min(overlap_tokens, max_tokens // 2)
    blocks = [part for block in _count_blocks(window, count) for part in _cut_block(block, max_tokens, count)]
    return list(_pack_blocks(blocks, max_tokens, overlap))


def halve_window(window: Window, count: CountTokens = tokens.count_tokens) -> tuple[Window, ...]:
    """Returns the fresh turns of a window in two windows of about the same size without overlap, cut between turns, or
    inside the turn if there is only one. Returns a single window if there is too little to cut."""
    blocks = [block for block in _count_blocks(window, count) if block.is_fresh]
    if len(blocks) == 1:
        blocks = list(_cut_block(blocks[0], max(64, blocks[0].size // 2 + RESERVED_HEADER_TOKENS + 1), count))
    total, size, end = sum(block.size for block in blocks), 0, 0
    while end < len(blocks) - 1 and (not end or 2 * size + blocks[end].size <= total):
        size += blocks[end].size
        end += 1
    parts = (tuple(blocks[:end]), tuple(blocks[end:]))
    return tuple(Window(part, sum(block.size for block in part)) for part in parts if part)


def _count_blocks(window: Window, count: CountTokens) -> list[WindowBlock]:
    return [WindowBlock(block.turn, block.text, count(block.text), block.is_fresh) for block in window.blocks]


def _cut_block(block: WindowBlock, max_tokens: int, count: CountTokens) -> Iterator[WindowBlock]:
    if block.size <= max_tokens:
        yield block
        return
    header, _, body = block.text.partition("\n")
    parts = tokens.split_by_tokens(body, max_tokens - RESERVED_HEADER_TOKENS)
    for number, part in enumerate(parts, 1):
        whole = f"{header.removesuffix(':')} (part {number} of {len(parts)}):\n{part.rstrip(chr(10))}\n"
        yield WindowBlock(block.turn, whole, count(whole), block.is_fresh)


def _pack_blocks(
    blocks: Sequence[WindowBlock], max_tokens: int, overlap: int, counted: bool = True
) -> Iterator[Window]:
    start = next((at for at, block in enumerate(blocks) if block.is_fresh), len(blocks))
    while start < len(blocks):
        first, size, shared = start, blocks[start].size, 0
        while first and shared + blocks[first - 1].size <= overlap and size + blocks[first - 1].size <= max_tokens:
            first -= 1
            shared += blocks[first].size
            size += blocks[first].size
        end = start + 1
        while end < len(blocks) and size + blocks[end].size <= max_tokens:
            size += blocks[end].size
            end += 1
        shown = (WindowBlock(block.turn, block.text, block.size, False) for block in blocks[first:start])
        yield Window((*shown, *blocks[start:end]), size, counted)
        start = end


class TokenCounter:
    """A callable that returns the number of tokens in a text. May only be used in the catalog's thread."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._new_counts: dict[int, int] = {}

    def __call__(self, text: str) -> int:
        """Returns the number of tokens in a text. Raises SettingsError if tokens cannot be counted, CatalogError if
        the catalog fails."""
        text_digest = digest_text(text)
        token_count = self._new_counts.get(text_digest)
        if token_count is None:
            token_count = self._catalog.find_token_count(text_digest)
        if token_count is None:
            token_count = self._new_counts[text_digest] = tokens.count_tokens(text)
        return token_count

    def store(self) -> None:
        """Stores the counts made since the last call. Raises CatalogError."""
        if self._new_counts:
            self._catalog.keep_token_counts(self._new_counts)
            self._new_counts = {}


def is_worth_asking(turns: Iterable[ShownTurn]) -> bool:
    """Returns whether anything in these turns may be worth remembering."""
    return any(_has_signal(turn.role, piece) for turn in turns for piece in turn.pieces)


def _has_signal(role: str, piece: ShownPiece) -> bool:
    if piece.who == "user":
        return role != "user" or bool(_PERSON_SIGN.search(clip_text(piece.text, MAX_READ_CHARS)))
    if piece.who != "assistant":
        return False  # tool output alone teaches nothing
    call = _CALL_OUTCOME.search(piece.head)
    if piece.head.startswith("plan,") or (call is not None and call[1] not in _PLAIN_OUTCOMES):
        return True
    if call is not None and (git_verb(piece.text) or len(piece.text) < LONG_COMMAND_CHARS):
        return bool(git_verb(piece.text))
    return bool(_AGENT_SIGN.search(clip_text(piece.text, MAX_READ_CHARS)))
