"""The part of a sync in which a model reads the sessions that the rules have read and proposes what they missed.

Errors here do not affect what the rules proposed. If the person has not agreed to the model yet, or the day's budget is
used up, that is not an error: the report says what waits and why. If reading a session fails, its results so far are
kept, and the next sync continues there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from lerim import extraction
from lerim.config import Settings
from lerim.errors import BusyError, LerimError, Problem, StoppedError
from lerim.jobs.extracting import SessionReading, earlier_progress, make_material
from lerim.jobs.model_session import ModelSession, ask_about_jobs, make_session_extraction
from lerim.jobs.report import SessionCounts, SyncReport, combine_reports, with_no_model_asked
from lerim.jobs.sync_context import EmitMessage, SyncContext, SyncPart
from lerim.models import Model, ModelChoice, ModelStep, WaitingWork, WaitReason, estimate_waiting, find_role_model
from lerim.project import FolderOwners
from lerim.redaction import collect_redactions
from lerim.review import queue as review
from lerim.sessions import EXTRACT_JOB, MODEL_JOB, Catalog, QueueJob

MAX_TAGGED_MEMORIES = 200
"""How many of the newest memories are read for their tags, which show what the person cares about."""


def ask_model(context: SyncContext, report: SyncReport) -> SyncReport:
    """Lets the extraction model read the sessions that wait for it. Returns the report with its results added. Raises
    CatalogError."""
    session = context.open_model("extract")
    if isinstance(session, ModelChoice):
        return with_no_model_asked(
            report, session.problems, _estimate_waiting_work(context, session.model, session.why)
        )
    try:
        with context.open_part("asking a model") as part:
            started, since, message = context.explicit_start(), context.model_since, f"asking {session.model.name}"
            jobs = part.claim_jobs(MODEL_JOB, started, since, message)
            ask_about_jobs(
                session,
                part.catalog,
                jobs,
                _ModelPass(part, session, context.folder_owners(), context.settings).read_session,
            )
    except BusyError as error:
        busy = Problem(error.code, error.where, f"No model was used: {error.explanation}")
        return with_no_model_asked(
            report, [*session.problems, busy], _estimate_waiting_work(context, session.model, "")
        )
    label, found = session.model.label, SessionCounts(report.sessions.found)
    summary = f"{label}, {session.usage.calls} calls, {len(part.sink.candidates)} candidates"
    waits = _estimate_waiting_work(context, session.model, session.wait_reason)
    return combine_reports(
        report, part.finish(found, session.state, summary, model_sessions=[session], model=label, waits=waits)
    )


def _estimate_waiting_work(context: SyncContext, model: Model | None, why: WaitReason) -> WaitingWork:
    summarizer, _ = find_role_model("summarize", context.settings, context.environ)
    since, until = context.model_since, context.options.until
    with Catalog.open(context.home) as catalog:
        return estimate_waiting(
            catalog, context.project.key, model, why, summarizer=summarizer, since=since, until=until
        )


@dataclass(slots=True)
class _ModelPass:
    """One pass over the sessions that wait for a model."""

    part: SyncPart
    session: ModelSession
    owners: FolderOwners
    settings: Settings
    _last_sent_turn: int = field(default=-1, init=False)
    """The number of the last turn of the current session that the model was sent, -1 for none."""
    _max_window_tokens: int = field(default=sys.maxsize, init=False)
    """The limit learned from refused windows; it holds for the rest of the pass."""

    def read_session(self, job: QueueJob, emit_message: EmitMessage) -> None:
        """Reads one session, asks about its new turns, and ends its job. The progress is saved even if an error ends
        it. Raises StoppedError, TranscriptError, ModelError, SettingsError, MemoryError_."""
        context = self.part.context
        scope = context.reading_scope(self.owners)
        reading = SessionReading(job.transcript, scope, earlier_progress(job), context.cancelled)
        material = make_material(context.project, job.transcript, reading.state)
        for turn in reading:
            with reading.faults_as_errors():
                material.add(turn)
        ready = material.window_turns(reading.is_settled)
        last = ready[-1].number if ready else -1
        token_counter, overlap = extraction.TokenCounter(self.part.catalog), self.session.model.window_overlap_tokens
        self._last_sent_turn = material.last_sent
        try:
            with collect_redactions() as secrets:
                if last > material.last_sent:
                    self._ask(job, material, reading.is_settled, token_counter, emit_message)
        except (LerimError, StoppedError):
            if self._last_sent_turn > material.last_sent:
                state = material.state(self._last_sent_turn, overlap, token_counter)
                self.part.catalog.keep_job_progress(job, reading.resume, state, reading.redactions)
            raise
        state = material.state(max(last, material.last_sent), overlap, token_counter)
        token_counter.store()
        redactions = reading.redactions + len(secrets)
        self.part.catalog.finish_job(job, reading.resume, state, reading.due_in, redactions=redactions)

    def _ask(
        self,
        job: QueueJob,
        material: extraction.Material,
        is_settled: bool,
        token_counter: extraction.TokenCounter,
        emit_message: EmitMessage,
    ) -> None:
        """Sends the new turns in windows and handles the results as they come. Raises StoppedError, ModelError."""
        engine, earlier_claims = self.session.engine, self._load_earlier_claims(job)
        guidance = self._make_guidance(material, is_settled, earlier_claims)
        gate, place = self.settings.window_gate == "signal", self.part.context.place
        questions = make_session_extraction(self.session, material, place, guidance, earlier_claims, gate=gate)
        questions.settled, questions.count = is_settled, token_counter
        questions.limit = lambda: min(self._max_window_tokens, engine.window_tokens)
        questions.lower_limit = self._lower_window_limit
        with closing(questions.run()) as results:
            for result in results:
                self._handle_result(job, result, emit_message)

    def _handle_result(self, job: QueueJob, result: extraction.ModelResult, emit_message: EmitMessage) -> None:
        match result:
            case extraction.ExtractionCallStarted(part, joining):
                self.part.context.raise_if_cancelled()
                suffix = ", joining parts" if joining else f", part {part}" if part else ""
                emit_message(f"asking {self.session.model.name}{suffix}")
            case extraction.TurnsRead(turns):
                self.part.sink.leave_out_ranked(job.transcript, turns)
            case extraction.TurnsSent(number):
                self._last_sent_turn = number
            case extraction.Candidate() | extraction.DroppedSignal():
                self.part.sink.handle_results([result])
            case extraction.JoinedCandidates(merged, withdrawn):
                self.part.sink.merge_candidates(merged, withdrawn)
            case ModelStep():
                self.session.add_step(result)
            case Problem():
                self.session.add_problem(result)

    def _lower_window_limit(self, tokens: int) -> None:
        self._max_window_tokens = min(self._max_window_tokens, tokens)

    def _load_earlier_claims(self, job: QueueJob) -> list[extraction.EarlierClaim]:
        """Returns the claims proposed from this session already: those of the rules, and those that wait for the
        person.

        Candidates that only the ranker found are left out, so that the model may propose them in its own words; they
        give way to it.
        """
        claims = extraction.unpack_state(self.part.catalog.load_other_state(job, EXTRACT_JOB)).claims
        by_rules = [
            extraction.EarlierClaim(claim.title, claim.turn)
            for claim in claims
            if claim.signal not in extraction.RANKED_SIGNALS
        ]
        source = f"{job.transcript.platform}:{job.transcript.session_id}"
        waiting = [
            extraction.EarlierClaim(one.record.title, one.turn, tuple(item.quote for item in one.record.evidence))
            for one in review.list_pending_of_session(self.part.context.place, source)
            if not review.is_only_ranked(one)
        ]
        return [*by_rules, *waiting]

    def _make_guidance(
        self, material: extraction.Material, is_settled: bool, earlier_claims: Sequence[extraction.EarlierClaim]
    ) -> extraction.Guidance:
        """Returns the guidance for the model: what it need not propose again (earlier claims of this session, similar
        memories), what the person cares about, and the person's own instruction."""
        related = self.part.sink.memories.find_sharing_words(
            extraction.make_related_query(material, is_settled), extraction.MAX_KNOWN_TITLES
        )
        newest = self.part.sink.memories.search("", MAX_TAGGED_MEMORIES)
        known = dict.fromkeys((*(one.title for one in earlier_claims), *(one.record.title for one in related)))
        user_guidance = self.part.context.options.guidance or self.settings.guidance
        return extraction.Guidance(tuple(known), extraction.find_focus(hit.record for hit in newest), user_guidance)
