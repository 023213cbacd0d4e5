"""The part of a sync in which a model reads the sessions that the rules have read, and proposes what it finds besides.

What the rules proposed stands whatever happens here. Where the person did not agree to the model yet, or the day's
budget is used up, the report says what waits and why: that is no fault. What came of a session before its trouble is
kept, and the next sync goes on there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lerim.config import Settings
from lerim.errors import BusyError, LerimError, Problem, StoppedError
from lerim.extraction import RANKED_SIGNALS
from lerim.jobs.model_session import ModelSession, ask_about_jobs
from lerim.jobs.report import SessionCounts, SyncReport, combine_reports, with_no_model_asked
from lerim.jobs.session_reading import SessionReading, exists_in
from lerim.jobs.sync_context import SyncContext, SyncPart, Tell
from lerim.models import Model, ModelChoice, ModelStep, WaitingWork, WaitReason, estimate_waiting, find_role_model
from lerim.project import FolderOwners
from lerim.review import queue as review
from lerim.sessions import EXTRACT_JOB, MODEL_JOB, Catalog, QueueJob

if TYPE_CHECKING:
    from lerim.extraction import EarlierClaim, Guidance, Material, ModelResult, TokenCounter

MAX_TAGGED_MEMORIES = 200
"""How many of the newest memories are read for their tags, which show what the person cares about."""


def ask_model(context: SyncContext, report: SyncReport) -> SyncReport:
    """Add to the rules' report what a model finds in the sessions that wait for one. Raises CatalogError."""
    session = ModelSession.open("extract", context)
    if isinstance(session, ModelChoice):
        return with_no_model_asked(
            report, session.problems, _estimate_waiting_work(context, session.model, session.why)
        )
    try:
        with context.part("asking a model") as part:
            started, since, message = context.started(), context.model_since, f"asking {session.model.name}"
            jobs = part.claims(MODEL_JOB, started, since, message)
            ask_about_jobs(
                session, part.catalog, jobs, _ModelPass(part, session, context.owners(), context.settings).read
            )
    except BusyError as error:
        busy = Problem(error.code, error.where, f"No model was used: {error.explanation}")
        return with_no_model_asked(
            report, [*session.problems, busy], _estimate_waiting_work(context, session.model, "")
        )
    label, found = session.model.label, SessionCounts(report.sessions.found)
    summary = f"{label}, {session.usage.calls} calls, {len(part.sink.candidates)} candidates"
    left = _estimate_waiting_work(context, session.model, session.wait_reason)
    return combine_reports(report, part.finish(found, session.state, summary, asked=[session], model=label, waits=left))


def _estimate_waiting_work(context: SyncContext, model: Model | None, why: WaitReason) -> WaitingWork:
    """What waits for this model, and for the one that then summarizes the same sessions."""
    summarizer, _ = find_role_model("summarize", context.settings, context.environ)
    since, until = context.model_since, context.options.until
    with Catalog.open(context.home) as catalog:
        return estimate_waiting(
            catalog, context.project.key, model, why, summarizer=summarizer, since=since, until=until
        )


@dataclass(slots=True)
class _ModelPass:
    """One pass over the sessions that wait."""

    part: SyncPart
    session: ModelSession
    owners: FolderOwners
    settings: Settings
    _sent: int = field(default=-1, init=False)
    _most: int = field(default=sys.maxsize, init=False)

    def read(self, job: QueueJob, tell: Tell) -> None:
        """Reads one session, asks about what is new in it, and ends its job. How far it got is kept also where it ends
        in an error.

        Raises StoppedError, TranscriptError, ModelError, SettingsError, MemoryError_.
        """
        from lerim.extraction import Material, TokenCounter
        from lerim.redaction import collect_redactions

        project, one = self.part.context.project, job.transcript
        reading = SessionReading(job, self.part.context, self.owners)
        material = Material(
            None if project.is_personal else project.root,
            one.session_id,
            one.platform,
            reading.state,
            exists=exists_in(project),
            roots=project.folders,
        )
        for turn in reading:
            with reading.guarded():
                material.add(turn)
        ready = material.window_turns(reading.settled)
        last = ready[-1].number if ready else -1
        counts, overlap, self._sent = (
            TokenCounter(self.part.catalog),
            self.session.model.window_overlap_tokens,
            material.last_sent,
        )
        try:
            with collect_redactions() as secrets:
                if last > material.last_sent:
                    self._ask(job, material, reading.settled, counts, tell)
        except (LerimError, StoppedError):
            if self._sent > material.last_sent:
                state = material.state(self._sent, overlap, counts)
                self.part.catalog.keep_job_progress(job, reading.resume, state, reading.redactions)
            raise
        state = material.state(max(last, material.last_sent), overlap, counts)
        counts.store()
        redactions = reading.redactions + len(secrets)
        self.part.catalog.finish_job(job, reading.resume, state, reading.again_at, redactions=redactions)

    def _ask(self, job: QueueJob, material: Material, settled: bool, counts: TokenCounter, tell: Tell) -> None:
        from lerim.extraction import (
            ExtractionBrief,
            WindowAnswerCache,
            extract_candidates,
            guidance_json,
            metadata_json,
            metrics_json,
        )

        model, place, engine = self.session.model, self.part.context.place, self.session.engine
        person = self.part.context.options.guidance or self.settings.guidance
        facts, before = material.facts, self._before(job)
        results = extract_candidates(
            self.session.lm,
            material,
            ExtractionBrief(
                metadata_json(facts, place.project.root.name),
                metrics_json(facts),
                guidance_json(self._guidance(material, settled, before, person)),
            ),
            before,
            settled=settled,
            max_tokens=model.max_window_tokens,
            overlap_tokens=model.window_overlap_tokens,
            limit=lambda: min(self._most, engine.window_tokens),
            lower=self._lower,
            answered=WindowAnswerCache(place.private / "windows", "\n".join((model.label, person)).strip()),
            count=counts,
            gate=self.settings.window_gate == "signal",
            model=model.label,
        )
        with closing(results):
            for result in results:
                self._take(job, result, tell)

    def _take(self, job: QueueJob, result: ModelResult, tell: Tell) -> None:
        from lerim.extraction import (
            Candidate,
            DroppedSignal,
            ExtractionCallStarted,
            JoinedCandidates,
            TurnsRead,
            TurnsSent,
        )

        match result:
            case ExtractionCallStarted(part, joining):
                self.part.context.raise_if_cancelled()
                named = ", joining parts" if joining else f", part {part}" if part else ""
                tell(f"asking {self.session.model.name}{named}")
            case TurnsRead(turns):
                self.part.sink.leave_out_ranked(job.transcript, turns)
            case TurnsSent(number):
                self._sent = number
            case Candidate() | DroppedSignal():
                self.part.sink.take([result])
            case JoinedCandidates(merged, withdrawn):
                self.part.sink.join(merged, withdrawn)
            case ModelStep():
                self.session.add_step(result)
            case Problem():
                self.session.add_problem(result)

    def _lower(self, tokens: int) -> None:
        """From now on a window has at most so many tokens: the model refused more without saying what it takes."""
        self._most = min(self._most, tokens)

    def _before(self, job: QueueJob) -> list[EarlierClaim]:
        """What was proposed from this session already: what the rules claimed, and what waits for the person. What only
        ranked high gives way to the model's words, so the model is not kept from saying it."""
        from lerim.extraction import EarlierClaim, unpack_state

        claims = unpack_state(self.part.catalog.load_other_state(job, EXTRACT_JOB)).claims
        source = f"{job.transcript.platform}:{job.transcript.session_id}#"
        waiting = [
            one.record
            for one in review.list_pending(self.part.context.place)[0]
            if one.record.source.startswith(source) and not review.is_only_ranked(one)
        ]
        return [
            *(EarlierClaim(claim.title, claim.turn) for claim in claims if claim.signal not in RANKED_SIGNALS),
            *(
                EarlierClaim(
                    record.title, record.source.rpartition("#")[2], tuple(item.quote for item in record.evidence)
                )
                for record in waiting
            ),
        ]

    def _guidance(self, material: Material, settled: bool, before: Sequence[EarlierClaim], person: str) -> Guidance:
        """What the model need not tell (what this session gave already, and memories that say something near), and what
        the person wants it to heed."""
        from lerim.extraction import MAX_KNOWN_TITLES, Guidance, find_focus, make_related_query

        prompts = [turn.words("user") for turn in material.window_turns(settled) if turn.role == "user"]
        near = self.part.sink.memories.find_sharing_words(make_related_query(material.facts, prompts), MAX_KNOWN_TITLES)
        newest = self.part.sink.memories.search("", MAX_TAGGED_MEMORIES)
        known = dict.fromkeys((*(one.title for one in before), *(one.record.title for one in near)))
        return Guidance(tuple(known), find_focus(hit.record for hit in newest), person)
