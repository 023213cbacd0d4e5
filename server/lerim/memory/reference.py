"""A place in the repository that a memory refers to: a file, or a symbol in it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from lerim.errors import MemoryError_

_LINE = re.compile(r"(?::\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?)$")
_DRIVE = re.compile(r"[A-Za-z]:")
_COMMA_ITEM = re.compile(r"[^,\s](?:[^,]*[^,\s])?")
_COMMA_REFERENCE = re.compile(r"[^,\s](?:[^,\s]|,(?=[^,\s])|\s(?=\s{0,100}[^,\s]))*")


DriftState = Literal["fresh", "drifted", "gone", "unknown"]
DRIFT_STATES: tuple[DriftState, ...] = ("fresh", "drifted", "gone", "unknown")
WRONG_STATES: tuple[DriftState, ...] = ("drifted", "gone")
"""The code is not what the memory was about."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A file, and the symbol in it ("" for the whole file)."""

    path: str
    symbol: str = ""


@lru_cache(maxsize=64)  # a memory that is read and indexed has each of its references parsed six times
def parse_reference(text: str) -> Reference | None:
    """Parses a reference and normalises it for comparison: forward slashes, no `./`, no line numbers.

    Returns None if it leads out of the repository or names nothing.
    """
    text = text.strip().replace("\\", "/")
    if ":" in text or "#L" in text:
        text = _LINE.sub("", text)
    path, _, symbol = text.partition("#")
    if path.startswith("/") or _DRIVE.match(path):
        return None
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        return None
    return Reference(sys.intern("/".join(parts)), symbol.strip().removesuffix("()").replace("::", "."))


def reference_text(reference: Reference) -> str:
    """Returns a reference as it is written in a file."""
    return f"{reference.path}#{reference.symbol}" if reference.symbol else reference.path


def can_be_written(reference: Reference) -> bool:
    """Returns whether a reference that is written in a file is read as the same: one to `c#/app.py` is not, and a name
    that is not UTF-8 cannot be written."""
    text = reference_text(reference)
    return text.isprintable() and parse_reference(text) == reference


def update_references(texts: Iterable[str], moves: Mapping[str, str]) -> tuple[str, ...]:
    """Returns references, each once, with those that have moved where they are now; `moves` maps references as
    `reference_text` writes them."""
    parsed = ((text, parse_reference(text)) for text in texts)
    return tuple(dict.fromkeys(moves.get(reference_text(one), text) if one else text for text, one in parsed))


def comparison_key(references: Iterable[str], verified: str) -> str:
    """Returns a key of what a memory is compared with in the code: `verified` and its references in order, one a
    line; "" if it has none. It changes whenever the memory has to be compared again, whatever the code is."""
    texts = sorted({reference_text(one) for one in map(parse_reference, references) if one is not None})
    return "\n".join((verified, *texts)) if texts else ""


def parse_references(given: Iterable[str]) -> tuple[str, ...]:
    """Normalises references that a person named for a memory: relative to the repository's root, forward slashes, no
    duplicates.

    Raises MemoryError_ if one is not a path in the repository.
    """
    found: dict[str, None] = {}
    for text in given:
        reference = parse_reference(text)
        if reference is None:
            todo = "Name a file as seen from the repository's root, such as src/app.py or src/app.py#load."
            raise MemoryError_(f"{text[:80]!r} is not a file of the repository.", where="--reference", todo=todo)
        found[reference_text(reference)] = None
    return tuple(found)


def comma_list_item(key: str) -> re.Pattern[str]:
    """Returns the pattern of an item of a list that is written as one text with commas. A path may contain commas: only
    one beside white space, or at the end, separates references."""
    return _COMMA_REFERENCE if key == "references" else _COMMA_ITEM
