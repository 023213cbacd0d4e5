"""What is kept for a repository between two checks: the drift of its memories, and what is wrong in their files."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection

    from lsprotocol import types

    from lerim.check import RulesFileIndex
    from lerim.memory import Drift, MemoryEntry, SourceReader, StatStamp

WRONG_STATES = ("drifted", "gone")


@dataclass(slots=True)
class RepoDrift:
    """The drifted, gone and moved memories of a repository by id (`by_id`), and the queue of checks.

    `queued_files` are checked last in, first out; `queued_memories` are memory files. A full check covers everything
    known, a database check reads what another process found. `files_in_view` had their lenses requested and are checked
    by stat. `file_stamps` belong to the files checked in this session, `database_stamp` to the database, which another
    process may write. No memory is checked before `settled_at` on the loop's clock. `work_queued` wakes the checking
    task; `connection` keeps the database open.
    """

    by_id: Mapping[str, Drift] = field(default_factory=dict)
    file_stamps: dict[str, StatStamp] = field(default_factory=dict)
    database_stamp: StatStamp = ()
    files_in_view: set[str] = field(default_factory=set)
    queued_files: dict[str, None] = field(default_factory=dict)
    queued_memories: dict[Path, None] = field(default_factory=dict)
    is_full_check_queued: bool = False
    is_database_check_queued: bool = False
    settled_at: float = 0.0
    work_queued: asyncio.Event = field(default_factory=asyncio.Event)
    is_checking: bool = False
    connection: Connection | None = None

    def wrong_state(self, entry: MemoryEntry) -> str:
        """`drifted` or `gone` for such a memory, "" for any other."""
        found = self.by_id.get(entry.id) if self.by_id else None
        return found.state if found is not None and found.state in WRONG_STATES else ""

    @property
    def has_work(self) -> bool:
        """Whether any check is queued."""
        return bool(
            self.queued_files or self.queued_memories or self.is_full_check_queued or self.is_database_check_queued
        )


@dataclass(slots=True)
class RepoChecks:
    """`rules_files` has the statements of rules files, None until a memory is opened; `reader` has read source files.
    `lock` allows one check at a time, since both are shared.

    `open_diagnostics` are those of open documents by URI, `diagnostics` those that `Lerim: Check
    Memory Files for Problems` found.
    """

    rules_files: RulesFileIndex | None = None
    reader: SourceReader | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    open_diagnostics: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
    diagnostics: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
