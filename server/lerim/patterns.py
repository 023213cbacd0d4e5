"""Regular expressions that are compiled when they are first used.

Compiling takes Python longer than importing the module around it: compiling all of Lerim's takes half as long as the
start of a short command, which uses only a few of them.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class LatePattern:
    """A stand-in for a compiled pattern. From the first use on, its methods are those of the compiled pattern."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._given_flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # requested when an object is copied or inspected
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._given_flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def compile_later(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Returns what `re.compile` does, except that the pattern is compiled when it is first used. An error in it is
    raised only then. The result cannot be passed to functions of `re`; call its methods instead."""
    return cast("re.Pattern[str]", LatePattern(pattern, flags))
