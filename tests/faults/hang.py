"""How long a test waits before it says that something hangs."""

HANG = 300.0
"""Seconds. Conditions are waited for, so no test takes this long; a machine four times slower stays far below it."""
