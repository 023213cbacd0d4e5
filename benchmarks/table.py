"""Prints the rows of a benchmark as a table, and writes them for `scripts/bench.py`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

Row = tuple[str, float, float | None, str]
"""What was measured, the figure, its budget (None: it has none), and the unit of both."""


def report_rows(rows: Sequence[Row], path: Path | None) -> None:
    """Prints each row with its budget and whether it is met; with a path, writes them there as JSON too."""
    print(f"{'what':62} {'measured':>12} {'budget':>10}")
    for what, measured, budget, unit in rows:
        limit = "" if budget is None else f"{budget:g} {unit}"
        verdict = "" if budget is None else "ok" if measured <= budget else "NOT MET"
        print(f"{what:62} {measured:>9.2f} {unit:>2} {limit:>10} {verdict}")
    if path:
        named = [dict(zip(("what", "measured", "budget", "unit"), row, strict=True)) for row in rows]
        path.write_text(json.dumps(named, indent=1), encoding="utf-8")
