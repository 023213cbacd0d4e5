"""How often tests that repeat themselves do so: a few times on each change, many times in `make test-long`."""

from __future__ import annotations

import os

LONG = int(os.environ.get("LERIM_LONG") or 0)
"""The factor of a long run; 0 on each change."""


def times(few: int) -> int:
    """`few` on each change, `LERIM_LONG` times as many in a long run."""
    return few * max(1, LONG)


def at_most(count: int, few: int) -> int:
    """`few` on each change, all of `count` in a long run."""
    return count if LONG else few
