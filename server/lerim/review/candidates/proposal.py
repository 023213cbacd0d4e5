"""What waits for a person's decision: a proposed memory and what accepting it changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from lerim.extraction import Signal
from lerim.memory import (
    MemoryRecord,
    StoredMemory,
)
from lerim.review.comparing import NearMemory
from lerim.sessions import Platform

PERSON_CONFIDENCE = 0.95
"""How sure a memory is whose words a person wrote."""

ProposedAction = Literal[
    "add", "same", "update", "supersede", "resolve", "merge", "archive", "consolidate", "refer", "close"
]
Maker = Literal["rules", "model", "lead", "maintain", "person"]
KEEPS: tuple[ProposedAction, ...] = ("update", "merge")
"""What rewrites its first target; all other targets end."""


@dataclass(frozen=True, slots=True)
class Target:
    """A memory that a proposal changes or ends, and the hash of its file's text when that was proposed."""

    id: str
    hash: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate as it waits. `record` is the memory it would be; `targets` are those it would change or end, of an
    addition an archived one it brings back, if any: what each action does with them says `effects.py`.

    `diff` is the change of the memory that is rewritten, as a unified diff. `about` are the targets as they are now;
    `lost` are those that are gone or over by now, and count no more; `void`: nothing is left to be done. `edited`: a
    person changed its words; `whole`: these are all the text that a memory it changes will have. A suggestion of
    maintaining has a `reason` and rests on no session: `session`, `turn`, `platform` and `signal` are empty.
    `neighbours` are active memories near it, where the caller asked for them; `asked`: a model was asked about these.
    `text` is the file as it is shown or about to be, `saved` what the file held when it was read.
    """

    id: str
    record: MemoryRecord
    action: ProposedAction
    targets: tuple[Target, ...]
    reason: str
    maker: Maker
    session: str
    turn: str
    platform: Platform | None
    time: datetime
    signal: Signal | None
    flags: tuple[str, ...]
    replaces: tuple[str, ...]
    model_asked: bool
    edited: bool
    path: Path
    text: str
    saved_text: str
    diff: str = ""
    target_memories: tuple[StoredMemory, ...] = ()
    neighbours: tuple[NearMemory, ...] = ()
    lost_targets: tuple[str, ...] = ()
    is_obsolete: bool = False
    overwrites_body: bool = False

    @property
    def target(self) -> str:
        """The first memory it concerns; of an addition the archived one it brings back, else ""."""
        return self.targets[0].id if self.targets else ""

    @property
    def ends(self) -> tuple[str, ...]:
        """The memories that would be no longer active."""
        if self.action in ("refer", "add", "same"):
            return ()
        kept = 1 if self.action in KEEPS else 0
        return tuple(one.id for one in self.targets[kept : 1 if self.action == "close" else None])
