"""The state that the steps of a maintenance run share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lerim.config import Settings
from lerim.errors import LerimError, Problem, StoppedError
from lerim.jobs.maintain.report import EmitMaintain, MaintainProgress, MaintainStage, StaleMemory
from lerim.jobs.report import SyncState
from lerim.review import ReviewPaths, RunFolder


@dataclass(slots=True)
class MaintainJob:
    """One maintenance run of a project: its inputs and results so far. `dry_run`: write nothing in the repository."""

    place: ReviewPaths
    settings: Settings
    environ: Mapping[str, str]
    dry_run: bool
    emit: EmitMaintain
    cancelled: Callable[[], bool]
    clock: Callable[[], datetime]
    run: RunFolder
    state: SyncState = "done"
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    stale: list[StaleMemory] = field(default_factory=list)

    @property
    def automatic(self) -> bool:
        """Whether the settings make the review automatic."""
        return self.settings.review_mode == "auto"

    def raise_if_cancelled(self) -> None:
        """Raise StoppedError if the person has cancelled."""
        if self.cancelled():
            raise StoppedError

    def add_problem(self, error: LerimError) -> None:
        """Record the failure of one step; the other steps still run."""
        self.state = "partial"
        self.problems.append(error.problem())

    def emit_progress(self, stage: MaintainStage, done: int = 0, total: int = 0, message: str = "") -> None:
        """Emit progress: `done` of `total` items of this stage."""
        self.emit(MaintainProgress(stage, done, total, message))
