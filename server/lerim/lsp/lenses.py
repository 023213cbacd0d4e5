"""Code lenses: what is known about a file, counted, on its first line; by symbol only if the person asked for that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lerim.lsp.settings import CodeLensMode

ORDER = (
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
)
PLURALS = {"summary": "summaries"}
MAX_SYMBOLS = 50
MAX_PLACES = 20
DEFINES = re.compile(
    r"(?:^|[\s(])(?:def|class|function|func|fn|type|struct|enum|interface|trait|impl|module|const|let|var|val|object|record)"
    r"[*\s]+(?:\([^()]{0,80}\)\s*)?$"
)


def title(kinds: Iterable[str]) -> str:
    """`2 decisions · 1 pitfall`, the weightier kinds first."""
    counts = Counter(kinds)
    ranked = sorted(counts, key=lambda kind: (ORDER.index(kind) if kind in ORDER else len(ORDER), kind))
    return " · ".join(f"{counts[kind]} {_plural(kind, counts[kind])}" for kind in ranked)


class Lens(NamedTuple):
    """A count over a line; `symbol` is what it is about ("" the file). `line` None: where that is was not found."""

    line: int | None
    title: str
    symbol: str = ""


def place(
    mode: CodeLensMode, whole: Sequence[str], symbols: Mapping[str, Sequence[str]], lines: Sequence[str]
) -> list[Lens]:
    """The lenses of a file. `whole` are the kinds of every memory of it, `symbols` those of one symbol.

    The editor knows symbols better than our search of lines; it may move a symbol's lens, or place one not found.
    """
    if mode == "off" or not whole:
        return []
    lenses = [Lens(0, title(whole))]
    if mode == "symbols":
        for name, kinds in list(symbols.items())[:MAX_SYMBOLS]:
            lenses.append(Lens(definition(name, lines), title(kinds), name))
    return lenses


def definition(name: str, lines: Sequence[str]) -> int | None:
    """The line that defines the symbol, if exactly one does; None where none or several may."""
    word = name.replace("::", ".").rpartition(".")[2]
    if not word:
        return None
    found: list[int] = []
    looked = 0
    for number, line in enumerate(lines):
        at = line.find(word)
        if at < 0 or len(line) > 2000:
            continue
        looked += 1
        if looked > MAX_PLACES * 10:
            return None
        end = at + len(word)
        if (end == len(line) or not (line[end].isalnum() or line[end] == "_")) and DEFINES.search(
            line[max(0, at - 120) : at]
        ):
            found.append(number)
            if len(found) > 1:
                return None
    return found[0] if found else None


def _plural(kind: str, count: int) -> str:
    return kind if count == 1 else PLURALS.get(kind, f"{kind}s")
