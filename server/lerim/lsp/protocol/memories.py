"""The part of the protocol about the Memories view, acts by hand, maintain and ask (docs/PROTOCOL.md §1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.lsp.protocol.core import Params, Whole

By = Literal["primitive", "file", "freshness"]
ActName = Literal["edit", "archive", "restore", "promote", "globalize", "kind", "verify", "feedback", "delete"]
Feedback = Literal["useful", "wrong", "outdated"]


class TreeParams(Params, frozen=True):
    """Which rows of the Memories view: those below `node` ("" is the top) from `start` on. No `root` is the person's
    own memories alone."""

    root: str | None = None
    by: By = "primitive"
    node: str = ""
    start: Whole = 0


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
    feedback: Feedback | None = None
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
