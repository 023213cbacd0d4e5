"""What is known of how the memories of a repository stand. Only what is not fresh is held."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection

    from lerim.memory import Drift, MemoryEntry, StatStamp

WRONG = ("drifted", "gone")


@dataclass(slots=True)
class RepoDrift:
    """What is known of a repository's memories: those drifted, gone or moved, by id; and what waits for a look: `files`
    (the one asked for last is the first), `memories` (their files), all (`whole`), what another process found
    (`others`), and `glances`, whose lenses were asked for.

    `stamps` are of the files looked at in this session, `kept` is of the database: another process may write it.
    `settled` is when memories may be looked at, on the loop's clock; `asked` wakes who looks; `held` keeps the database
    open.
    """

    by_id: Mapping[str, Drift] = field(default_factory=dict)
    stamps: dict[str, StatStamp] = field(default_factory=dict)
    kept: StatStamp = ()
    glances: set[str] = field(default_factory=set)
    files: dict[str, None] = field(default_factory=dict)
    memories: dict[Path, None] = field(default_factory=dict)
    whole: bool = False
    others: bool = False
    settled: float = 0.0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    looking: bool = False
    held: Connection | None = None

    def wrong(self, entry: MemoryEntry) -> str:
        """`drifted` or `gone` for a memory that is; "" for others."""
        found = self.by_id.get(entry.id) if self.by_id else None
        return found.state if found is not None and found.state in WRONG else ""

    @property
    def waiting(self) -> bool:
        """Whether anything is to be looked at."""
        return bool(self.files or self.memories or self.whole or self.others)
