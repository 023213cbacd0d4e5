"""Escapes text that is shown to a model as data."""

from __future__ import annotations

import re

_NUMBERED = re.compile(r"\[(?=\s{0,4}\d{1,6}(?:\s{0,4}[,;]\s{0,4}\d{1,6}){0,20}\s{0,4}\])")


def escape_lines(text: str) -> str:
    """Prefix each line with a bar and escape whatever looks like a source number or a DSPy field marker."""
    escaped = _NUMBERED.sub("⁅", text.replace("[[", "⟦"))
    return "\n".join(f"| {line}" for line in escaped.splitlines())
