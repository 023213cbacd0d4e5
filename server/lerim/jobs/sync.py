"""One sync: find, index, extract, propose. The job process and the terminal share it.

`sync_by_rules` works on one project under its lock. `index_other_sessions` then indexes every other transcript of the
machine in short transactions; if one of those sessions turns out to have entered this project, its extraction is
queued. `sync_project` does both, then runs the steps with a model, and finally does the same for the sessions outside
any repository.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from lerim.errors import BusyError, LerimError, Problem
from lerim.hook import refresh_if_used
from lerim.jobs.activity_log import log_activity
from lerim.jobs.aliases import temporary_aliases
from lerim.jobs.progress import share_progress
from lerim.jobs.report import EmitSyncEvent, SessionCounts, Stage, SyncEvent, SyncProgress, SyncReport, combine_reports
from lerim.jobs.steps import (
    accept_automatically,
    ask_for_facts,
    ask_model,
    suggest_answers,
    summarize_sessions,
    sync_by_rules,
)
from lerim.jobs.sync_context import Cancelled, Clock, SyncContext, SyncOptions, now, resume_reading
from lerim.models import EditorBridge
from lerim.paths import Home
from lerim.project import Project, make_personal_project
from lerim.sessions import (
    DAMAGE_CODES,
    UNREADABLE_ERROR,
    Catalog,
    Readable,
    Transcript,
    find_working_folder,
    select_reader_problems,
    shared_copies,
)

__all__ = ["SyncOptions", "index_other_sessions", "sync_project"]


def sync_project(
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    options: SyncOptions,
    emit: EmitSyncEvent,
    cancelled: Cancelled,
    clock: Clock = now,
    bridge: EditorBridge | None = None,
) -> SyncReport:
    """Runs a whole sync: the project's own sessions, then the machine's other ones, then sessions of the project found
    among those. A model, if configured, reads what the rules have read. Finally, syncs the sessions outside any
    repository, whose memories are the person's own. `bridge` leads to the editor's own models.

    Raises BusyError while another process syncs this project, CatalogError if the catalog cannot be used, SettingsError
    if the settings that say which agents to read cannot be read.
    """

    def emit_and_share(event: SyncEvent) -> None:
        share(event)
        emit(event)

    with temporary_aliases(project, home), shared_copies(), share_progress(home, project.key) as share:
        return _run(SyncContext(project, home, environ, options, emit_and_share, cancelled, clock, bridge))


def _run(context: SyncContext) -> SyncReport:
    project, home, clock, cancelled = context.project, context.home, context.clock, context.cancelled
    started_at = time.monotonic()
    try:
        report = sync_by_rules(context)
    except LerimError as error:
        seconds = time.monotonic() - started_at  # if the home cannot be written, the error itself says so
        log_activity(home, clock(), "sync", project.root, f"{error.code}: {error.message}", seconds)
        raise
    if report.state != "cancelled":
        report.problems.extend(index_other_sessions(context, len(report.candidates)))
        if _count_due_jobs(project, home) and not cancelled():
            with suppress(BusyError):  # what was found before is reported, and a later sync finds the rest
                report = combine_reports(report, sync_by_rules(context))
    report = run_model_steps(report, context)
    if report.state != "cancelled":
        report = accept_automatically(context, report)
    if not project.is_personal and report.state != "cancelled":
        report = _sync_personal_sessions(report, context)
    report.problems.extend(refresh_if_used(project, home, context.environ))
    stage: Stage = "cancelled" if report.state == "cancelled" else "done"
    found = report.sessions.found
    with Catalog.open(home) as catalog:
        settling, settles_at = catalog.find_settling_jobs(project.key)
    context.emit(SyncProgress(stage, found, found, len(report.candidates), settling=settling))
    return msgspec.structs.replace(report, settling=settling, settles_at=settles_at)


def _count_due_jobs(project: Project, home: Home) -> int:
    with Catalog.open(home) as catalog:
        return catalog.count_due_jobs(project.key)


def run_model_steps(report: SyncReport, context: SyncContext) -> SyncReport:
    """Returns the report with the results of the steps that ask a model, if the settings name one."""
    for step in (ask_model, suggest_answers, summarize_sessions, ask_for_facts):
        if report.state != "cancelled" and context.options.model == "auto":
            report = step(context, report)
    return report


def _sync_personal_sessions(report: SyncReport, context: SyncContext) -> SyncReport:
    """Returns the report with what was learned from sessions outside any repository; skips them if another process is
    syncing them. Nothing from them is accepted without a review: the person did not ask to sync them."""
    personal = replace(
        context, project=make_personal_project(context.home), options=replace(context.options, accept_above=None)
    )
    if not _count_due_jobs(personal.project, context.home):
        return report
    try:
        found = run_model_steps(sync_by_rules(personal), personal)
    except BusyError:
        return report
    found = msgspec.structs.replace(found, project=report.project, sessions=SessionCounts(report.sessions.found))
    return combine_reports(report, msgspec.structs.replace(found, waits=report.waits))


def index_other_sessions(context: SyncContext, candidate_count: int) -> list[Problem]:
    """Indexes every transcript of the machine that is new or changed, without a lock, until done or cancelled; then
    counts for the statistics all sessions that changed. `candidate_count` is how many were proposed so far, for
    progress.

    A transcript that cannot be read is recorded in the catalog; the sync of its own project reports it. Returns the
    problems of damaged transcripts that belong to no project. Raises CatalogError, SettingsError.
    """
    owners = context.folder_owners()
    with Catalog.open(context.home) as catalog:
        stores, stale = context.find_stale_transcripts(catalog, owners)

        def readings() -> Iterator[tuple[Transcript, Readable]]:
            for number, transcript in enumerate(stale):
                if context.cancelled():
                    return
                message = "reading other projects' sessions"
                context.emit(SyncProgress("reading", number, len(stale), candidate_count, message))
                yield transcript, resume_reading(catalog, transcript)

        postponed: set[Path] = set()
        damage: list[Problem] = []
        for indexed in catalog.index_transcripts(readings(), owners, context.cancelled):
            if indexed.is_busy or (
                indexed.failed and any(problem.code == UNREADABLE_ERROR for problem in indexed.problems)
            ):
                postponed.add(indexed.transcript.path)
            elif indexed.failed or any(problem.code in DAMAGE_CODES for problem in indexed.problems):
                folders = indexed.session.cwds if indexed.session else (find_working_folder(indexed.transcript),)
                if not any(map(owners.find_owner, folders)):
                    damage += indexed.problems
        if not context.cancelled():
            catalog.keep_store_stamps(
                database for database in stores.opened_databases if database.path not in postponed
            )
            catalog.count_changed_sessions()
    return select_reader_problems(damage, context.folders)
