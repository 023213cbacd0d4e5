"""What an index knows about all memories of its folder at once, so that none of their files is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from lerim.memory.record import Primitive, primitive_of

R = TypeVar("R")


class KeptTotals:
    """The answers to queries of this module, until the index changes."""

    def __init__(self) -> None:
        self._answers: dict[Callable[[sqlite3.Connection], object], tuple[object, Any]] = {}

    def answer(self, query: Callable[[sqlite3.Connection], R], sql: sqlite3.Connection) -> R:
        """Asks a query, but only if the index has changed since the last time. Do not change its answer."""
        version = (sql, sql.total_changes, *sql.execute("PRAGMA data_version").fetchone())
        if query not in self._answers or self._answers[query][0] != version:
            self._answers[query] = version, query(sql)
        answer: R = self._answers[query][1]
        return answer


def count_by_primitive(sql: sqlite3.Connection) -> dict[Primitive, int]:
    """Returns how many readable memories there are of each primitive, without those in the archive."""
    query = (
        "SELECT min(path), count(*) FROM files WHERE memory != '' AND path NOT GLOB 'archived/*'"
        " GROUP BY substr(path, 1, instr(path, '/'))"
    )
    counts = {primitive_of(Path(path)): int(number) for path, number in sql.execute(query)}
    return {primitive: counts[primitive] for primitive in counts if primitive is not None}


def read_comparison_keys(sql: sqlite3.Connection) -> dict[str, str]:
    """Returns the `comparison_key` of each active memory that refers to code, by id."""
    return dict(sql.execute("SELECT memory, comparison FROM files WHERE shown = 'active' AND comparison != ''"))


def find_rival_answers(sql: sqlite3.Connection) -> list[str]:
    """Returns the ids of the active memories that resolve a question which another one says it resolved, too."""
    resolved = "SELECT target FROM ends WHERE status = 'resolved' GROUP BY target HAVING count(*) > 1"
    query = (
        "SELECT DISTINCT memory FROM ends JOIN files ON id = ender"
        f" WHERE ends.status = 'resolved' AND shown = 'active' AND target IN ({resolved})"
    )
    return [row[0] for row in sql.execute(query)]
