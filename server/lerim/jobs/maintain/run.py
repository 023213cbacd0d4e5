"""One maintenance run of a project's memories: links, freshness, the plan, proposals. The job process and the terminal
share it.

This module makes no decisions: `maintenance/plan.py` plans the changes, and `review/` proposes them to the person or,
if the review is automatic, applies them at once. If the process is killed, nothing is lost: each proposal is written
separately, and the next run finds those that wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from lerim.config import load
from lerim.errors import CatalogError, LerimError, MemoryError_, Problem, StoppedError, error_reason
from lerim.jobs.activity_log import log_activity
from lerim.jobs.maintain.last_run import record_maintenance
from lerim.jobs.maintain.proposals import MaintainJob, propose_suggestions
from lerim.jobs.maintain.report import EmitMaintain, MaintainReport, StaleMemory
from lerim.maintenance import PlanInputs, find_theme_activity, plan_maintenance
from lerim.memory import (
    Drift,
    DriftChecker,
    DriftSummary,
    StoredMemory,
    ThemeActivity,
    Uses,
    conflicting_answers,
    find_unwanted_reason,
    load_all,
    make_drift_subject,
    plan_link_repairs,
    unused_since,
    with_current_status,
)
from lerim.paths import Home
from lerim.project import Project, hold_project_lock, open_git
from lerim.review import MaintainAction, ReviewPaths, RunFolder, acts, candidate_view, try_write_run
from lerim.review import queue as review
from lerim.statistics import compute_benefit

_EFFORT_CUT_MESSAGE = (
    "{:,} memories resemble many others and were compared only with the most similar ones. "
    "Decide what is proposed; the next maintenance finds the rest."
)


def _now() -> datetime:
    return datetime.now(UTC)


def maintain_project(
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    emit: EmitMaintain,
    cancelled: Callable[[], bool],
    clock: Callable[[], datetime] = _now,
    *,
    dry_run: bool = False,
) -> MaintainReport:
    """Maintains a project's memories. `dry_run`: only say what would be proposed.

    Raises BusyError while another process works on the project, MemoryError_ if the review cannot be written.
    """
    started_at = time.monotonic()
    settings, _ = load.load_settings(environ, home, project.root)
    place = ReviewPaths(project, home)
    job = _MaintenanceRun(
        place, settings, environ, dry_run, emit, cancelled, clock, RunFolder(place, clock(), kind="maintain")
    )
    try:
        if dry_run:
            job.work()
        else:
            with hold_project_lock(home, project.key, "maintaining the memories"):
                job.work()
                job.record_time()
    except LerimError as error:
        seconds = time.monotonic() - started_at  # if the home cannot be written, the error itself says so
        log_activity(home, clock(), "maintain", project.root, f"{error.code}: {error.message}", seconds)
        raise
    report = job.report(time.monotonic() - started_at)
    if not dry_run:
        counts = ", ".join(f"{count} {name}" for name, count in report.counts.items()) or "no memories"
        stats = f"{report.state}: {counts}"
        report.problems.extend(log_activity(home, clock(), "maintain", project.root, stats, report.seconds))
    return report


@dataclass(slots=True)
class _MaintenanceRun(MaintainJob):
    """A maintenance run with its steps."""

    def work(self) -> None:
        """Runs all steps; ends early when cancelled. Raises MemoryError_."""
        with suppress(StoppedError):
            self.run_steps()
        if self.cancelled():
            self.state = "cancelled"

    def run_steps(self) -> None:
        """Runs the steps in order. Raises MemoryError_, StoppedError."""
        self.emit_progress("reading")
        store = self.place.store()
        memories, problems = load_all(self.place.project, self.place.home, store, self.raise_if_cancelled)
        self.problems += problems
        if not memories:
            return
        link_repairs = plan_link_repairs(memories)
        if link_repairs and self.dry_run:
            self.counts["repaired"] = len(link_repairs)
        elif link_repairs and self.repair_links():
            memories, _ = load_all(self.place.project, self.place.home, store, self.raise_if_cancelled)
        now = self.clock()
        self.emit_progress("freshness")
        self.problems += conflicting_answers.find_answer_problems(memories)
        active = [one for one in with_current_status(memories) if one.status == "active"]
        drift = self.check_freshness(active, now)
        self.stale = find_stale_memories(active, drift.drift_by_memory)
        self.counts.update(one.drift for one in self.stale)
        self.emit_progress("planning")
        if not self.dry_run:
            self.update_outcomes()
        uses = Uses(self.place.private)
        recorded = uses.of_all()
        last_uses = {name: one.last for name, one in recorded.items()}
        kept_at = uses.last_kept()
        accepted_at = review.acceptance_times(self.place)
        unused_times: dict[str, datetime] = {}
        for stored in memories:
            name = stored.record.id
            used_at = kept_at if stored.record.primitive == "theme" else last_uses  # seeing a theme is no work on it
            unused_times[name] = unused_since(stored, used_at.get(name, accepted_at.get(name)))
        unwanted_reasons = {
            name: reason
            for name, (feedback, given_at) in uses.last_feedback().items()
            if (reason := find_unwanted_reason(feedback, given_at, kept_at.get(name)))
        }
        self.problems += uses.problems
        theme_activity = self.find_theme_activity(memories)
        inputs = PlanInputs(
            now,
            self.settings.maintenance_rules,
            unused_times,
            drift,
            theme_activity,
            unwanted_reasons,
            written_by_lerim=lambda one: store.written_by_lerim(one.record.id, one.text_hash),
            kept_apart=review.pairs_kept_apart(self.place),
            outcomes={name: one.outcomes for name, one in recorded.items()},
            cancelled=self.cancelled,
        )
        planned = plan_maintenance(memories, inputs)
        self.raise_if_cancelled()  # a cancelled plan is empty: it must not withdraw the waiting proposals
        if truncated_count := sum(len(tally.truncated_claims) for tally in inputs.tallies):
            message = _EFFORT_CUT_MESSAGE.format(truncated_count)
            self.problems.append(Problem("too-many-alike", str(self.place.project.memory_dir), message))
        propose_suggestions(self, planned)
        affected_ids = {target.record.id for one in planned for target in one.suggestion.targets}
        affected_ids |= {one.id for one in self.stale}
        self.counts["unchanged"] = len({one.record.id for one in active} - affected_ids)

    def update_outcomes(self) -> None:
        """Computes what became of the memories that agents were given, which changes what their confidence counts as.
        Raises StoppedError."""
        try:
            self.problems += compute_benefit(self.place.project, self.place.home, self.cancelled).problems
        except LerimError as error:  # the other steps work without it
            self.add_problem(error)
        self.raise_if_cancelled()

    def check_freshness(self, active: Sequence[StoredMemory], now: datetime) -> DriftSummary:
        """Returns how the references of active memories drifted; an empty summary if that cannot be determined. Raises
        StoppedError."""
        project = self.place.project
        checker = DriftChecker(project, self.place.home, open_git(project.root, self.environ))
        summaries: list[DriftSummary] = []
        try:
            subjects = [make_drift_subject(one.record) for one in active]
            checker.check(
                now=now,
                subjects=subjects,
                whole=True,
                on_summary=summaries.append,
                raise_if_cancelled=self.raise_if_cancelled,
            )
        except MemoryError_ as error:  # the other steps work without it
            self.add_problem(error)
        return summaries[-1] if summaries else DriftSummary()

    def record_time(self) -> None:
        """Records the time of this run: an idle editor needs it to tell when the next one is due."""
        if self.state == "cancelled":
            return
        try:
            record_maintenance(self.place.project, self.place.home, self.clock())
        except (MemoryError_, OSError) as error:
            cause = error.message if isinstance(error, MemoryError_) else error_reason(error)
            message = f"The time of the maintenance could not be saved: {cause}"
            self.problems.append(Problem("maintained", str(self.place.private), message))

    def repair_links(self) -> bool:
        """Repairs contradictory links between memories. Returns whether any file changed. Raises MemoryError_."""
        self.emit_progress("links")
        repair = acts.repair_links(self.place, self.clock())
        self.problems += repair.problems
        if repair.action is None:
            return False
        self.counts["repaired"] += repair.count
        what = f"{repair.count} link{'s' if repair.count > 1 else ''} between memories"
        reason = "The memory that says it replaces another one is right; the other is corrected."
        self.run.maintain_actions.append(MaintainAction("repaired", what, reason, undo=repair.action))
        return True

    def find_theme_activity(self, memories: Sequence[StoredMemory]) -> dict[str, ThemeActivity]:
        """Returns the activity of each theme, which decides whether it ends. If the catalog cannot be used, returns an
        empty mapping, so that no theme ends for that reason."""
        try:
            return find_theme_activity(self.place.project, self.place.home, memories, self.clock())
        except CatalogError as error:
            self.add_problem(error)
            return {}

    def report(self, seconds: float) -> MaintainReport:
        """Writes the run folder and returns the report."""
        run = self.run
        folder = None
        counts = {name: count for name, count in sorted(self.counts.items()) if count}
        if not self.dry_run:
            run.note(f"{self.state}: {len(run.maintain_actions)} actions")
            run.counts = counts
            folder, problems = try_write_run(run)
            self.problems += problems
        self.emit_progress("cancelled" if self.state == "cancelled" else "done")
        return MaintainReport(
            project=str(self.place.project.root),
            proposals=[candidate_view(one) for one in self.proposals],
            done=run.maintain_actions,
            counts=counts,
            stale=self.stale,
            problems=self.problems,
            state=self.state,
            dry_run=self.dry_run,
            seconds=round(seconds, 3),
            run=str(folder) if folder else "",
        )


def find_stale_memories(active: Iterable[StoredMemory], drift_by_memory: Mapping[str, Drift]) -> list[StaleMemory]:
    """Returns the memories whose referenced code changed or no longer exists, sorted by id."""
    stale: list[StaleMemory] = []
    for record in sorted((one.record for one in active), key=lambda one: one.id):
        drift = drift_by_memory.get(record.id)
        if drift is not None and (drift.state == "drifted" or drift.state == "gone"):
            stale.append(
                StaleMemory(
                    record.id, record.title, drift.state, drift.reference, drift.moved_to, drift.detail, drift.since
                )
            )
    return stale
