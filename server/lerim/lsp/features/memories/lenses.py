"""Code lenses: counts of a file's memories on its first line, and per symbol if the settings say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

LABEL_ORDER = (
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
DRIFT_NAMES = {
    "drifted": ("drifted memory", "drifted memories"),
    "gone": ("memory whose code was not found", "memories whose code was not found"),
}
MAX_SYMBOLS = 50


def lens_title(labels: Iterable[str]) -> str:
    """`Lerim: 2 decisions · 1 pitfall · 1 drifted memory`: the most important kinds first.

    The label of a memory is its kind, or how its code has changed (`drifted`, `gone`); these come last."""
    counts = Counter(labels)
    ranked = sorted(counts, key=lambda one: (LABEL_ORDER.index(one) if one in LABEL_ORDER else len(LABEL_ORDER), one))
    return "Lerim: " + " · ".join(f"{counts[label]} {_name_label(label, counts[label])}" for label in ranked)


class Lens(NamedTuple):
    """A lens above a line, for a symbol ("" for the whole file). `line` is None if the symbol was not found."""

    line: int | None
    title: str
    symbol: str = ""


def place_lenses(
    file_labels: Sequence[str], symbol_labels: Mapping[str, Sequence[str]], find_line: Callable[[str], int | None]
) -> list[Lens]:
    """The lenses of a file. `file_labels` are the labels of all its memories, `symbol_labels` those of each symbol.

    `find_line` returns the line that defines a symbol. The editor knows symbols better than our search of lines and may
    move a symbol's lens, or place one that was not found.
    """
    if not file_labels:
        return []
    symbols = list(symbol_labels.items())[:MAX_SYMBOLS]
    return [
        Lens(0, lens_title(file_labels)),
        *(Lens(find_line(name), lens_title(labels), name) for name, labels in symbols),
    ]


def _name_label(label: str, count: int) -> str:
    one, many = DRIFT_NAMES.get(label, (label, PLURALS.get(label, f"{label}s")))
    return one if count == 1 else many
