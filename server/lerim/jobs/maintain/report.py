"""The progress events and report of a maintenance run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from lerim.errors import Problem
from lerim.jobs.report import SyncState
from lerim.review import CandidateView, MaintainAction

MaintainStage = Literal["reading", "links", "freshness", "planning", "proposing", "done", "cancelled"]


class MaintainProgress(msgspec.Struct, frozen=True, tag_field="event", tag="maintaining"):
    """The progress of a maintenance run: `done` of `total` items of this stage, 0 of 0 if they are not counted."""

    stage: MaintainStage
    done: int = 0
    total: int = 0


class StaleMemory(msgspec.Struct, frozen=True):
    """An active memory whose referenced code changed (`drifted`) or no longer exists (`gone`).

    `reference` is the reference in the worst state, `moved_to` its new location, `detail` describes the change, and
    `since` is the day on which it was first noticed; "" if unknown.
    """

    id: str
    title: str
    drift: Literal["drifted", "gone"]
    reference: str
    moved_to: str = ""
    detail: str = ""
    since: str = ""


class MaintainReport(msgspec.Struct, frozen=True):
    """The outcome of one maintenance run.

    `proposals` are those that this run made and that wait for the person; in a dry run, those it would make. `done`
    lists what was changed or proposed on disk. `run` is the run folder, "" if there is none.

    The keys of `counts`:

    - `merged`, `closed`, `decayed`, `archived`, `bounded`, `consolidated`, `referred`: suggestions that were proposed,
      or accepted at once, by `PlannedSuggestion.category`
    - `withdrawn`: earlier proposals that were withdrawn; `waiting`: those that still wait; `rejected`: suggestions that
      the person rejected before; `left`: those not proposed because too many wait already
    - `repaired`: links; `drifted` and `gone`: the memories in `stale`; `unchanged`: memories that are neither and that
      no suggestion targets
    """

    project: str
    proposals: list[CandidateView] = []
    done: list[MaintainAction] = []
    counts: dict[str, int] = {}
    stale: list[StaleMemory] = []
    problems: list[Problem] = []
    state: SyncState = "done"
    dry_run: bool = False
    seconds: float = 0.0
    run: str = ""
    message: str = ""


EmitMaintain = Callable[[MaintainProgress], None]
