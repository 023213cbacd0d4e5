"""A place in the repository that a memory speaks of: a file, or a symbol in it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lerim.errors import MemoryError_

_LINE = re.compile(r"(?::\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?)$")
_DRIVE = re.compile(r"[A-Za-z]:")


DriftState = Literal["fresh", "drifted", "gone", "unknown"]
DRIFT_STATES: tuple[DriftState, ...] = ("fresh", "drifted", "gone", "unknown")


@dataclass(frozen=True, slots=True)
class Reference:
    """A file, and the symbol in it that is meant ("" for the whole file)."""

    path: str
    symbol: str = ""


def parse_reference(text: str) -> Reference | None:
    """A reference as written, made comparable: forward slashes, no `./`, no line numbers.

    None for one that leads out of the repository or names nothing.
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


def parse_references(given: Iterable[str]) -> tuple[str, ...]:
    """References a person named as a memory holds them: from the repository's root, forward slashes, each once.

    Raises MemoryError_ for one that is not a file of the repository.
    """
    found: dict[str, None] = {}
    for text in given:
        reference = parse_reference(text)
        if reference is None:
            todo = "Name a file as seen from the repository's root, such as src/app.py or src/app.py#load."
            raise MemoryError_(f"{text[:80]!r} is not a file of the repository.", where="--reference", todo=todo)
        found[reference.path + (f"#{reference.symbol}" if reference.symbol else "")] = None
    return tuple(found)
