"""The part of a sync that needs no model, under the project's lock: it indexes the sessions that look like the
project's, extracts from their new turns, proposes themes and writes summaries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial

from lerim.errors import LerimError, Problem, StoppedError, UnfinishedError
from lerim.extraction import Correction, Extraction, draft_friction
from lerim.jobs.model_session import UNFINISHED_SECONDS
from lerim.jobs.proposal_sink import ProposalSink
from lerim.jobs.report import SessionCounts, SyncProgress, SyncReport, SyncState
from lerim.jobs.session_reading import SessionReading, exists_in
from lerim.jobs.steps.summaries import model_summarizes, summarize_by_rules
from lerim.jobs.steps.themes import propose_themes
from lerim.jobs.sync_context import SyncContext, SyncPart, resume_reading
from lerim.project import FolderOwners
from lerim.project import project as projects
from lerim.redaction import collect_redactions
from lerim.review import acts, queue
from lerim.sessions import (
    EXTRACT_JOB,
    QueueJob,
    Readable,
    Transcript,
    find_working_folder,
    list_removed_platforms,
    select_reader_problems,
    split_likely_transcripts,
)

FIRST_BYTES = 8_000_000
FIRST_OTHERS = 200
"""So many of the newest sessions whose place does not tell where they ran are opened before any is learned from."""


def sync_by_rules(context: SyncContext) -> SyncReport:
    """Indexes the transcripts that look like this project's and extracts from all its new turns.

    Raises BusyError while another process syncs this project, CatalogError if the catalog cannot be used, SettingsError
    if nobody can tell which agents are not to be read.
    """
    key, options = context.project.key, context.options
    state: SyncState = "done"
    with context.part("syncing") as part:
        catalog, sink = part.catalog, part.sink
        rules = _RulesPass(part, context.owners(), context.started())
        sink.problems += [*catalog.problems, *_register_project(context), *_repair_links(sink)]
        catalog.recover_jobs(key)
        catalog.reassign_folders(rules.owners)
        catalog.hold_removed_platforms(list_removed_platforms(context.home))
        context.emit(SyncProgress("looking", 0, 0, 0))
        stores, stale = context.stale(catalog, rules.owners)
        sink.problems += select_reader_problems(stores.problems, context.folders)
        try:
            rules.index_and_extract(stale)
            if rules.new or rules.changed:
                propose_themes(part)
            summarize_by_rules(part, cache(partial(model_summarizes, context)), options.since)
        except StoppedError:
            state = "cancelled"
        counts = rules.counts()
        left_out = catalog.count_passed_over(key, options.since, options.until)
        if state == "done":
            catalog.record_sync(key)
    if state == "done" and rules.failed:
        state = "partial"
    summary = f"{counts.found} sessions, {len(sink.candidates)} candidates"
    return part.finish(counts, state, summary, left_out=left_out)


@dataclass(slots=True)
class _RulesPass:
    """One pass over a project's transcripts. `new`, `changed` and `failed` are their places, by what happened to them;
    `correction` is what the person's decisions do to the ranking, read for the first session."""

    part: SyncPart
    owners: FolderOwners
    started: float | None
    new: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    correction: Correction | None = None

    def index_and_extract(self, stale: list[Transcript]) -> None:
        """Indexes what is the project's own and learns from it, the newest first. Raises StoppedError."""
        context = self.part.context
        known = self.part.catalog.find_project_places(context.project.key)
        named, others = split_likely_transcripts(stale, known, context.folders)
        silent = [one for one in others if one.platform != "claude" and not one.cwd][:FIRST_OTHERS]
        opened = {one.place for one in silent}
        own = self.select_own([*named, *silent], known)
        own.sort(key=lambda one: one.mtime_ns, reverse=True)
        newest, rest = _split_newest(own)
        self.index(newest, 0, len(own))
        self.extract()
        # Opening the many others, if only to see where they ran, waits until the first candidates are there.
        rest += self.select_own([one for one in others if one.place not in opened], known)
        self.index(rest, len(newest), len(newest) + len(rest))
        self.extract()

    def select_own(self, transcripts: Iterable[Transcript], known: Collection[str]) -> list[Transcript]:
        """Those of the transcripts that are the project's: known from before, or begun in one of its folders.

        A session that began elsewhere and moved in later shows when `index_rest` has read it whole. Raises
        StoppedError.
        """
        own: list[Transcript] = []
        for one in transcripts:
            self.part.context.raise_if_cancelled()
            if one.place in known or self.owners.find_owner(find_working_folder(one)) == self.part.context.project.key:
                own.append(one)
        return own

    def index(self, transcripts: list[Transcript], done: int, total: int) -> None:
        """Takes the transcripts into the catalog. Raises StoppedError."""
        context, catalog, sink = self.part.context, self.part.catalog, self.part.sink
        known = catalog.load_stamps()

        def readings() -> Iterator[tuple[Transcript, Readable]]:
            for number, transcript in enumerate(transcripts):
                if context.cancelled():
                    return
                context.emit(SyncProgress("reading", done + number, total, len(sink.candidates)))
                yield transcript, resume_reading(catalog, transcript)

        for indexed in catalog.index_transcripts(readings(), self.owners, context.cancelled):
            place = indexed.transcript.place
            (self.changed if place in known else self.new).add(place)
            sink.problems += indexed.problems
            if indexed.failed:
                self.failed.add(place)
        context.raise_if_cancelled()

    def extract(self) -> None:
        """Works off the extraction queue, the newest session first; what failed is tried once in this pass."""
        part = self.part
        for job, _ in part.claims(EXTRACT_JOB, self.started, part.context.options.since):
            place = job.transcript.place
            try:
                self.extract_one(job)
            except StoppedError:
                part.catalog.put_back_job(job)
                raise
            except UnfinishedError:
                part.catalog.put_back_job(job, UNFINISHED_SECONDS)
            except LerimError as error:
                # One session that cannot be read, or whose candidate cannot be written, must not stop the others.
                part.catalog.fail_job(job, error.message)
                self.failed.add(place)
                if not any(one.path == place for one in part.sink.problems):  # what lies there may be told already
                    part.sink.problems.append(error.problem(place))
            else:
                if job.resume is None:  # also one that another project's sync has indexed
                    self.new.add(place)

    def extract_one(self, job: QueueJob) -> None:
        """Extracts from the new turns of one session, proposes what holds, and ends its job.

        Raises StoppedError, TranscriptError if the file cannot be read, MemoryError_ if nothing can be written.
        """
        context, catalog, sink = self.part.context, self.part.catalog, self.part.sink
        transcript, project = job.transcript, context.project
        self.correction = self.correction or queue.load_correction(context.home)
        reading = SessionReading(job, context, self.owners)
        extraction = Extraction(
            None if project.is_personal else project.root,
            transcript.session_id,
            transcript.platform,
            reading.state,
            exists=exists_in(project),
            roots=project.folders,
            correction=self.correction,
        )
        with collect_redactions() as secrets:
            for turn in reading:
                with reading.guarded():
                    sink.take(extraction.feed(turn))
            with reading.guarded():
                sink.take(extraction.finish(reading.settled))
        sink.problems += (problem for problem in reading.problems if problem not in sink.problems)
        met = () if transcript.parent else tuple(extraction.frictions.values())
        elsewhere = ((one, catalog.find_same_errors(project.key, one)) for one in met)
        sink.take(draft_friction(one, before, transcript.platform) for one, before in elsewhere if before)
        redactions = reading.redactions + len(secrets)
        catalog.finish_job(job, reading.resume, extraction.state(), reading.again_at, met, redactions)

    def counts(self) -> SessionCounts:
        """Counts the project's sessions that are there; a subagent's transcript is part of its parent's session, where
        that was read."""
        failed = self.failed
        main = self.part.catalog.find_project_places(self.part.context.project.key, main=True) | failed
        new = main & self.new - failed
        changed = main & self.changed - failed - new
        return SessionCounts(len(main), len(new), len(changed), len(main - new - changed - failed), len(failed))


def _register_project(context: SyncContext) -> list[Problem]:
    """Makes the project known, without the aliases of this run alone."""
    project, home = context.project, context.home
    listed, problems = projects.list_projects(home)
    if project.is_personal or any(other.key == project.key for other in listed):
        return []
    try:
        projects.add_project(replace(project, aliases=()), home)
    except LerimError as error:
        return [error.problem()]
    return [problem for problem in problems if problem.path == str(project.root)]


def _repair_links(sink: ProposalSink) -> list[Problem]:
    """Makes the links between memories agree, as after a merge of two branches; what cannot be is told."""
    try:
        repaired = acts.repair_links(sink.place)
    except LerimError as error:
        return [error.problem()]
    if repaired.count:
        sink.run.note(f"links of {repaired.count} memories corrected, undo {repaired.action}")
    return list(repaired.problems)


def _split_newest(own: list[Transcript]) -> tuple[list[Transcript], list[Transcript]]:
    """The newest few megabytes, to be learned from at once so that the first candidates come soon, and the rest."""
    size = 0
    for number, transcript in enumerate(own):
        size += transcript.size
        if size > FIRST_BYTES and number:
            return own[:number], own[number:]
    return own, []
