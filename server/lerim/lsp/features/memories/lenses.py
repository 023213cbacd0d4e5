"""Code lenses: what is known about a file, counted, on its first line; by symbol only if the person asked for that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from lerim.lsp.window import CodeLensMode

KIND_ORDER = (
    "decision",
    "pitfall",
    "preference",
    "procedure",
    "friction",
    "insight",
    "learning",
    "question",
    "theme",
    "summary",
    "drifted",
    "gone",
)
PLURALS = {"summary": "summaries", "drifted": "drifted", "gone": "gone"}
MAX_SYMBOLS = 50


def lens_title(kinds: Iterable[str]) -> str:
    """`2 decisions · 1 pitfall · 1 drifted`, the weightier kinds first, and last what no longer stands."""
    counts = Counter(kinds)
    ranked = sorted(counts, key=lambda kind: (KIND_ORDER.index(kind) if kind in KIND_ORDER else len(KIND_ORDER), kind))
    return " · ".join(f"{counts[kind]} {_plural(kind, counts[kind])}" for kind in ranked)


class Lens(NamedTuple):
    """A count over a line; `symbol` is what it is about ("" the file). `line` None: where that is was not found."""

    line: int | None
    title: str
    symbol: str = ""


def place_lenses(
    mode: CodeLensMode,
    file_kinds: Sequence[str],
    symbol_kinds: Mapping[str, Sequence[str]],
    find_line: Callable[[str], int | None],
) -> list[Lens]:
    """The lenses of a file. `whole` are the kinds of every memory of it, `symbols` those of one symbol; `find` says
    on which line that is defined.

    The editor knows symbols better than our search of lines; it may move a symbol's lens, or place one not found.
    """
    if mode == "off" or not file_kinds:
        return []
    lenses = [Lens(0, lens_title(file_kinds))]
    if mode == "symbols":
        for name, kinds in list(symbol_kinds.items())[:MAX_SYMBOLS]:
            lenses.append(Lens(find_line(name), lens_title(kinds), name))
    return lenses


def _plural(kind: str, count: int) -> str:
    return kind if count == 1 else PLURALS.get(kind, f"{kind}s")
