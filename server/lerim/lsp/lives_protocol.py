"""What of the wire is about the lives of memories: the Memories view, acts by hand, maintain, ask.

Its mirror is extension/livesprotocol.ts (docs/PROTOCOL.md §1).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.lsp.protocol import Params, Whole

By = Literal["primitive", "file", "freshness"]
ActName = Literal["edit", "archive", "restore", "promote", "globalize", "kind", "verify", "feedback", "delete"]


class TreeParams(Params, frozen=True):
    """Which rows of the Memories view: those below `node` ("" is the top) from `start` on. No `root` is the person's
    own memories alone."""

    root: str | None = None
    by: By = "primitive"
    node: str = ""
    start: Whole = 0


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
    primitive: str
    kind: str | None
    title: str
    reason: str
    scope: Literal["project", "global"]


class TreeMemory(msgspec.Struct, frozen=True):
    """A memory as a row shows it. `standing` is "fresh", "drifted", "gone" or "unknown"; `detail` says of what."""

    id: str
    handle: str
    primitive: str
    kind: str | None
    title: str
    confidence: float
    created: str
    scope: Literal["project", "global"]
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


class MemoryActParams(Params, frozen=True):
    """One act by hand on a memory, named by its handle. `edit` takes title, body and tags (None: as they are),
    `promote` title and body, `kind` primitive and kind, `archive` a reason, `feedback` what the person thinks."""

    id: str
    action: ActName
    title: str | None = None
    body: str | None = None
    tags: list[str] | None = None
    primitive: str | None = None
    kind: str | None = None
    feedback: Literal["useful", "wrong", "outdated"] | None = None
    reason: str = ""


class ActedView(msgspec.Struct, frozen=True):
    """What came of an act: `action` takes it back by `lerim/review/undo` of `root`."""

    ok: bool
    code: str
    message: str
    action: str | None
    path: str | None
    root: str


class MergeParams(Params, frozen=True):
    """A memory file with git's conflict markers, by its path. `preview`: nothing is written."""

    root: str
    path: str
    preview: bool = True


class MergeView(msgspec.Struct, frozen=True):
    """The change that joins both sides, as a difference; `acted` is what was done, None for a preview."""

    diff: str
    acted: ActedView | None


class MaintainParams(Params, frozen=True):
    """What to maintain; `dry_run` writes nothing."""

    root: str
    dry_run: bool = False


class AskParams(Params, frozen=True):
    """A question of the person's. `token` names it in the notifications; `all`: drifted and ended memories count, too;
    `passages`: no model is asked."""

    root: str
    question: str
    token: str
    all: bool = False
    passages: bool = False
