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
from lerim.facts.draft import RANKED
from lerim.model_session import ModelSession, work_off
from lerim.models.model import Model
from lerim.models.state import Choice, named
from lerim.models.usage import Step, Waits, Why
from lerim.models.waiting import waits
from lerim.project import Owners
from lerim.report import SessionCounts, SyncReport, combine, unasked
from lerim.review import queue as review
from lerim.session_reading import SessionReading, exists_in
from lerim.sessions.catalog import Catalog, Job
from lerim.sessions.queue import MODEL
from lerim.sessions.stored import EXTRACT
from lerim.sync_context import SyncContext, SyncPart, Tell

if TYPE_CHECKING:
    from lerim.extraction.counts import Counts
    from lerim.extraction.grounding import Said
    from lerim.extraction.guidance import Guidance
    from lerim.extraction.material import Material
    from lerim.extraction.model import Result

NEWEST = 200  # memories whose tags tell what the person cares about


def ask_model(context: SyncContext, report: SyncReport) -> SyncReport:
    """Add to the rules' report what a model finds in the sessions that wait for one. Raises CatalogError."""
    session = ModelSession.open("extract", context)
    if isinstance(session, Choice):
        return unasked(report, session.problems, _waits(context, session.model, session.why))
    try:
        with context.part("asking a model") as part:
            started, since, message = context.started(), context.model_since, f"asking {session.model.name}"
            jobs = part.claims(MODEL, started, since, message)
            work_off(session, part.catalog, jobs, _ModelStep(part, session, context.owners(), context.settings).read)
    except BusyError as error:
        busy = Problem(error.code, error.where, f"No model was asked: {error.explanation}")
        return unasked(report, [*session.problems, busy], _waits(context, session.model, ""))
    label, found = session.model.label, SessionCounts(report.sessions.found)
    summary = f"{label}, {session.usage.calls} calls, {len(part.sink.candidates)} candidates"
    left = _waits(context, session.model, session.why)
    return combine(report, part.finish(found, session.state, summary, asked=[session], model=label, waits=left))


def _waits(context: SyncContext, model: Model | None, why: Why) -> Waits:
    """What waits for this model, and for the one that then summarizes the same sessions."""
    summarizer, _ = named("summarize", context.settings, context.environ)
    since, until = context.model_since, context.options.until
    with Catalog.open(context.home) as catalog:
        return waits(catalog, context.project.key, model, why, summarizer=summarizer, since=since, until=until)


@dataclass(slots=True)
class _ModelStep:
    """One pass over the sessions that wait."""

    part: SyncPart
    session: ModelSession
    owners: Owners
    settings: Settings
    _sent: int = field(default=-1, init=False)
    _most: int = field(default=sys.maxsize, init=False)

    def read(self, job: Job, tell: Tell) -> None:
        """Reads one session, asks about what is new in it, and ends its job. How far it got is kept also where it ends
        in an error.

        Raises StoppedError, TranscriptError, ModelError, SettingsError, MemoryError_.
        """
        from lerim.extraction.counts import Counts
        from lerim.extraction.material import Material
        from lerim.redaction import counting

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
        ready = material.ready(reading.settled)
        last = ready[-1].number if ready else -1
        counts, overlap, self._sent = Counts(self.part.catalog), self.session.model.window_overlap_tokens, material.sent
        try:
            with counting() as secrets:
                if last > material.sent:
                    self._ask(job, material, reading.settled, counts, tell)
        except (LerimError, StoppedError):
            if self._sent > material.sent:
                state = material.state(self._sent, overlap, counts)
                self.part.catalog.progressed(job, reading.resume, state, reading.redactions)
            raise
        state = material.state(max(last, material.sent), overlap, counts)
        counts.keep()
        redactions = reading.redactions + len(secrets)
        self.part.catalog.done(job, reading.resume, state, reading.again_at, redactions=redactions)

    def _ask(self, job: Job, material: Material, settled: bool, counts: Counts, tell: Tell) -> None:
        from lerim.extraction.answered import Answered
        from lerim.extraction.guidance import metadata, metrics, told
        from lerim.extraction.model import Brief, extract

        model, place, engine = self.session.model, self.part.context.place, self.session.engine
        person = self.part.context.options.guidance or self.settings.guidance
        facts, before = material.facts, self._before(job)
        results = extract(
            self.session.lm,
            material,
            Brief(
                metadata(facts, place.project.root.name),
                metrics(facts),
                told(self._guidance(material, settled, before, person)),
            ),
            before,
            settled=settled,
            max_tokens=model.max_window_tokens,
            overlap_tokens=model.window_overlap_tokens,
            limit=lambda: min(self._most, engine.window_tokens),
            lower=self._lower,
            answered=Answered(place.private / "windows", "\n".join((model.label, person)).strip()),
            count=counts,
            gate=self.settings.gate == "signal",
            model=model.label,
        )
        with closing(results):
            for result in results:
                self._take(job, result, tell)

    def _take(self, job: Job, result: Result, tell: Tell) -> None:
        from lerim.extraction.candidate import Candidate, Dropped
        from lerim.extraction.merge import Joined
        from lerim.extraction.model import Asking, ModelRead, Sent

        match result:
            case Asking(part, joining):
                self.part.context.raise_if_cancelled()
                named = ", joining parts" if joining else f", part {part}" if part else ""
                tell(f"asking {self.session.model.name}{named}")
            case ModelRead(turns):
                self.part.sink.leave_out_ranked(job.transcript, turns)
            case Sent(number):
                self._sent = number
            case Candidate() | Dropped():
                self.part.sink.take([result])
            case Joined(kept, gone):
                self.part.sink.join(kept, gone)
            case Step():
                self.session.add(result)
            case Problem():
                self.session.failed(result)

    def _lower(self, tokens: int) -> None:
        """From now on a window has at most so many tokens: the model refused more without saying what it takes."""
        self._most = min(self._most, tokens)

    def _before(self, job: Job) -> list[Said]:
        """What was proposed from this session already: what the rules claimed, and what waits for the person. What only
        ranked high gives way to the model's words, so the model is not kept from saying it."""
        from lerim.extraction.grounding import Said
        from lerim.extraction.state import unpack

        claims = unpack(self.part.catalog.state_of(job, EXTRACT)).claims
        source = f"{job.transcript.platform}:{job.transcript.session_id}#"
        waiting = [
            one.record
            for one in review.pending(self.part.context.place)[0]
            if one.record.source.startswith(source) and not review.only_ranked(one)
        ]
        return [
            *(Said(claim.title, claim.turn) for claim in claims if claim.signal not in RANKED),
            *(
                Said(record.title, record.source.rpartition("#")[2], tuple(item.quote for item in record.evidence))
                for record in waiting
            ),
        ]

    def _guidance(self, material: Material, settled: bool, before: Sequence[Said], person: str) -> Guidance:
        """What the model need not tell (what this session gave already, and memories that say something near), and what
        the person wants it to heed."""
        from lerim.extraction.guidance import TITLES, Guidance, focus, query

        prompts = [turn.words("user") for turn in material.ready(settled) if turn.role == "user"]
        near = self.part.sink.memories.near(query(material.facts, prompts), TITLES)
        newest = self.part.sink.memories.search("", NEWEST)
        known = dict.fromkeys((*(one.title for one in before), *(one.record.title for one in near)))
        return Guidance(tuple(known), focus(hit.record for hit in newest), person)
