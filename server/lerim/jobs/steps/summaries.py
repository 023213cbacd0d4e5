"""The part of a sync that summarizes sessions, after all candidates: by rules, and then by a model where one is chosen.

Summaries are memories nobody reviews: they are git-ignored, and no hover, lens or search shows them. They are written
once the project has a `.lerim/`, which they never make. A summary by the rules stands until a model wrote a better one;
what a model said of parts of a session is kept, whatever ends the asking.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from lerim.config import editor
from lerim.errors import BoundaryError, BusyError, LerimError, MemoryError_, Problem, StoppedError, TranscriptError
from lerim.extraction import Locator, Summary, SummaryFacts, render_summary
from lerim.extraction import summarize_by_rules as summarize
from lerim.jobs.model_session import ModelSession, ask_about_jobs
from lerim.jobs.proposal_sink import ProposalSink
from lerim.jobs.report import SessionCounts, SyncReport, combine_reports, with_no_model_asked
from lerim.jobs.session_reading import SETTLED_AFTER
from lerim.jobs.sync_context import SyncContext, SyncPart, Tell
from lerim.memory import MemoryRecord, Summaries, open_summaries
from lerim.models import ModelChoice, ModelStep, WaitingWork, choose_model
from lerim.redaction import clean_text
from lerim.review import ReviewPaths, SummaryAction
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
    list_pending_summaries,
    load_summary_turns,
    settle_summaries,
)

RULES = "rules"
CONFIDENCE_BY_RULES: dict[bool, float] = {True: 0.9, False: 0.7}
"""The confidence of a summary, by whether the rules wrote it (they state what is on record) or a model."""
BATCH_SIZE = 50
"""How many sessions are summarized before the catalog is updated."""


def summarize_by_rules(part: SyncPart, by_model: Callable[[], bool], since: datetime | None) -> None:
    """Write the summaries by rules that are missing or old, the newest session first.

    `by_model`: a model is asked in this sync for those it wrote before, so that they are left to it. A file that cannot
    be written ends this, and is a problem; the rest waits. Raises CatalogError.
    """
    context, catalog, place = part.context, part.catalog, part.sink.place
    if not place.state.is_dir():
        return
    with convert_sqlite_errors(catalog.path):
        sessions = list_pending_summaries(catalog.db, place.project.key, since, context.options.until)
    if not context.explicit:
        settled_at = (context.clock() - SETTLED_AFTER).timestamp()
        sessions = [one for one in sessions if one.changed_at <= settled_at]
    if not sessions:
        return
    try:
        place.make_state_folder()
        place.make_private_folder()
        with open_summaries(place.state / "memory", place.state_anchor, place.private) as summaries:
            for number in range(0, len(sessions), BATCH_SIZE):
                part.tell(number, len(sessions), f"summarizing {len(sessions) - number} sessions")
                _summarize_some(part, summaries, sessions[number : number + BATCH_SIZE], by_model)
                if context.cancelled():
                    break
    except (MemoryError_, BoundaryError) as error:
        part.sink.problems.append(error.problem())


def _summarize_some(
    part: SyncPart, summaries: Summaries, sessions: Sequence[PendingSummary], by_model: Callable[[], bool]
) -> None:
    """Summarizes some sessions, then tells the catalog of all of them at once. Raises MemoryError_, BoundaryError."""
    done: list[int] = []
    others: list[int] = []
    try:
        for one in sessions:
            if part.context.cancelled():
                return
            left = summaries.made_by(f"{one.platform}:{one.session_id}") not in ("", RULES) and by_model()
            (done if left or _summarize_one(part.catalog, part.sink, summaries, one) else others).append(one.job)
    finally:
        with convert_sqlite_errors(part.catalog.path):
            settle_summaries(part.catalog.db, done, others)


def _summarize_one(catalog: Catalog, sink: ProposalSink, summaries: Summaries, one: PendingSummary) -> bool:
    """Whether there was something to summarize, and the file was not a person's own. Raises MemoryError_,
    BoundaryError."""
    place = sink.place
    with convert_sqlite_errors(catalog.path):
        turns = load_summary_turns(catalog.db, one.place, place.project.key)
    try:
        with faults_as_errors(one.platform, one.place):
            made = summarize(turns, _facts(one.platform, one.title), make_locator(place, turns))
    except TranscriptError as error:
        sink.problems.append(error.problem(one.place))
        return False
    return made is not None and _write_summary(summaries, made, turns, one.platform, one.session_id, RULES, sink)


def model_summarizes(context: SyncContext) -> bool:
    """Whether the settings name a model for summaries, and models are asked in this sync."""
    if context.options.model == "none":
        return False
    told = editor.read_editor_state(context.environ)[0]
    return choose_model("summarize", context.settings, context.environ, told)[0] is not None


def summarize_sessions(context: SyncContext, report: SyncReport) -> SyncReport:
    """Add to a report the summaries that are missing still, and those that a model writes where one may be asked and
    was not stopped before. Raises CatalogError."""
    place, key = context.place, context.project.key
    if not place.state.is_dir():
        return report
    with Catalog.open(context.home) as catalog:
        new, waiting = (catalog.count_due_jobs(key, kind) for kind in (SUMMARY_JOB, SUMMARY_MODEL_JOB))
    if not new and not waiting:
        return report
    since, waits = context.model_since, report.waits
    chosen = ModelSession.open("summarize", context)
    problems = chosen.problems
    if isinstance(chosen, ModelChoice) and chosen.model is not None and not waits.why:
        waits = WaitingWork(new + waiting, model=chosen.model.label, why=chosen.why)
    stopped = any(step.kind == "stopped" for step in report.steps)
    session = None if stopped or isinstance(chosen, ModelChoice) else chosen
    if session is None and not new:
        return with_no_model_asked(report, problems, waits)
    try:
        with context.part("summarizing") as part:
            # what a model proposed may just have made the folder that summaries wait for
            summarize_by_rules(part, lambda: session is not None, since)
            if session is not None:
                _ask_model(part, session, since)
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
    maker, calls, asked = (session.model.label, session.usage.calls, [session]) if session else (RULES, 0, [])
    found, state = SessionCounts(report.sessions.found), session.state if session else "done"
    summary = f"{maker}, {calls} calls, {written} summaries"
    return combine_reports(report, part.finish(found, state, summary, asked=asked, problems=problems, waits=waits))


def _ask_model(part: SyncPart, session: ModelSession, since: datetime | None) -> None:
    """Asks about the sessions whose summaries wait for a model, the newest first. Raises CatalogError."""
    place = part.sink.place
    with open_summaries(place.state / "memory", place.state_anchor, place.private) as summaries:
        message = f"asking {session.model.name} for a summary"
        jobs = part.claims(SUMMARY_MODEL_JOB, part.context.started(), since, message)
        ask_about_jobs(
            session, part.catalog, jobs, partial(_ask_of_session, part, session, summaries), refusals_count=False
        )


def _ask_of_session(part: SyncPart, session: ModelSession, summaries: Summaries, job: QueueJob, _: Tell) -> None:
    """Asks for the summary of one session, keeps it, and ends the job. What was told of its parts is kept also where it
    ends in an error. Raises StoppedError, LerimError."""
    from lerim.extraction import (
        SummaryAnswerCache,
        SummaryCallStarted,
        SummaryTask,
        TokenCounter,
        summarize_with_model,
        unpack_parts,
    )

    place, catalog, one, label = part.sink.place, part.catalog, job.transcript, session.model.label
    name = f"{one.platform}:{one.session_id}"
    with convert_sqlite_errors(catalog.path):
        turns = load_summary_turns(catalog.db, one.place, place.project.key)
    title = next((brief.title for brief in catalog.find_sessions_by_id(one.session_id) if brief.place == one.place), "")
    rules = summarize(turns, _facts(one.platform, title), make_locator(place, turns))
    parts = unpack_parts(job.state, label, turns)
    if rules is None or summaries.is_edited(name):
        catalog.finish_job(job, b"", parts.model_dump_json().encode())
        return
    counts = TokenCounter(catalog)
    task = SummaryTask(
        session=name,
        turns=turns,
        rules=rules,
        metadata=_metadata(turns, one.platform, place.project.root.name),
        model=label,
        answers=SummaryAnswerCache(place.private / "summary-parts", label),
        limit=lambda: session.engine.window_tokens,
        overlap_tokens=session.model.window_overlap_tokens,
        count=counts,
        gate=part.context.settings.window_gate == "signal",
    )
    asking = summarize_with_model(session.lm, task, parts)
    try:
        while True:
            try:
                event = next(asking)
            except StopIteration as ended:
                made: Summary = ended.value
                break
            if isinstance(event, ModelStep):
                session.add_step(event)
            elif isinstance(event, SummaryCallStarted):
                part.context.raise_if_cancelled()
    except (LerimError, StoppedError):
        catalog.keep_job_progress(job, b"", parts.model_dump_json().encode(), 0)
        raise
    finally:
        asking.close()
    counts.store()
    _write_summary(summaries, made, turns, one.platform, one.session_id, label, part.sink)
    catalog.finish_job(job, b"", parts.model_dump_json().encode())


def _facts(platform: Platform, title: str) -> SummaryFacts:
    """What a summary is told of a session."""
    return SummaryFacts(platform, PLATFORM_NAMES[platform], title)


def make_locator(place: ReviewPaths, turns: list[SummaryTurn]) -> Callable[[str, str], str]:
    """Makes repo-relative paths of those in a session's calls, also of files that are gone by now."""
    project = place.project
    locate = Locator(
        (str(project.root), *((str(project.main_worktree),) if project.main_worktree else ()), *project.folders)
    )
    for turn in turns:
        locate.record_cwd(turn.cwd)
    return locate


def _write_summary(
    summaries: Summaries,
    made: Summary,
    turns: list[SummaryTurn],
    platform: Platform,
    session: str,
    maker: str,
    sink: ProposalSink,
) -> bool:
    """Writes a summary by `maker` and notes what became of it; False where a person made the file their own.

    Raises MemoryError_, BoundaryError.
    """
    times = [turn.time for turn in turns if turn.time is not None]
    name = clean_text(f"{platform}:{session}")
    start = min(times, default=datetime.fromtimestamp(0, tz=sink.run.started.tzinfo))
    record = MemoryRecord(
        id="",
        primitive="summary",
        title=made.title,
        created=start.replace(microsecond=0),
        updated=max(times, default=start).replace(microsecond=0),
        source=f"{name}#{turns[0].id}",
        confidence=CONFIDENCE_BY_RULES[maker == RULES],
        tags=made.tags,
        body=render_summary(made),
        references=made.paths,
    )
    path, done = summaries.write(record, name, maker)
    if done != "unchanged":
        sink.run.summaries.append(SummaryAction(done, session, platform, made.title, str(path), maker))
    if done == "theirs":
        sink.run.note(f"a summary was edited by hand and is left unchanged: {path.name}")
    return done != "theirs"


def _metadata(turns: list[SummaryTurn], platform: str, repository: str) -> str:
    times = [turn.time for turn in turns if turn.time is not None]
    told = {
        "agent": platform,
        "repository": repository,
        "started": min(times).isoformat(timespec="minutes") if times else "",
        "ended": max(times).isoformat(timespec="minutes") if times else "",
        "turns": len(turns),
    }
    return json.dumps(told, ensure_ascii=False)
