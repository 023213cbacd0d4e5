"""The state that the steps of a maintenance run share, and its last step: it proposes what the plan suggests, or
accepts it if the review is automatic, and withdraws earlier proposals that the plan no longer contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lerim.config import Settings
from lerim.errors import LerimError, Problem, StoppedError
from lerim.jobs.maintain.report import EmitMaintain, MaintainProgress, MaintainStage, StaleMemory
from lerim.jobs.report import SyncState
from lerim.maintenance import PlannedSuggestion
from lerim.review import (
    AlreadyKnown,
    CandidateProposed,
    ClaimBlocked,
    MaintainAction,
    Proposal,
    ReviewPaths,
    RunFolder,
    Suggestion,
    Target,
    make_earlier_result_lookup,
    preview_suggestion,
    suggested_places,
)
from lerim.review import queue as review

MAX_WAITING_PROPOSALS = 50
"""How many maintenance proposals may wait for the person. Nobody reads a longer list."""
_OUTDATED_REASON = "The reason for it no longer holds."


@dataclass(slots=True)
class MaintainJob:
    """One maintenance run of a project: its inputs and results so far. `dry_run`: write nothing in the repository.
    `proposals` are those made so far."""

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
    proposals: list[Proposal] = field(default_factory=list)

    @property
    def automatic(self) -> bool:
        """Whether the settings make the review automatic."""
        return self.settings.review_mode == "auto"

    def raise_if_cancelled(self) -> None:
        """Raises StoppedError if the person has cancelled."""
        if self.cancelled():
            raise StoppedError

    def add_problem(self, error: LerimError) -> None:
        """Records the failure of one step; the other steps still run."""
        self.state = "partial"
        self.problems.append(error.problem())

    def emit_progress(self, stage: MaintainStage, done: int = 0, total: int = 0) -> None:
        """Emits progress: `done` of `total` items of this stage."""
        self.emit(MaintainProgress(stage, done, total))


def propose_suggestions(job: MaintainJob, planned: Sequence[PlannedSuggestion]) -> None:
    """Proposes each suggestion, or accepts it if the review is automatic. Raises MemoryError_."""
    suggestions = [one.suggestion for one in planned]
    waiting = [one for one in review.list_pending(job.place)[0] if one.maker == "maintain"]
    if not job.dry_run:
        waiting = _withdraw_outdated(job, waiting, suggestions)
    waiting_by_key = {(one.targets, _proposal_key(one)): one for one in waiting}
    free_slots = MAX_WAITING_PROPOSALS - len(waiting)
    find_earlier_result = make_earlier_result_lookup(job.place)
    for number, (category, one) in enumerate((one.category, one.suggestion) for one in planned):
        if job.cancelled():
            return
        job.emit_progress("proposing", number, len(suggestions))
        known = waiting_by_key.get(
            (tuple(Target(target.record.id, target.text_hash) for target in one.targets), _proposal_key(one))
        )
        if known is not None:
            job.counts[category if _try_auto_accept(job, known, one) else "waiting"] += 1
            continue
        if free_slots <= 0 and not job.automatic:
            job.counts["left"] += 1
            continue
        if (rejection := find_earlier_result(one)) is None:
            try:
                rejection = _propose_one(job, one)
            except LerimError as error:  # the next one would fail the same way; what was done so far is reported
                job.add_problem(error)
                return
        if rejection is None:
            job.counts[category] += 1
            free_slots -= 1
        else:
            job.counts["rejected" if isinstance(rejection, ClaimBlocked) else "waiting"] += 1


def _withdraw_outdated(
    job: MaintainJob, waiting: Sequence[Proposal], suggestions: Sequence[Suggestion]
) -> list[Proposal]:
    """Withdraws the waiting proposals that are no longer suggested. Returns those that still wait."""
    wanted = {_proposal_key(one) for one in suggestions}
    still_waiting: list[Proposal] = []
    for proposal in waiting:
        if (
            _proposal_key(proposal) in wanted
            or proposal.edited
            or not review.withdraw_candidate(job.place, proposal.id, _OUTDATED_REASON)
        ):
            still_waiting.append(proposal)
            continue
        job.counts["withdrawn"] += 1
        action = f"withdrawn-{proposal.action}"
        ids = [target.id for target in proposal.targets]
        job.run.maintain_actions.append(
            MaintainAction(action, proposal.record.title, _OUTDATED_REASON, ids, proposal.id)
        )
    return still_waiting


def _propose_one(job: MaintainJob, suggestion: Suggestion) -> ClaimBlocked | AlreadyKnown | None:
    """Proposes one suggestion, accepts it if the review is automatic, and records the outcome. A dry run only adds a
    preview to `proposals`. Returns why it was not proposed, or None."""
    if job.dry_run:
        job.proposals.append(preview_suggestion(job.place, suggestion))
        return None
    outcome = review.propose_suggestion(job.place, suggestion)
    if not isinstance(outcome, CandidateProposed):
        return outcome
    proposal = outcome.proposal
    if not _try_auto_accept(job, proposal, suggestion):
        job.proposals.append(proposal)
        _record_action(job, f"proposed-{suggestion.action}", suggestion, proposal)
    return None


def _try_auto_accept(job: MaintainJob, proposal: Proposal, suggestion: Suggestion) -> bool:
    if not job.automatic or job.dry_run:
        return False
    quotes = None if job.settings.quote_sharing == "ask" else job.settings.quote_sharing
    try:
        result = review.auto_accept(job.place, proposal, quotes, now=job.clock())
    except LerimError as error:
        job.add_problem(error)
        return False
    if result is None or not result.ok:
        return False
    _record_action(job, f"accepted-{suggestion.action}", suggestion, proposal, result.action or "")
    return True


def _record_action(job: MaintainJob, action: str, suggestion: Suggestion, proposal: Proposal, undo: str = "") -> None:
    ids = [target.id for target in proposal.targets]
    title = suggestion.record.title
    job.run.maintain_actions.append(MaintainAction(action, title, suggestion.reason, ids, proposal.id, undo))


def _proposal_key(one: Proposal | Suggestion) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """Returns the action, the ids of the memories and the suggested places. Proposals with the same key are the same,
    even if the texts of the memories have changed."""
    ids = frozenset(target.id if isinstance(target, Target) else target.record.id for target in one.targets)
    return one.action, ids, suggested_places(one.action, one.record)
