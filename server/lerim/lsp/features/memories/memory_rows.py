"""The rows of the Memories view and of the list of titles, as sent to the editor (docs/PROTOCOL.md §1).

Imported with the first handler that needs them, since importing `memory.record` would slow down the start.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.memory import Primitive, Scope


class TitleView(msgspec.Struct, frozen=True):
    """A memory as shown in a list of thousands."""

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
    """One page of titles, newest first; `total` counts all of them."""

    memories: list[TitleView]
    total: int


class TreeGroup(msgspec.Struct, frozen=True):
    """A row with children: `node` identifies it in the next request, `name` is its file path, primitive and so on."""

    node: str
    kind: Literal["waiting", "problems", "primitive", "file", "loose", "drift", "ended"]
    name: str
    count: int


class TreeProposal(msgspec.Struct, frozen=True):
    """A candidate as a row shows it."""

    id: str
    action: str
    primitive: Primitive
    kind: str | None
    title: str
    reason: str
    scope: Scope


class TreeMemory(msgspec.Struct, frozen=True):
    """A memory as a row shows it. `drift` is "fresh", "drifted", "gone" or "unknown"; `detail` explains it. `called` is
    "wrong" or "outdated" if the person has called it so and did nothing to keep it since, else ""."""

    id: str
    handle: str
    primitive: Primitive
    kind: str | None
    title: str
    confidence: float
    created: str
    scope: Scope
    status: str
    drift: str
    detail: str
    path: str
    called: str


class TreeView(msgspec.Struct, frozen=True):
    """One page of rows of the Memories view, in this order; `total` counts all rows of the node."""

    groups: list[TreeGroup]
    proposals: list[TreeProposal]
    memories: list[TreeMemory]
    problems: list[Problem]
    total: int
