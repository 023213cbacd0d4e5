"""The progress events and the report of a sync, as `sync --json` and the panel show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import msgspec

from lerim.errors import Problem
from lerim.models import NO_USAGE, ModelStep, RoleUsage, Usage, WaitingWork, merge_role_usage
from lerim.review import CandidateView

Stage = Literal["looking", "reading", "learning", "done", "failed", "cancelled"]
SyncState = Literal["done", "partial", "cancelled", "busy", "failed"]


class SyncProgress(msgspec.Struct, frozen=True, tag_field="event", tag="progress"):
    """The progress of a sync: `sessions_done` of `sessions_total` transcripts of this stage, `candidates` so far.
    `settling` comes with the last stage, as in the report."""

    stage: Stage
    sessions_done: int
    sessions_total: int
    candidates: int
    message: str = ""
    settling: int = 0


class CandidateFound(msgspec.Struct, frozen=True, tag_field="event", tag="candidate"):
    """A candidate was written to the review folder."""

    candidate: CandidateView


class CandidateWithdrawn(msgspec.Struct, frozen=True, tag_field="event", tag="withdrawn"):
    """A waiting candidate was withdrawn because a later turn refutes it."""

    id: str
    reason: str


class SessionCounts(msgspec.Struct, frozen=True):
    """Counts of this project's sessions: found = new + changed + unchanged + failed. `new` sessions were not learned
    from before; another project's sync may have indexed them already."""

    found: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: int = 0


class DroppedView(msgspec.Struct, frozen=True):
    """A signal that did not become a candidate, and why."""

    reason: str
    title: str
    session: str
    turn: str
    detail: str = ""


class WithdrawnView(msgspec.Struct, frozen=True):
    """A waiting candidate that was withdrawn, and why."""

    id: str
    reason: str


class SyncReport(msgspec.Struct, frozen=True):
    """The outcome of one sync.

    `candidates` are those this run proposed; `dropped` counts the dropped signals by reason; `accepted` are the ids of
    candidates accepted without a review. `left_out` counts the waiting sessions that `since` and `until` exclude. `run`
    is the run folder, "" if nothing was extracted.

    `model` is the model that was asked in addition to the rules, "none" if there was none. `usage` is the total usage
    of models, `spent` the same by role and model. `steps` are the events besides plain answers, such as retries, and
    `waits` is the work that still waits for a model.

    `settling` counts the sessions whose last exchange is not over yet and was not learned from; the first of them is
    over at `settles_at` (epoch seconds, None without such sessions) unless more is written to it.
    """

    project: str
    sessions: SessionCounts = SessionCounts()
    candidates: list[CandidateView] = []
    dropped: dict[str, int] = {}
    dropped_items: list[DroppedView] = []
    withdrawn: list[WithdrawnView] = []
    problems: list[Problem] = []
    accepted: list[str] = []
    left_out: int = 0
    model: str = "none"
    usage: Usage = NO_USAGE
    spent: list[RoleUsage] = []
    steps: list[ModelStep] = []
    waits: WaitingWork = WaitingWork()
    settling: int = 0
    settles_at: float | None = None
    seconds: float = 0.0
    run: str = ""
    state: SyncState = "done"
    message: str = ""


SyncEvent: TypeAlias = SyncProgress | CandidateFound | CandidateWithdrawn
EmitSyncEvent = Callable[[SyncEvent], None]


def with_no_model_asked(report: SyncReport, problems: Sequence[Problem], waits: WaitingWork) -> SyncReport:
    """Returns the report after a part that could ask no model. `problems` say why, if that is an error; `waits` is the
    work that waits for a model."""
    return msgspec.structs.replace(
        report,
        problems=list(dict.fromkeys([*report.problems, *problems])),
        state="partial" if problems else report.state,
        waits=waits,
    )


def combine_reports(first: SyncReport, second: SyncReport) -> SyncReport:
    """Combines the reports of two passes of the same sync. Sessions that only the second one recognized as the
    project's count as new. Candidates of the first that the second withdrew are left out."""
    dropped = dict(first.dropped)
    for reason, count in second.dropped.items():
        dropped[reason] = dropped.get(reason, 0) + count
    one, two = first.sessions, second.sessions
    withdrawn_ids = {withdrawn.id for withdrawn in second.withdrawn}
    failed, changed = max(one.failed, two.failed), one.changed + two.changed
    new = one.new + two.new + max(0, two.found - one.found - two.new)
    sessions = SessionCounts(two.found, new, changed, max(0, two.found - new - changed - failed), failed)
    state = second.state if second.state != "done" else first.state
    return SyncReport(
        project=second.project,
        sessions=sessions,
        candidates=[*(one for one in first.candidates if one.id not in withdrawn_ids), *second.candidates],
        dropped=dropped,
        dropped_items=[*first.dropped_items, *second.dropped_items],
        withdrawn=[*first.withdrawn, *second.withdrawn],
        problems=list(dict.fromkeys([*first.problems, *second.problems])),
        accepted=[*first.accepted, *second.accepted],
        left_out=max(first.left_out, second.left_out),
        model=second.model if second.model != "none" else first.model,
        usage=first.usage + second.usage,
        spent=merge_role_usage([*first.spent, *second.spent]),
        steps=[*first.steps, *second.steps],
        waits=second.waits,
        settling=second.settling,
        settles_at=second.settles_at,
        seconds=round(first.seconds + second.seconds, 3),
        run=first.run or second.run,
        state=state,
        message=second.message or first.message,
    )
