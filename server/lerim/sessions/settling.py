"""Decides when the last exchange of a session is over; syncs of the editor, the terminal and the daemon all use this
rule.

An exchange ends with the next prompt. No prompt follows the last exchange, so it counts as over when the session's
file has not been written to for a while (docs/decisions/0050-what-was-said-last.md).
"""

from __future__ import annotations

SETTLE_SECONDS = 90.0
"""How many seconds must pass without a write to a session before its last exchange counts as over."""


def find_settling_time(written: float, now: float) -> float | None:
    """Returns when the last exchange of a session counts as over, or None if it does already.

    Both times are epoch seconds; `written` is when the session was last written to. If `written` is more than
    SETTLE_SECONDS in the future, it comes from a wrong clock and is not waited for.
    """
    return written + SETTLE_SECONDS if abs(now - written) < SETTLE_SECONDS else None
