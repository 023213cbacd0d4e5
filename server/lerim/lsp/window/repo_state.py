"""What is kept for a repository between two checks: the drift of its memories, and what is wrong in their files."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lerim.memory import WRONG_STATES, Reference, parse_reference, reference_text, symbol_names

if TYPE_CHECKING:
    from sqlite3 import Connection

    from lsprotocol import types

    from lerim.check import RulesFileIndex
    from lerim.memory import Drift, MemoryEntry, SourceReader, StatStamp


@dataclass(slots=True)
class RepoDrift:
    """The drifted, gone and moved memories of a repository by id (`by_id`; `all_by_id` has each such reference, the
    worst first), and the queue of checks.

    `queued_files` are checked last in, first out; `queued_memories` are memory files. A full check covers everything
    known, a database check reads what another process found. `files_in_view` had their lenses requested and are checked
    by stat. `file_stamps` belong to the files checked in this session, `database_stamp` to the database, which another
    process may write. No memory is checked before `settled_at` on the loop's clock. `work_queued` wakes the checking
    task; `connection` keeps the database open.
    """

    by_id: Mapping[str, Drift] = field(default_factory=dict)
    all_by_id: Mapping[str, Sequence[Drift]] = field(default_factory=dict)
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

    def find_drift(self, memory: str, references: Iterable[Reference], place: Reference) -> Drift | None:
        """Returns the drift of a memory with these references as it is shown at a place in the code: the worst, but
        where the reference to this place is found, none that is not found elsewhere counts."""
        worst = self.by_id.get(memory)
        if worst is None or worst.state != "gone":
            return worst
        drifts = self.all_by_id.get(memory, (worst,))
        found = [one for one in drifts if one.state != "gone"]
        gone = {one.reference for one in drifts if one.state == "gone"}
        here = [parse_reference(one.moved_to) or Reference("") for one in found if one.moved_to]
        here += [one for one in references if reference_text(one) not in gone]
        is_found = any(
            one.path == place.path and (not place.symbol or place.symbol in symbol_names(one)) for one in here
        )
        return worst if not is_found else found[0] if found else None

    def wrong_state(self, entry: MemoryEntry, place: Reference) -> str:
        """`drifted` or `gone` for such a memory at a place in the code, "" for any other."""
        found = self.find_drift(entry.id, entry.references, place) if self.by_id else None
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
    `renamed_files` says where files are now that are gone, as git last said: "" if it does not know. `lock` allows one
    check at a time, since all of these are shared.

    `open_diagnostics` are those of open documents by URI, `diagnostics` those that `Lerim: Check
    Memory Files for Problems` found.
    """

    rules_files: RulesFileIndex | None = None
    reader: SourceReader | None = None
    renamed_files: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    open_diagnostics: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
    diagnostics: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
