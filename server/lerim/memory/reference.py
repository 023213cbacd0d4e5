"""A place in the repository that a memory speaks of: a file, or a symbol in it."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

_LINE = re.compile(r"(?::\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?)$")


@dataclass(frozen=True, slots=True)
class Reference:
    """A file, and the symbol in it that is meant ("" for the whole file)."""

    path: str
    symbol: str = ""


def normalise(text: str) -> Reference | None:
    """A reference as written, made comparable: forward slashes, no `./`, no line numbers.

    None for one that leads out of the repository or names nothing.
    """
    path, _, symbol = _LINE.sub("", text.strip().replace("\\", "/")).partition("#")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return None
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        return None
    return Reference(sys.intern("/".join(parts)), symbol.strip().removesuffix("()").replace("::", "."))
