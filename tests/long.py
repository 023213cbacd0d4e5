"""How long the tests that try many times go on."""

from __future__ import annotations

import os


def times(count: int) -> int:
    """`count`, times the factor of a long run: `LERIM_LONG` in the environment, 1 where it is not set."""
    return count * max(1, int(os.environ.get("LERIM_LONG") or 1))
