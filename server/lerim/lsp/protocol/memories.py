"""The part of the protocol about the Memories view, manual actions, maintain, ask and the journal (docs/PROTOCOL.md
§1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.lsp.protocol.core import Params, WholeNumber

MemoryGrouping = Literal["primitive", "file", "freshness"]
ActName = Literal["edit", "archive", "restore", "promote", "globalize", "move", "kind", "verify", "feedback", "delete"]
Feedback = Literal["useful", "wrong", "outdated"]
MergeKind = Literal["sides", "files", "memories"]

# Commands of code actions; unlike those of `core`, no link in a hover can run them.
GLOBALIZE_MEMORY = "lerim.globalizeMemory"
MOVE_MEMORY = "lerim.moveMemory"
CHANGE_KIND = "lerim.changeKind"
MERGE_MEMORY = "lerim.mergeMemory"


class TreeParams(Params, frozen=True):
    """A page of rows of the Memories view: those below `node` ("" is the top), from `start` on. Without `root`, only
    the personal memories."""

    root: str | None = None
    by: MemoryGrouping = "primitive"
    node: str = ""
    start: WholeNumber = 0


class MemoryActParams(Params, frozen=True):
    """One manual action on a memory, given by its handle. `edit` takes title, body and tags (None: unchanged),
    `promote` title and body, `kind` primitive and kind, `archive` a reason, `feedback` the person's opinion."""

    id: str
    action: ActName
    title: str | None = None
    body: str | None = None
    tags: list[str] | None = None
    primitive: str | None = None
    kind: str | None = None
    feedback: Feedback | None = None
    reason: str = ""


class MemoryActView(msgspec.Struct, frozen=True):
    """The result of a manual action. `lerim/review/undo` of `root` undoes `action`."""

    ok: bool
    code: str
    message: str
    action: str | None
    path: str | None
    root: str


class MergeParams(Params, frozen=True):
    """The path of a memory file to merge. `preview`: nothing is written."""

    root: str
    path: str
    preview: bool = True


class MergeView(msgspec.Struct, frozen=True):
    """What is merged, and the diff of merging it; `acted` is the result, None for a preview."""

    kind: MergeKind
    diff: str
    acted: MemoryActView | None


class AskParams(Params, frozen=True):
    """A question of the person. `token` identifies it in notifications; `all`: include drifted and ended memories."""

    root: str
    question: str
    token: str
    all: bool = False


class JournalParams(Params, frozen=True):
    """The journal of a root's repository on a local day (`2026-03-02`); "" is today."""

    root: str
    day: str = ""
