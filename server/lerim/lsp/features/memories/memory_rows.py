"""The rows of the Memories view and of the list of titles, as they are sent (docs/PROTOCOL.md §1).

Imported with the first handler that needs them: `memory.record` takes too long for the start.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.memory import Primitive, Scope


class TitleView(msgspec.Struct, frozen=True):
    """As much of a memory as a list of thousands shows."""

    id: str
    primitive: Primitive
    kind: str | None
    title: str
    confidence: float
    created: str
    references: list[str]
    path: str
    scope: Scope


class TitlesView(msgspec.Struct, frozen=True):
    """Some titles, newest first; `total` is how many there are."""

    memories: list[TitleView]
    total: int


class TreeGroup(msgspec.Struct, frozen=True):
    """A row that holds others: `node` is what to ask with, `name` what it is of (a file's path, a primitive, …)."""

    node: str
    kind: Literal["waiting", "problems", "primitive", "file", "loose", "standing", "ended"]
    name: str
    count: int


class TreeProposal(msgspec.Struct, frozen=True):
    """What waits for review, as much of it as a row shows."""

    id: str
    action: str
    primitive: Primitive
    kind: str | None
    title: str
    reason: str
    scope: Scope


class TreeMemory(msgspec.Struct, frozen=True):
    """A memory as a row shows it. `standing` is "fresh", "drifted", "gone" or "unknown"; `detail` says of what."""

    id: str
    handle: str
    primitive: Primitive
    kind: str | None
    title: str
    confidence: float
    created: str
    scope: Scope
    status: str
    standing: str
    detail: str
    path: str


class TreeView(msgspec.Struct, frozen=True):
    """Rows of the Memories view, in this order; `total` is how many the node has, of which an answer holds some."""

    groups: list[TreeGroup]
    proposals: list[TreeProposal]
    memories: list[TreeMemory]
    problems: list[Problem]
    total: int
