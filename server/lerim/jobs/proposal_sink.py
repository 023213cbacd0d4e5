"""Handles what a sync extracts: proposes candidates, withdraws those that a later turn refutes, and records each
outcome for the report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lerim.errors import LerimError, Problem
from lerim.extraction import Candidate, DroppedSignal, DropReason, Withdrawal, drop_candidate
from lerim.jobs.report import CandidateFound, CandidateWithdrawn, EmitSyncEvent, WithdrawnView
from lerim.memory import MemorySearch, QuoteChoice
from lerim.review import DROP_REASON_TEXTS, CandidateView, MemoryAction, ReviewPaths, RunFolder, candidate_view, queue
from lerim.sessions import Transcript


@dataclass(slots=True)
class ProposalSink:
    """Collects what one part of a sync proposes, drops, withdraws and accepts. Close it at the end.

    A candidate with at least the confidence `accept_above` is accepted without a review, its quotes kept as `quotes`
    says.
    """

    place: ReviewPaths
    emit: EmitSyncEvent
    accept_above: float | None
    quotes: QuoteChoice
    run: RunFolder
    clock: Callable[[], datetime]
    candidates: list[CandidateView] = field(default_factory=list)
    dropped: list[DroppedSignal] = field(default_factory=list)
    withdrawn: list[WithdrawnView] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    _memories: MemorySearch | None = field(default=None, init=False)

    def close(self) -> None:
        """Closes the memories that candidates were compared with."""
        if self._memories is not None:
            self._memories.close()
            self._memories = None

    @property
    def memories(self) -> MemorySearch:
        """The project's memories, opened at the first use and shared by all candidates."""
        if self._memories is None:
            self._memories = MemorySearch(self.place.project, self.place.home)
        return self._memories

    def handle_results(self, results: Iterable[Candidate | DroppedSignal | Withdrawal]) -> None:
        """Proposes candidates, lists what was dropped as left out, and withdraws what a later turn refutes.

        Raises MemoryError_ if a candidate cannot be written: the job of its session is then tried again.
        """
        dropped_before = len(self.dropped)
        for result in results:
            self.run.extracted.append(result)
            match result:
                case Candidate():
                    self._propose(result)
                case DroppedSignal():
                    self.dropped.append(result)
                case Withdrawal():
                    self._withdraw(result)
        queue.keep_left_out(self.place, self.dropped[dropped_before:])

    def merge_candidates(self, merged: Candidate, withdrawn: Candidate) -> None:
        """Withdraws `withdrawn` and adds its quotes to `merged`; both are of this sync. A candidate that a person
        edited is not withdrawn."""
        reason = f"joined with: {merged.title}"
        for view in [one for one in self.candidates if (one.turn, one.title) == (withdrawn.turn, withdrawn.title)]:
            if queue.withdraw_candidate(self.place, view.id, reason):
                self._record_withdrawal(view.id, reason)
                queue.propose_candidate(self.place, merged, self.memories)  # adds the quotes to the waiting one

    def leave_out_ranked(self, transcript: Transcript, turns: Collection[str]) -> None:
        """Withdraws the candidates that only the ranker found in these turns, because a model has read the turns; lists
        them as left out. Raises MemoryError_ if nothing can be written."""
        source = f"{transcript.platform}:{transcript.session_id}"
        for candidate_id, dropped in queue.leave_out_ranked(self.place, source, turns):
            self.dropped.append(dropped)
            self._record_withdrawal(candidate_id, DROP_REASON_TEXTS["model-read"])

    def _propose(self, candidate: Candidate) -> None:
        outcome = queue.propose_candidate(self.place, candidate, self.memories)
        match outcome:
            case queue.CandidateProposed(proposal):
                view = candidate_view(proposal, "global" if self.place.project.is_personal else "project")
                self.candidates.append(view)
                self._record_action(f"proposed-{proposal.action}", proposal.id, candidate.title, proposal.target)
                self.emit(CandidateFound(view))
                if proposal.action == "add" and self._may_accept(proposal):
                    self._accept(proposal)
            case queue.ClaimBlocked(rejected, times):
                self._record_action("blocked", rejected, candidate.title)
                self._drop(candidate, "rejected-before", f"rejected before, blocked {times} times since")
            case queue.AlreadyKnown(known, reason):
                self._record_action("known", known, candidate.title, reason=reason)
                self._drop(candidate, "already-known", reason)

    def _may_accept(self, proposal: queue.Proposal) -> bool:
        """Returns whether a candidate may be accepted without a review: never one that `queue.doubt_reason` objects
        to."""
        confidence = proposal.record.confidence
        return self.accept_above is not None and confidence >= self.accept_above and not queue.doubt_reason(proposal)

    def _accept(self, proposal: queue.Proposal) -> None:
        try:
            result = queue.accept_candidate(
                self.place, proposal.id, quotes=self.quotes, now=self.clock(), automatic=True
            )
        except LerimError as error:
            self.problems.append(Problem(error.code, proposal.id, error.explanation))
            return
        if result.ok:
            self.accepted.append(proposal.id)
            memory = Path(result.path).stem if result.path else ""
            self._record_action("accepted", proposal.id, proposal.record.title, memory, result.action or "")

    def _drop(self, candidate: Candidate, reason: DropReason, detail: str) -> None:
        self.dropped.append(drop_candidate(candidate, reason, detail))

    def _withdraw(self, withdrawal: Withdrawal) -> None:
        refuted = queue.withdraw_candidates(
            self.place, withdrawal.refuted_turn, withdrawal.reason, title=withdrawal.title
        )
        for candidate_id in refuted:
            self._record_withdrawal(candidate_id, withdrawal.reason)

    def _record_withdrawal(self, candidate_id: str, reason: str) -> None:
        self.withdrawn.append(WithdrawnView(candidate_id, reason))
        self.emit(CandidateWithdrawn(candidate_id, reason))
        title = next((view.title for view in self.candidates if view.id == candidate_id), "")
        self.candidates = [view for view in self.candidates if view.id != candidate_id]
        self._record_action("withdrawn", candidate_id, title, reason=reason)

    def _record_action(
        self, action: str, candidate_id: str, title: str, memory: str = "", undo: str = "", reason: str = ""
    ) -> None:
        self.run.actions.append(MemoryAction(action, candidate_id, title, memory, undo, reason))
