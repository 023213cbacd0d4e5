"""What one maintaining of a project's memories does, in order: links, freshness, the plan, proposals. The job process
and the terminal share it.

Nothing is decided here: `maintenance/plan.py` says what should become of the memories, `review/` does it, as a proposal
for the person or, where they set the review to automatic, at once. A kill loses nothing: each proposal is a step of its
own, and the next run finds what waits.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from lerim.config import Settings, load
from lerim.errors import CatalogError, LerimError, MemoryError_, Problem, StoppedError, reason_of
from lerim.jobs.activity import append_activity, log_maintain
from lerim.jobs.last_maintained import record_maintenance
from lerim.jobs.maintain_report import (
    EmitMaintain,
    MaintainOptions,
    MaintainProgress,
    MaintainReport,
    MaintainStage,
    StaleMemory,
)
from lerim.jobs.model_session import ModelSession
from lerim.jobs.report import SyncState
from lerim.maintenance import (
    OWN_WORDS,
    MergeEffort,
    PlannedSuggestion,
    ask_for_insight,
    find_theme_grounds,
    insight_in_words,
    is_in_source_words,
    plan_maintenance,
)
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
    plan_link_repairs,
    subject_of,
    unused_since,
    with_current_status,
)
from lerim.models import EditorBridge, ModelChoice
from lerim.paths import Home
from lerim.project import Project, hold_project_lock, open_git
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
    acts,
    candidate_view,
    make_earlier_result_lookup,
    preview_suggestion,
    suggested_places,
    try_write_run,
)
from lerim.review import queue as review

MOST_WAITING = 50
"""So many proposals of maintain's wait for the person at most: of a long list none is read."""


_CUT = (
    "{:,} memories resemble many others and were compared only with the most similar ones. "
    "Decide what is proposed; the next maintenance finds the rest."
)
_OVER = "The reason for it no longer holds."


def _now() -> datetime:
    return datetime.now(UTC)


def maintain_project(
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    options: MaintainOptions,
    emit: EmitMaintain,
    cancelled: Callable[[], bool],
    clock: Callable[[], datetime] = _now,
    bridge: EditorBridge | None = None,
) -> MaintainReport:
    """One maintaining of a project's memories. `bridge` leads to the editor's own models.

    Raises BusyError while another process works on the project, MemoryError_ where the review cannot be written.
    """
    began = time.monotonic()
    settings, _ = load.load_settings(environ, home, project.root)
    place = ReviewPaths(project, home)
    job = _Job(
        place, settings, environ, options, emit, cancelled, clock, bridge, RunFolder(place, clock(), kind="maintain")
    )
    try:
        if options.dry_run:
            job.work()
        else:
            with hold_project_lock(home, project.key, "maintaining the memories"):
                job.work()
                job.remember()
    except LerimError as error:
        with suppress(OSError):  # a home that cannot be written is what the error itself tells
            spent = time.monotonic() - began
            append_activity(home, clock(), "maintain", project.root.name, f"{error.code}: {error.message}", spent)
        raise
    report = job.report(time.monotonic() - began)
    if not options.dry_run:
        report.problems.extend(log_maintain(home, clock(), report))
    return report


@dataclass(slots=True)
class _Job:
    """One maintaining under way, and what came of it so far."""

    place: ReviewPaths
    settings: Settings
    environ: Mapping[str, str]
    options: MaintainOptions
    emit: EmitMaintain
    cancelled: Callable[[], bool]
    clock: Callable[[], datetime]
    bridge: EditorBridge | None
    run: RunFolder
    state: SyncState = "done"
    counts: Counter[str] = field(default_factory=Counter)
    proposals: list[Proposal] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    stale: list[StaleMemory] = field(default_factory=list)
    lead: ModelSession | ModelChoice | None = None

    @property
    def automatic(self) -> bool:
        """Whether the person set the review to automatic."""
        return self.settings.review_mode == "auto"

    @property
    def home(self) -> Home:
        return self.place.home

    @property
    def explicit(self) -> bool:
        return self.options.explicit

    def work(self) -> None:
        """Everything, in order; ends early when cancelled. Raises MemoryError_."""
        with suppress(StoppedError):
            self.steps()
        if self.cancelled():
            self.state = "cancelled"

    def go_on(self) -> None:
        """Raises StoppedError once the person cancelled."""
        if self.cancelled():
            raise StoppedError

    def steps(self) -> None:
        """The steps in order. Raises MemoryError_, StoppedError."""
        self.tell("reading")
        store = self.place.store()
        memories, problems = load_all(self.place.project, self.place.home, store, self.go_on)
        self.problems += problems
        if not memories:
            return
        wrong = plan_link_repairs(memories)
        if wrong and self.options.dry_run:
            self.counts["repaired"] = len(wrong)
        elif wrong and self.linked():
            memories, _ = load_all(self.place.project, self.place.home, store, self.go_on)
        now = self.clock()
        self.tell("freshness")
        project = self.place.project
        freshness = DriftChecker(project, self.place.home, open_git(project.root, self.environ))
        self.problems += conflicting_answers.find_answer_problems(memories)
        live = [one for one in with_current_status(memories) if one.status == "active"]
        found: list[DriftSummary] = []
        try:
            subjects = [subject_of(one.record) for one in live]
            freshness.check(now=now, subjects=subjects, whole=True, tell=found.append, go_on=self.go_on)
        except MemoryError_ as error:  # all else can be done without it
            self.problem(error)
        standings, moved = (found[-1].drift_by_memory, found[-1].moved_references) if found else ({}, {})
        self.stale = find_stale_memories(live, standings)
        self.counts.update(one.standing for one in self.stale)
        self.tell("planning")
        uses = Uses(self.place.private)
        last = {name: one.last for name, one in uses.of_all().items()}
        accepted = review.acceptance_times(self.place)
        known = {name: last.get(name, accepted.get(name)) for name in (one.record.id for one in memories)}
        used = {one.record.id: unused_since(one, known[one.record.id]) for one in memories}
        kept = uses.last_kept()
        refused = {
            name: why
            for name, (word, at) in uses.last_feedback().items()
            if (why := find_unwanted_reason(word, at, kept.get(name)))
        }
        self.problems += uses.problems
        grounds = self.grounds(memories)
        ours = lambda one: store.ours(one.record.id, one.text_hash)  # noqa: E731
        rules = self.settings.maintenance_rules
        effort = MergeEffort()
        apart = review.pairs_kept_apart(self.place)
        planned = plan_maintenance(
            memories, used, standings, moved, grounds, now, rules, self.cancelled, refused, ours, effort, apart
        )
        self.go_on()  # a plan that was cut short is empty: what waits must not be taken back for it
        if effort.cut:
            self.problems.append(Problem("too-many-alike", str(project.memory_dir), _CUT.format(effort.cut)))
        self.propose(planned)
        concerned = {target.record.id for one in planned for target in one.suggestion.targets}
        concerned |= {one.id for one in self.stale}
        self.counts["unchanged"] = len({one.record.id for one in live} - concerned)

    def remember(self) -> None:
        """Notes what was maintained, for the idle editor."""
        if self.options.dry_run or self.state == "cancelled":
            return
        try:
            record_maintenance(self.place.project, self.place.home, self.clock())
        except (MemoryError_, OSError) as error:
            said = error.message if isinstance(error, MemoryError_) else reason_of(error)
            message = f"The time of the maintenance could not be saved: {said}"
            self.problems.append(Problem("maintained", str(self.place.private), message))

    def linked(self) -> bool:
        """Makes links agree that do not; whether any file was changed. Raises MemoryError_."""
        self.tell("links")
        done = acts.repair_links(self.place)
        self.problems += done.problems
        if done.action is None:
            return False
        self.counts["repaired"] += done.count
        what = f"{done.count} link{'s' if done.count > 1 else ''} between memories"
        reason = "The memory that says it replaces another one is right; the other is corrected."
        self.run.maintained.append(MaintainAction("repaired", what, reason, undo=done.action))
        return True

    def grounds(self, memories: Sequence[StoredMemory]) -> dict[str, ThemeActivity]:
        """What the rules need of each theme; none where the catalog cannot tell, so that no theme ends for that."""
        try:
            return find_theme_grounds(self.place.project, self.place.home, memories)
        except CatalogError as error:
            self.problem(error)
            return {}

    def propose(self, planned: Sequence[PlannedSuggestion]) -> None:
        """Puts each before the person, or does it where the review is automatic. Raises MemoryError_."""
        found = [one.suggestion for one in planned]
        waiting = [one for one in review.list_pending(self.place)[0] if one.maker == "maintain"]
        if not self.options.dry_run:
            waiting = self.taken_back(waiting, found)
        waits = {(one.targets, _about(one)): one for one in waiting}
        room = MOST_WAITING - len(waiting)
        met_before = make_earlier_result_lookup(self.place)
        for number, (why, one) in enumerate((one.why, one.suggestion) for one in planned):
            if self.cancelled():
                return
            self.tell("proposing", number, len(found))
            known = waits.get(
                (tuple(Target(target.record.id, target.text_hash) for target in one.targets), _about(one))
            )
            if known is not None:
                self.counts[why if self.settled(known, one) else "waiting"] += 1
                continue
            if room <= 0 and not self.automatic:
                self.counts["left"] += 1
                continue
            if (met := met_before(one)) is None:
                try:
                    met = self.put(one)
                except LerimError as error:  # the next would meet it, too; what was done is told
                    self.problem(error)
                    return
            if met is None:
                self.counts[why] += 1
                room -= 1
            else:
                self.counts["rejected" if isinstance(met, ClaimBlocked) else "waiting"] += 1

    def taken_back(self, waiting: Sequence[Proposal], found: Sequence[Suggestion]) -> list[Proposal]:
        """Takes back what maintain proposed and would not propose any more; returns what still waits."""
        wanted = {_about(one) for one in found}
        left: list[Proposal] = []
        for proposal in waiting:
            if (
                _about(proposal) in wanted
                or proposal.edited
                or not review.withdraw_candidate(self.place, proposal.id, _OVER)
            ):
                left.append(proposal)
                continue
            self.counts["withdrawn"] += 1
            action = f"withdrawn-{proposal.action}"
            ids = [target.id for target in proposal.targets]
            self.run.maintained.append(MaintainAction(action, proposal.record.title, _OVER, ids, proposal.id))
        return left

    def worded(self, suggestion: Suggestion) -> Suggestion:
        """A consolidation in a model's words where one may be asked and loses nothing; anything else as it is."""
        if suggestion.action != "consolidate" or self.options.model == "none":
            return suggestion
        lead = self.lead = self.lead or self.open_lead()
        if isinstance(lead, ModelChoice) or lead.over:
            return suggestion
        self.tell("asking", message=f"asking {lead.model.name}")
        sources = [one.record for one in suggestion.targets]
        ask = partial(lead.ask_if_possible, ask_for_insight)
        told = insight_in_words(ask, lead.note, suggestion.record, sources)
        if told is None:
            return suggestion
        return replace(suggestion, record=told, flags=() if is_in_source_words(told, sources) else (OWN_WORDS,))

    def open_lead(self) -> ModelSession | ModelChoice:
        """The model that words insights; where none may be asked, why."""
        lead = ModelSession.open("lead", self)
        if isinstance(lead, ModelChoice):
            self.problems += lead.problems
        return lead

    def put(self, suggestion: Suggestion) -> ClaimBlocked | AlreadyKnown | None:
        """Proposes one, accepts it where the review is automatic, and notes what became of it; why it was not proposed.
        Of a dry run, what would be."""
        if self.options.dry_run:
            self.proposals.append(preview_suggestion(self.place, suggestion))
            return None
        suggestion = self.worded(suggestion)
        outcome = review.propose_suggestion(self.place, suggestion)
        if not isinstance(outcome, CandidateProposed):
            return outcome
        proposal = outcome.proposal
        if not self.settled(proposal, suggestion):
            self.proposals.append(proposal)
            self.note(f"proposed-{suggestion.action}", suggestion, proposal)
        return None

    def settled(self, proposal: Proposal, suggestion: Suggestion) -> bool:
        """Accepts a proposal where the review is automatic and nothing speaks against it; whether it did."""
        if not self.automatic or self.options.dry_run:
            return False
        quotes = None if self.settings.quote_sharing == "ask" else self.settings.quote_sharing
        try:
            done = review.auto_accept(self.place, proposal, quotes)
        except LerimError as error:
            self.problem(error)
            return False
        if done is None or not done.ok:
            return False
        self.note(f"accepted-{suggestion.action}", suggestion, proposal, done.action or "")
        return True

    def note(self, did: str, suggestion: Suggestion, proposal: Proposal, undo: str = "") -> None:
        ids = [target.id for target in proposal.targets]
        title = suggestion.record.title
        self.run.maintained.append(MaintainAction(did, title, suggestion.reason, ids, proposal.id, undo))

    def problem(self, error: LerimError) -> None:
        """Something could not be done, and the rest goes on."""
        self.state = "partial"
        self.problems.append(error.problem())

    def tell(self, stage: MaintainStage, done: int = 0, total: int = 0, message: str = "") -> None:
        self.emit(MaintainProgress(stage, done, total, message))

    def report(self, seconds: float) -> MaintainReport:
        """What was done; writes the run folder."""
        run, asked = self.run, self.lead if isinstance(self.lead, ModelSession) else None
        if asked is not None:
            run.spent, run.steps = asked.spent, asked.steps
            self.problems += asked.purse.problems
        folder = None
        counts = {name: count for name, count in sorted(self.counts.items()) if count}
        if not self.options.dry_run:
            run.note(f"{self.state}: {len(run.maintained)} actions")
            run.counts = counts
            folder, problems = try_write_run(run)
            self.problems += problems
        self.tell("cancelled" if self.state == "cancelled" else "done")
        return MaintainReport(
            project=str(self.place.project.root),
            proposals=[candidate_view(one) for one in self.proposals],
            done=run.maintained,
            counts=counts,
            stale=self.stale,
            problems=self.problems,
            state=self.state,
            dry_run=self.options.dry_run,
            model=asked.model.label if asked is not None and run.spent else "none",
            spent=list(run.spent),
            steps=list(run.steps),
            seconds=round(seconds, 3),
            run=str(folder) if folder else "",
        )


def find_stale_memories(live: Iterable[StoredMemory], standings: Mapping[str, Drift]) -> list[StaleMemory]:
    """Those of these memories that drifted or whose place is gone, by id."""
    found: list[StaleMemory] = []
    for record in sorted((one.record for one in live), key=lambda one: one.id):
        at = standings.get(record.id)
        if at is not None and (at.state == "drifted" or at.state == "gone"):
            found.append(StaleMemory(record.id, record.title, at.state, at.reference, at.moved_to, at.detail, at.since))
    return found


def _about(one: Proposal | Suggestion) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """What is to become of which memories, whatever their texts are by now."""
    ids = frozenset(target.id if isinstance(target, Target) else target.record.id for target in one.targets)
    return one.action, ids, suggested_places(one.action, one.record)
