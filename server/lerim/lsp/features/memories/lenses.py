"""Code lenses: counts of a file's memories on its first line, and per symbol if the settings say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from lerim.files import encode_writable_json
from lerim.lsp.protocol import SHOW_FILE_MEMORIES

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
"""How many symbols of a file have a lens of their own at most."""


@lru_cache(maxsize=256)  # most symbols of a file have one memory, of one of a few kinds
def lens_title(labels: tuple[str, ...]) -> str:
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


class LensPosition(msgspec.Struct, frozen=True):
    """A `Position` of LSP at the start of a line."""

    line: int
    character: int = 0


class LensRange(msgspec.Struct, frozen=True):
    """A `Range` of LSP."""

    start: LensPosition
    end: LensPosition


class LensCommand(msgspec.Struct, frozen=True):
    """A `Command` of LSP."""

    title: str
    arguments: tuple[str, ...]
    tooltip: str
    command: str = SHOW_FILE_MEMORIES


class CodeLens(msgspec.Struct, frozen=True):
    """A `CodeLens` of LSP. pygls would take ten times as long to convert and encode those of a file."""

    range: LensRange
    command: LensCommand


def encode_lenses(uri: str, lenses: Sequence[Lens]) -> bytes:
    """Encodes lenses as the result of `textDocument/codeLens`. One whose symbol was not found stands on the first line;
    our extension moves that of a symbol to its line in the editor (docs/PROTOCOL.md)."""
    return encode_writable_json([_make_code_lens(uri, lens) for lens in lenses])


def _make_code_lens(uri: str, lens: Lens) -> CodeLens:
    start = LensPosition(lens.line or 0)
    arguments = (uri, lens.symbol) if lens.symbol else (uri,)
    tooltip = f"List these memories. To see one, hover over {lens.symbol or 'line 1'}."
    return CodeLens(LensRange(start, start), LensCommand(lens.title, arguments, tooltip))


def place_lenses(
    file_labels: Sequence[str],
    symbols: Sequence[str],
    find_labels: Callable[[str], Sequence[str]],
    find_line: Callable[[str], int | None],
) -> list[Lens]:
    """Returns the lenses of a file. `file_labels` are the labels of all its memories, `find_labels` returns those of a
    symbol.

    `find_line` returns the line that defines a symbol; on the first line, the file's lens counts its memories, too.
    The editor knows symbols better than our search of lines and may move a symbol's lens, or place one that was not
    found.
    """
    if not file_labels:
        return []
    lines = {name: find_line(name) for name in symbols[:MAX_SYMBOLS]}
    return [
        Lens(0, lens_title(tuple(file_labels))),
        *(Lens(line, lens_title(tuple(find_labels(name))), name) for name, line in lines.items() if line != 0),
    ]


def _name_label(label: str, count: int) -> str:
    one, many = DRIFT_NAMES.get(label, (label, PLURALS.get(label, f"{label}s")))
    return one if count == 1 else many
