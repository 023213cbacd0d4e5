"""Code lenses: counts of a file's memories on its first line, and per symbol if the settings say so."""

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
PLURALS = {"summary": "summaries"}
DRIFT_NAMES = {"drifted": ("drifted memory", "drifted memories"), "gone": ("memory not found", "memories not found")}
MAX_SYMBOLS = 50


def lens_title(kinds: Iterable[str]) -> str:
    """`Lerim: 2 decisions · 1 pitfall · 1 drifted memory`: the most important kinds first.

    Drifted memories and those not found come last."""
    counts = Counter(kinds)
    ranked = sorted(counts, key=lambda kind: (KIND_ORDER.index(kind) if kind in KIND_ORDER else len(KIND_ORDER), kind))
    return "Lerim: " + " · ".join(f"{counts[kind]} {_plural(kind, counts[kind])}" for kind in ranked)


class Lens(NamedTuple):
    """A lens above a line, for a symbol ("" for the whole file). `line` is None if the symbol was not found."""

    line: int | None
    title: str
    symbol: str = ""


def place_lenses(
    mode: CodeLensMode,
    file_kinds: Sequence[str],
    symbol_kinds: Mapping[str, Sequence[str]],
    find_line: Callable[[str], int | None],
) -> list[Lens]:
    """The lenses of a file. `file_kinds` are the kinds of all its memories, `symbol_kinds` those of each symbol.

    `find_line` returns the line that defines a symbol. The editor knows symbols better than our search of lines and may
    move a symbol's lens, or place one that was not found.
    """
    if mode == "off" or not file_kinds:
        return []
    lenses = [Lens(0, lens_title(file_kinds))]
    if mode == "symbols":
        for name, kinds in list(symbol_kinds.items())[:MAX_SYMBOLS]:
            lenses.append(Lens(find_line(name), lens_title(kinds), name))
    return lenses


def _plural(kind: str, count: int) -> str:
    one, many = DRIFT_NAMES.get(kind, (kind, PLURALS.get(kind, f"{kind}s")))
    return one if count == 1 else many
