"""From one session's new turns to proposals: the part of a sync that extracts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path

from lerim.errors import LerimError, Problem
from lerim.extraction.candidate import Candidate, Dropped, DropReason, Withdrawn, drop
from lerim.extraction.friction import again
from lerim.extraction.pipeline import Extraction
from lerim.extraction.ranking.personal import Correction
from lerim.memory.quotes import QuoteChoice
from lerim.memory.search import MemorySearch
from lerim.project import Owners
from lerim.redaction import counting
from lerim.report import DroppedView, Emit, Found, SessionCounts, State, SyncReport, WithdrawnView, Withdrew
from lerim.review import queue
from lerim.review.left_out import WHY
from lerim.review.place import Place
from lerim.review.run import MemoryAction, Run
from lerim.review.views import CandidateView, candidate_view
from lerim.sessions.catalog import Job
from lerim.sessions.frictions import Friction
from lerim.sessions.indexing import together
from lerim.sessions.model import Transcript
from lerim.sessions.readers import faults_as_errors, reading

SETTLED_AFTER = timedelta(minutes=15)
"""A session written to more recently than this keeps its last exchange back, unless the person asked (design §3)."""
UNFINISHED_SECONDS = 30.0
"""How long a session waits that was met while its agent wrote it anew."""


class CancelledError(Exception):
    """The person cancelled; what was done stays done, the rest waits."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How far one session was learned from, the errors it `met`, and how many secrets were cut out of what was learned
    of it in all. `again_at` (epoch seconds): its last exchange waits until then."""

    resume: bytes
    state: bytes
    again_at: float | None
    met: tuple[Friction, ...] = ()
    redactions: int = 0


@dataclass(slots=True)
class Learning:
    """What a sync has proposed, dropped, taken back and accepted so far. One Learning belongs to one sync.

    `accept_above`: a candidate at least this sure is accepted unseen, its quotes kept as `quotes` says. `correction` is
    what the person's decisions do to the ranking, read for the first session. `memories` is opened for the first
    candidate and serves them all; `close` it at the end.
    """

    place: Place
    owners: Owners
    emit: Emit
    cancelled: Callable[[], bool]
    explicit: bool
    accept_above: float | None
    quotes: QuoteChoice
    run: Run
    correction: Correction | None = None
    candidates: list[CandidateView] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    withdrawn: list[WithdrawnView] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    memories: MemorySearch | None = None

    def close(self) -> None:
        """Lets go of the memories that candidates were compared with."""
        if self.memories is not None:
            self.memories.close()
            self.memories = None

    def learn(self, job: Job, now: datetime) -> Ended:
        """Extracts from the turns of one transcript that are this project's and proposes what holds.

        Raises CancelledError, TranscriptError if the file cannot be read, MemoryError_ if nothing can be written.
        """
        transcript, project = job.transcript, self.place.project
        if self.correction is None:
            self.correction = queue.correction(self.place.home)
        read = reading(transcript, job.resume)
        turns = iter(read)
        first = next(turns, None)
        # A file that was rewritten is read from its start, and what was open in the old one is void.
        state = None if read.restarted else job.state
        extraction = Extraction(
            None if project.is_personal else project.root,
            transcript.session_id,
            transcript.platform,
            state,
            exists=lambda path: not project.is_personal and (project.root / path).exists(),
            roots=project.folders,
            correction=self.correction,
        )
        settles = datetime.fromtimestamp(transcript.mtime_ns / 1e9, tz=now.tzinfo) + SETTLED_AFTER
        settled = self.explicit or settles <= now
        with counting() as secrets:
            for turn in chain(() if first is None else (first,), turns):
                if self.cancelled():
                    raise CancelledError
                if self.owners.owner(turn.cwd) == project.key:
                    with faults_as_errors(transcript.platform, transcript.place):
                        self.take(extraction.feed(turn))
            with faults_as_errors(transcript.platform, transcript.place):
                self.take(extraction.finish(settled))
        self.problems += (problem for problem in together(read.problems) if problem not in self.problems)
        met = () if transcript.parent else tuple(extraction.met.values())
        cut = len(secrets) + (0 if state is None else job.redactions)
        return Ended(read.resume, extraction.state(), None if settled else settles.timestamp(), met, cut)

    def meet(self, job: Job, met: Iterable[Friction], elsewhere: Callable[[Friction], list[Friction]]) -> None:
        """Proposes what a session met that others had met before. Raises MemoryError_ if nothing can be written."""
        self.take(again(one, before, job.transcript.platform) for one in met if (before := elsewhere(one)))

    def take(self, results: Iterable[Candidate | Dropped | Withdrawn]) -> None:
        """Proposes, notes, leaves out and takes back what extraction yields. Raises MemoryError_ if nothing can be
        written."""
        before = len(self.dropped)
        for result in results:
            self.run.extracted.append(result)
            match result:
                case Candidate():
                    self._propose(result)
                case Dropped():
                    self.dropped.append(result)
                case Withdrawn():
                    self._withdraw(result)
        queue.leave_out(self.place, self.dropped[before:])

    def _propose(self, candidate: Candidate) -> None:
        """A candidate that cannot be written ends this session's job, which is tried again; what was written stays."""
        if self.memories is None:
            self.memories = MemorySearch(self.place.project, self.place.home)
        outcome = queue.propose(self.place, candidate, self.memories)
        match outcome:
            case queue.Proposed(proposal):
                view = candidate_view(proposal, "global" if self.place.project.is_personal else "project")
                self.candidates.append(view)
                self._did(f"proposed-{proposal.action}", proposal.id, candidate.title, proposal.target)
                self.emit(Found(view))
                if proposal.action == "add" and self._may_accept(proposal):
                    self._accept(proposal.id)
            case queue.Blocked(rejected, times):
                self._did("blocked", rejected, candidate.title)
                self._drop(candidate, "rejected-before", f"rejected before, blocked {times} times since")
            case queue.AlreadyKnown(known, reason):
                self._did("known", known, candidate.title, reason=reason)
                self._drop(candidate, "already-known", reason)

    def _may_accept(self, proposal: queue.Proposal) -> bool:
        """Never unseen: a change of a memory, and what `queue.doubted` says a person has to look at."""
        sure = proposal.record.confidence
        return self.accept_above is not None and sure >= self.accept_above and not queue.doubted(proposal)

    def _accept(self, candidate_id: str) -> None:
        try:
            result = queue.accept(self.place, candidate_id, quotes=self.quotes, unseen=True)
        except LerimError as error:
            self.problems.append(Problem(error.code, candidate_id, error.explanation))
            return
        if result.ok:
            self.accepted.append(candidate_id)
            self._did("accepted", candidate_id, "", undo=result.action or "")

    def _drop(self, candidate: Candidate, reason: DropReason, detail: str) -> None:
        self.dropped.append(drop(candidate, reason, detail))

    def _withdraw(self, withdrawn: Withdrawn) -> None:
        for gone in queue.withdraw(self.place, withdrawn.refuted_turn, withdrawn.reason):
            self._gone(gone, withdrawn.reason)

    def join(self, kept: Candidate, gone: Candidate) -> None:
        """Of two candidates proposed in this sync one stays, with the quotes of both. What a person changed stays."""
        if self.memories is None:
            return
        reason = f"joined with: {kept.title}"
        for view in [one for one in self.candidates if (one.turn, one.title) == (gone.turn, gone.title)]:
            for taken in queue.withdraw(self.place, gone.turn, reason, only=view.id):
                self._gone(taken, reason)
                queue.propose(self.place, kept, self.memories)  # what waits gains the quotes

    def leave_out_ranked(self, transcript: Transcript, turns: Collection[str]) -> None:
        """Takes back the candidates of these turns that only the ranker found, because a model has read the turns. They
        are listed as left out. Raises MemoryError_ if nothing can be written."""
        source = f"{transcript.platform}:{transcript.session_id}"
        for gone, dropped in queue.leave_out_ranked(self.place, source, turns):
            self.dropped.append(dropped)
            self._gone(gone, WHY["model-read"])

    def _gone(self, candidate_id: str, reason: str) -> None:
        self.withdrawn.append(WithdrawnView(candidate_id, reason))
        self.emit(Withdrew(candidate_id, reason))
        self.candidates = [view for view in self.candidates if view.id != candidate_id]
        self._did("withdrawn", candidate_id, "", reason=reason)

    def _did(self, action: str, which: str, title: str, memory: str = "", undo: str = "", reason: str = "") -> None:
        self.run.actions.append(MemoryAction(action, which, title, memory, undo, reason))

    def report(self, counts: SessionCounts, state: State, seconds: float, folder: Path | None) -> SyncReport:
        """What this sync, or this part of one, did; `folder` is its run folder."""
        items = [DroppedView(one.reason, one.title, one.session, one.turn, one.detail) for one in self.dropped]
        return SyncReport(
            project=str(self.place.project.root),
            sessions=counts,
            candidates=self.candidates,
            dropped=dict(Counter(item.reason for item in self.dropped)),
            dropped_items=items,
            withdrawn=self.withdrawn,
            problems=self.problems,
            accepted=self.accepted,
            seconds=round(seconds, 3),
            run=str(folder or ""),
            state=state,
        )
