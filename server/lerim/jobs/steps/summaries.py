"""The part of a sync that summarizes sessions, after all candidates: by rules, and then by a model if one is chosen.

Summaries are memories that nobody reviews: they are git-ignored, and no hover, lens or search shows them. They are
written only if the project has a `.lerim/` folder already. A summary by the rules stays until a model has written a
better one. A model's answers about parts of a session are kept even if an error ends the summary.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial

from lerim import extraction
from lerim.config import editor
from lerim.errors import BoundaryError, BusyError, LerimError, MemoryError_, Problem, StoppedError, TranscriptError
from lerim.jobs.extracting import make_locator
from lerim.jobs.model_session import ModelSession, ask_about_jobs
from lerim.jobs.proposal_sink import ProposalSink
from lerim.jobs.report import SessionCounts, SyncReport, combine_reports, with_no_model_asked
from lerim.jobs.sync_context import EmitMessage, SyncContext, SyncPart
from lerim.memory import MemoryRecord, Summaries, open_summaries
from lerim.models import ModelChoice, WaitingWork, choose_model
from lerim.project import Project
from lerim.redaction import clean_text
from lerim.review import SummaryAction
from lerim.sessions import (
    PLATFORM_NAMES,
    SUMMARY_JOB,
    SUMMARY_MODEL_JOB,
    Catalog,
    PendingSummary,
    Platform,
    QueueJob,
    SummaryTurn,
    convert_sqlite_errors,
    faults_as_errors,
    find_settling_time,
    list_facts,
    list_pending_summaries,
    load_summary_turns,
    settle_summaries,
)

RULES = "rules"
CONFIDENCE_BY_RULES: dict[bool, float] = {True: 0.9, False: 0.7}
"""The confidence of a summary: True for one by the rules, which only state recorded facts, False for a model's."""
MODEL_WAIT_SECONDS = 15 * 60.0
"""How long nothing may have been written to a session until a model summarizes it, unless the person started the sync:
a model would otherwise be paid at each pause of a conversation."""
BATCH_SIZE = 50
"""How many sessions are summarized before the catalog is updated; so many take less than a second."""


def summarize_by_rules(part: SyncPart, model_available: Callable[[], bool], since: datetime | None) -> None:
    """Writes missing and outdated summaries by rules, the newest session first.

    If `model_available` returns True, summaries that a model wrote before are left to the model. If a file cannot be
    written, that is a problem in the report and the rest waits. Raises CatalogError.
    """
    context, catalog, place = part.context, part.catalog, part.sink.place
    if not place.state.is_dir():
        return
    with convert_sqlite_errors(catalog.path):
        as_of = context.options.as_of
        sessions = list_pending_summaries(catalog.db, place.project.key, since, context.options.until, as_of)
    if not context.explicit:
        now = context.clock().timestamp()
        sessions = [one for one in sessions if find_settling_time(one.changed_at, now) is None]
    if not sessions:
        return
    try:
        place.make_state_folder()
        place.make_private_folder()
        with open_summaries(place.state / "memory", place.state_anchor, place.private) as summaries:
            for number in range(0, len(sessions), BATCH_SIZE):
                if len(sessions) > BATCH_SIZE:
                    part.emit_progress(number, len(sessions), "summarizing sessions")
                _summarize_batch(part, summaries, sessions[number : number + BATCH_SIZE], model_available)
                if context.cancelled():
                    break
    except (MemoryError_, BoundaryError) as error:
        part.sink.problems.append(error.problem())


def _summarize_batch(
    part: SyncPart, summaries: Summaries, sessions: Sequence[PendingSummary], model_available: Callable[[], bool]
) -> None:
    """Summarizes sessions, then updates the catalog for all of them at once. Raises MemoryError_, BoundaryError."""
    summarized: list[int] = []
    others: list[int] = []
    try:
        for one in sessions:
            if part.context.cancelled():
                return
            maker = summaries.made_by(f"{one.platform}:{one.session_id}")
            left_to_model = maker not in ("", RULES) and model_available()
            is_summarized = left_to_model or _summarize_one(part.catalog, part.sink, summaries, one)
            (summarized if is_summarized else others).append(one.job)
    finally:
        with convert_sqlite_errors(part.catalog.path):
            settle_summaries(part.catalog.db, summarized, others)


def _summarize_one(catalog: Catalog, sink: ProposalSink, summaries: Summaries, one: PendingSummary) -> bool:
    """Summarizes a session by rules. Returns False if there is nothing to summarize or a person edited the summary.

    Raises MemoryError_, BoundaryError.
    """
    place = sink.place
    with convert_sqlite_errors(catalog.path):
        turns = load_summary_turns(catalog.db, one.place, place.project.key)
        facts = _make_facts(catalog, one.platform, one.place, one.title)
    try:
        with faults_as_errors(one.platform, one.place):
            summary = extraction.summarize_by_rules(turns, facts, locate_paths(place.project, turns))
    except TranscriptError as error:
        sink.problems.append(error.problem(one.place))
        return False
    return summary is not None and _write_summary(summaries, summary, turns, one.platform, one.session_id, RULES, sink)


def has_summary_model(context: SyncContext) -> bool:
    """Returns whether the settings name a model for summaries and this sync may ask models."""
    if context.options.model == "none":
        return False
    editor_state = editor.read_editor_state(context.environ)[0]
    return choose_model("summarize", context.settings, context.environ, editor_state)[0] is not None


def summarize_sessions(context: SyncContext, report: SyncReport) -> SyncReport:
    """Writes summaries that are still missing, and lets a model write those that wait for one, unless an earlier
    step stopped asking. Returns the report with the results added. Raises CatalogError."""
    place, key = context.place, context.project.key
    if not place.state.is_dir():
        return report
    with Catalog.open(context.home) as catalog:
        without_summary, waiting_for_model = (
            catalog.count_due_jobs(key, kind) for kind in (SUMMARY_JOB, SUMMARY_MODEL_JOB)
        )
    if not without_summary and not waiting_for_model:
        return report
    since, waits = context.model_since, report.waits
    chosen = context.open_model("summarize")
    problems = chosen.problems
    if isinstance(chosen, ModelChoice) and chosen.model is not None and not waits.why:
        waits = WaitingWork(without_summary + waiting_for_model, model=chosen.model.label, why=chosen.why)
    stopped = any(step.kind == "stopped" for step in report.steps)
    session = None if stopped or isinstance(chosen, ModelChoice) else chosen
    if session is None and not without_summary:
        return with_no_model_asked(report, problems, waits)
    try:
        with context.open_part("summarizing") as part:
            # a proposal of an earlier step may have created the `.lerim/` folder just now
            summarize_by_rules(part, lambda: session is not None, since)
            if session is not None:
                _ask_for_summaries(part, session, since)
    except BusyError as error:
        busy = Problem(error.code, error.where, f"No summaries were written: {error.explanation}")
        return with_no_model_asked(report, [*problems, busy], waits)
    written = len(part.sink.run.summaries)
    if session is None and not (problems or part.sink.problems or written):
        return with_no_model_asked(report, [], waits)
    if session is not None and session.wait_reason and not waits.why:
        with Catalog.open(context.home) as catalog:
            waits = WaitingWork(
                catalog.count_due_jobs(key, SUMMARY_MODEL_JOB), model=session.model.label, why=session.wait_reason
            )
    maker, calls, model_sessions = (session.model.label, session.usage.calls, [session]) if session else (RULES, 0, [])
    found, state = SessionCounts(report.sessions.found), session.state if session else "done"
    summary = f"{maker}, {calls} calls, {written} summaries"
    return combine_reports(
        report, part.finish(found, state, summary, model_sessions=model_sessions, problems=problems, waits=waits)
    )


def _ask_for_summaries(part: SyncPart, session: ModelSession, since: datetime | None) -> None:
    place = part.sink.place
    with open_summaries(place.state / "memory", place.state_anchor, place.private) as summaries:
        message = f"asking {session.model.name} for a summary"
        claimed = part.claim_jobs(SUMMARY_MODEL_JOB, part.context.explicit_start(), since, message)
        jobs = claimed if part.context.explicit else _put_back_ongoing(part, claimed)
        ask_about_jobs(
            session, part.catalog, jobs, partial(_summarize_with_model, part, session, summaries), refusals_count=False
        )


def _put_back_ongoing(
    part: SyncPart, jobs: Iterator[tuple[QueueJob, EmitMessage]]
) -> Iterator[tuple[QueueJob, EmitMessage]]:
    """Yields the jobs of sessions that seem to have ended; the others wait until they do. Raises CatalogError."""
    for job, emit_message in jobs:
        quiet_seconds = part.context.clock().timestamp() - job.transcript.mtime_ns / 1e9
        if 0 <= quiet_seconds < MODEL_WAIT_SECONDS:
            part.catalog.put_back_job(job, MODEL_WAIT_SECONDS - quiet_seconds)
        else:
            yield job, emit_message


def _summarize_with_model(
    part: SyncPart, session: ModelSession, summaries: Summaries, job: QueueJob, _: EmitMessage
) -> None:
    """Asks for the summary of one session, writes it, and ends the job. Answers about its parts are kept even if an
    error ends this. Raises StoppedError, LerimError."""
    place, catalog, transcript, label = part.sink.place, part.catalog, job.transcript, session.model.label
    name = f"{transcript.platform}:{transcript.session_id}"
    with convert_sqlite_errors(catalog.path):
        turns = load_summary_turns(catalog.db, transcript.place, place.project.key)
    briefs = catalog.find_sessions_by_id(transcript.session_id)
    title = next((brief.title for brief in briefs if brief.place == transcript.place), "")
    facts = _make_facts(catalog, transcript.platform, transcript.place, title)
    rules_summary = extraction.summarize_by_rules(turns, facts, locate_paths(place.project, turns))
    parts = extraction.unpack_parts(job.state, label, turns)
    if rules_summary is None or summaries.is_edited(name):
        catalog.finish_job(job, b"", parts.model_dump_json().encode())
        return
    token_counter = extraction.TokenCounter(catalog)
    task = extraction.SummaryTask(
        session=name,
        turns=turns,
        rules=rules_summary,
        metadata=_make_metadata(turns, transcript.platform, place.project.root.name),
        model=label,
        answers=extraction.AnswerCache(place.private / "summary-parts", label, extraction.SessionPart),
        limit=lambda: session.engine.window_tokens,
        overlap_tokens=session.model.window_overlap_tokens,
        count=token_counter,
        gate=part.context.settings.window_gate == "signal",
        before_call=part.context.raise_if_cancelled,
        add_step=session.add_step,
    )
    try:
        summary = extraction.summarize_with_model(session.lm, task, parts)
    except (LerimError, StoppedError):
        catalog.keep_job_progress(job, b"", parts.model_dump_json().encode(), 0)
        raise
    token_counter.store()
    _write_summary(summaries, summary, turns, transcript.platform, transcript.session_id, label, part.sink)
    catalog.finish_job(job, b"", parts.model_dump_json().encode())


def _make_facts(catalog: Catalog, platform: Platform, place: str, title: str) -> extraction.SummaryFacts:
    """Returns what is known of a session besides its turns. Raises CatalogError."""
    with convert_sqlite_errors(catalog.path):
        decisions = [one for one in list_facts(catalog.db, place) if one.fact.relation == "decided"]
    decided = tuple((one.fact.value, one.turn) for one in decisions if one.fact.supersedes)
    return extraction.SummaryFacts(platform, PLATFORM_NAMES[platform], title, decided)


def locate_paths(project: Project, turns: list[SummaryTurn]) -> Callable[[str, str], str]:
    """Returns the locator of `make_locator` for these turns."""
    locate = make_locator(project)
    for turn in turns:
        locate.record_cwd(turn.cwd)
    return locate


def _write_summary(
    summaries: Summaries,
    summary: extraction.Summary,
    turns: list[SummaryTurn],
    platform: Platform,
    session: str,
    maker: str,
    sink: ProposalSink,
) -> bool:
    """Writes a summary by `maker` and adds the outcome to the run folder. Returns False if a person edited the file.

    Raises MemoryError_, BoundaryError.
    """
    times = [turn.time for turn in turns if turn.time is not None]
    name = clean_text(f"{platform}:{session}")
    start = min(times, default=datetime.fromtimestamp(0, tz=sink.run.started.tzinfo))
    record = MemoryRecord(
        id="",
        primitive="summary",
        title=summary.title,
        created=start.replace(microsecond=0),
        updated=max(times, default=start).replace(microsecond=0),
        source=f"{name}#{turns[0].id}",
        confidence=CONFIDENCE_BY_RULES[maker == RULES],
        tags=summary.tags,
        body=extraction.render_summary(summary),
        references=summary.paths,
    )
    path, outcome = summaries.write(record, name, maker)
    if outcome != "unchanged":
        sink.run.summaries.append(SummaryAction(outcome, session, platform, summary.title, str(path), maker))
    if outcome == "theirs":
        sink.run.note(f"a summary was edited by hand and is left unchanged: {path.name}")
    return outcome != "theirs"


def _make_metadata(turns: list[SummaryTurn], platform: str, repository: str) -> str:
    times = [turn.time for turn in turns if turn.time is not None]
    metadata = {
        "agent": platform,
        "repository": repository,
        "started": min(times).isoformat(timespec="minutes") if times else "",
        "ended": max(times).isoformat(timespec="minutes") if times else "",
        "turns": len(turns),
    }
    return json.dumps(metadata, ensure_ascii=False)
