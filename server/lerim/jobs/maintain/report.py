"""What a maintaining of a project's memories tells while it runs and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.jobs.report import SyncState
from lerim.models import ModelStep, RoleUsage
from lerim.review import CandidateView, MaintainAction

MaintainStage = Literal["reading", "links", "freshness", "planning", "asking", "proposing", "done", "cancelled"]


class MaintainProgress(msgspec.Struct, frozen=True, tag_field="event", tag="maintaining"):
    """How far a maintaining is: `done` of `total` things of this stage, 0 of 0 where they are not counted."""

    stage: MaintainStage
    done: int = 0
    total: int = 0
    message: str = ""


class StaleMemory(msgspec.Struct, frozen=True):
    """An active memory that drifted or whose place is gone: `reference` is the worst of its places, `moved_to` where
    that is now, `detail` what changed and `since` the day on which this was first seen ("" unknown)."""

    id: str
    title: str
    standing: Literal["drifted", "gone"]
    reference: str
    moved_to: str = ""
    detail: str = ""
    since: str = ""


class MaintainReport(msgspec.Struct, frozen=True):
    """The outcome of one maintaining. `proposals` are those this run made and that wait, or, of a dry run, would be
    made; `done` is what was changed or proposed on disk.

    `counts`: what was proposed, or accepted at once, by what is to become of memories (merged, closed, decayed,
    archived, bounded, consolidated, referred: `upkeep.Planned`), proposals `withdrawn`, `waiting` from before,
    `rejected` before or `left` for want of room, `repaired` links, `drifted` and `gone` memories, which `stale` names,
    `unchanged` those that are neither and in no proposal. `run` is the run folder, "" where nothing was done.
    """

    project: str
    proposals: list[CandidateView] = []
    done: list[MaintainAction] = []
    counts: dict[str, int] = {}
    stale: list[StaleMemory] = []
    problems: list[Problem] = []
    state: SyncState = "done"
    dry_run: bool = False
    model: str = "none"
    spent: list[RoleUsage] = []
    steps: list[ModelStep] = []
    seconds: float = 0.0
    run: str = ""
    message: str = ""


EmitMaintain = Callable[[MaintainProgress], None]


@dataclass(frozen=True, slots=True)
class MaintainOptions:
    """How to maintain. `dry_run`: nothing is written in the repository. `model`: the lead the settings name puts
    learnings in its words, or none does. `explicit`: the person asked."""

    dry_run: bool = False
    model: Literal["auto", "none"] = "auto"
    explicit: bool = True
