"""The part of a sync that needs no model, under the project's lock: it indexes the sessions that look like the
project's, extracts from their new turns, proposes themes and writes summaries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial

from lerim.errors import LerimError, Problem, StoppedError, UnfinishedError
from lerim.extraction import (
    PersonalAdjustment,
    ThemeRequest,
    ThemeSession,
    draft_friction,
    find_themes,
    split_exchanges,
)
from lerim.jobs.extracting import (
    MIN_POOL_BYTES,
    ExtractedSession,
    Extraction,
    ExtractionRequest,
    OrderedExtraction,
    ProcessPool,
    count_processes,
    earlier_progress,
)
from lerim.jobs.model_session import UNFINISHED_SECONDS
from lerim.jobs.other_folders import remember_first_commit
from lerim.jobs.proposal_sink import ProposalSink
from lerim.jobs.report import SessionCounts, SyncProgress, SyncReport, SyncState
from lerim.jobs.steps.summaries import BATCH_SIZE, has_summary_model, locate_paths, summarize_by_rules
from lerim.jobs.sync_context import SyncContext, SyncPart, resume_reading
from lerim.project import FolderOwners
from lerim.project import project as projects
from lerim.review import acts, queue
from lerim.sessions import (
    EXTRACT_JOB,
    Catalog,
    QueueJob,
    Readable,
    RecentSession,
    Transcript,
    convert_sqlite_errors,
    faults_as_errors,
    find_working_folder,
    list_removed_platforms,
    list_sessions_since,
    load_summary_turns,
    select_reader_problems,
    split_likely_transcripts,
)

FIRST_BATCH_BYTES = 8_000_000
"""The size of the newest sessions that are learned from first, so that the first candidates come soon."""
INDEX_BATCH_BYTES = 32_000_000
"""The size of the older sessions that are indexed at once. It takes half a second, in which the processes extract what
was claimed ahead."""
MAX_OPENED_FIRST = 200
"""How many of the newest sessions whose path does not tell where they ran are opened before any is learned from."""
MAX_THEME_SESSIONS = 40
"""How many of a project's newest sessions are read to find themes. Each takes a few milliseconds."""


def sync_by_rules(context: SyncContext) -> SyncReport:
    """Indexes the transcripts that look like this project's and extracts from all its new turns.

    Raises BusyError while another process syncs this project, CatalogError if the catalog cannot be used, SettingsError
    if the settings that say which agents to read cannot be read.
    """
    key, options = context.project.key, context.options
    state: SyncState = "done"
    with context.open_part("syncing") as part:
        catalog, sink = part.catalog, part.sink
        model_available = cache(partial(has_summary_model, context))
        rules = _RulesPass(part, context.folder_owners(), context.explicit_start(), model_available)
        sink.problems += [*catalog.problems, *_register_project(context), *_repair_links(sink)]
        catalog.recover_jobs(key)
        catalog.reassign_folders(rules.owners)
        catalog.hold_removed_platforms(list_removed_platforms(context.home))
        context.emit(SyncProgress("looking", 0, 0, 0))
        stores, stale = context.find_stale_transcripts(catalog, rules.owners)
        sink.problems += select_reader_problems(stores.problems, context.folders)
        try:
            with closing(rules):
                rules.index_and_extract(stale)
            if rules.new or rules.changed:
                propose_themes(part)
            rules.summarize()
        except StoppedError:
            state = "cancelled"
        counts = rules.count_sessions()
        left_out = catalog.count_passed_over(key, options.since, options.until)
        if state == "done":
            catalog.record_sync(key)
    if state == "done" and rules.failed:
        state = "partial"
    summary = f"{counts.found} sessions, {len(sink.candidates)} candidates"
    return part.finish(counts, state, summary, left_out=left_out)


@dataclass(slots=True)
class _RulesPass:
    """One pass over a project's transcripts.

    `started` is that of `Catalog.claim_job`, `model_available` that of `summarize_by_rules`. `new`, `changed` and
    `failed` are places of transcripts. `adjustment` adjusts the ranking by the person's decisions; it is loaded with
    the first session. `pool` extracts beside this process once much is waiting. `found` transcripts are to be indexed,
    `indexed` of them are, and `claimed` is how many jobs were claimed. Close the pass at its end.
    """

    part: SyncPart
    owners: FolderOwners
    started: float | None
    model_available: Callable[[], bool]
    new: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    adjustment: PersonalAdjustment | None = None
    pool: ProcessPool | None = None
    found: int = 0
    indexed: int = 0
    claimed: int = 0

    def close(self) -> None:
        """Ends the processes of the pool."""
        if self.pool is not None:
            self.pool.close()

    def open_pool(self, size: int) -> None:
        """Opens the pool if `size`, the bytes of the transcripts to be read from their beginning, is large enough for
        processes to save time."""
        if self.pool is None and size >= MIN_POOL_BYTES and (processes := count_processes()) > 0:
            self.pool = ProcessPool(processes)

    def index_and_extract(self, stale: list[Transcript]) -> None:
        """Indexes the project's own transcripts and extracts from them, the newest first. Raises StoppedError."""
        context = self.part.context
        known = self.part.catalog.find_project_places(context.project.key)
        likely, others = split_likely_transcripts(stale, known, context.folders)
        unlocated = [one for one in others if one.platform != "claude" and not one.cwd][:MAX_OPENED_FIRST]
        opened = {one.place for one in unlocated}
        own = self.select_own([*likely, *unlocated], known)
        own.sort(key=lambda one: one.mtime_ns, reverse=True)
        newest, rest = _split_newest(own)
        self.found = len(own)
        self.index(newest)
        self.extract()
        # Finding out where the many others ran takes long: it waits until the first candidates are proposed.
        rest += self.select_own([one for one in others if one.place not in opened], known)
        self.open_pool(sum(one.size for one in rest if one.place not in known))  # it starts while this process indexes
        self.found = len(newest) + len(rest)
        first, *later = _split_by_size(rest)
        self.index(first)
        self.extract(later)

    def select_own(self, transcripts: Iterable[Transcript], known: Collection[str]) -> list[Transcript]:
        """Returns the project's transcripts: those known from before and those that began in one of its folders.

        A session that began elsewhere and entered the project later is found when `index_other_sessions` reads it
        whole. Raises StoppedError.
        """
        own: list[Transcript] = []
        for one in transcripts:
            self.part.context.raise_if_cancelled()
            if one.place in known or self.owners.find_owner(find_working_folder(one)) == self.part.context.project.key:
                own.append(one)
        return own

    def index(self, transcripts: list[Transcript]) -> None:
        """Indexes the transcripts in the catalog. Raises StoppedError."""
        context, catalog, sink = self.part.context, self.part.catalog, self.part.sink
        indexed_before = catalog.load_stamps()

        def readings() -> Iterator[tuple[Transcript, Readable]]:
            for transcript in transcripts:
                if context.cancelled():
                    return
                context.emit(SyncProgress("reading", self.indexed, self.found, len(sink.candidates)))
                self.indexed += 1
                yield transcript, resume_reading(catalog, transcript)

        for indexed in catalog.index_transcripts(readings(), self.owners, context.cancelled):
            place = indexed.transcript.place
            (self.changed if place in indexed_before else self.new).add(place)
            sink.problems += indexed.problems
            if indexed.failed:
                self.failed.add(place)
        context.raise_if_cancelled()

    def extract(self, unindexed: Iterable[list[Transcript]] = ()) -> None:
        """Processes the extraction queue, the newest session first, and indexes further batches while processes
        extract.

        A failed session is not tried again in this pass. Raises StoppedError.
        """
        part, context = self.part, self.part.context
        self.open_pool(part.catalog.count_unread_bytes(context.project.key))
        helps = context.explicit  # what runs by itself, while the person works, leaves a processor to them
        ordered = OrderedExtraction(self.pool, helps, self.make_request, part.catalog.put_back_job, context.cancelled)
        with closing(ordered.run(self.claim_jobs(unindexed))) as extractions:
            for number, (job, extraction) in enumerate(extractions, start=1):
                self.finish_job(job, extraction)
                if self.pool is not None and number % BATCH_SIZE == 0:
                    self.summarize()  # at the end, the processes would have nothing to do meanwhile

    def claim_jobs(self, unindexed: Iterable[list[Transcript]]) -> Iterator[QueueJob]:
        """Claims all waiting jobs, then indexes a batch, claims its jobs, and so on. Raises StoppedError."""
        yield from self.claim_waiting_jobs()
        for batch in unindexed:
            self.index(batch)
            yield from self.claim_waiting_jobs()

    def claim_waiting_jobs(self) -> Iterator[QueueJob]:
        """Claims all waiting jobs, the newest session first."""
        part, since = self.part, self.part.context.options.since
        further = self.found - self.indexed
        for job, _ in part.claim_jobs(EXTRACT_JOB, self.started, since, done=self.claimed, further=further):
            self.claimed += 1
            yield job

    def summarize(self) -> None:
        """Summarizes the sessions that were extracted since the last call. Raises CatalogError."""
        summarize_by_rules(self.part, self.model_available, self.part.context.options.since)

    def finish_job(self, job: QueueJob, extraction: Extraction) -> None:
        """Handles what was learned from a session, and ends its job. Raises StoppedError, CatalogError."""
        part, place = self.part, job.transcript.place
        try:
            self.handle_extracted(job, extraction())
        except StoppedError:
            part.catalog.put_back_job(job)
            raise
        except UnfinishedError:
            part.catalog.put_back_job(job, UNFINISHED_SECONDS)
        except LerimError as error:
            # One session that cannot be read, or whose candidate cannot be written, must not stop the others.
            part.catalog.fail_job(job, error.message)
            self.failed.add(place)
            if not any(one.path == place for one in part.sink.problems):  # it may be reported already
                part.sink.problems.append(error.problem(place))
        else:
            if job.resume is None:  # the project learns from it for the first time, whoever indexed it
                self.new.add(place)

    def make_request(self, job: QueueJob) -> ExtractionRequest:
        """Returns what is to be extracted for a job."""
        context = self.part.context
        self.adjustment = self.adjustment or queue.load_adjustment(context.home)
        scope = context.reading_scope(self.owners)
        return ExtractionRequest(job.transcript, scope, earlier_progress(job), self.adjustment)

    def handle_extracted(self, job: QueueJob, extracted: ExtractedSession) -> None:
        """Proposes what was learned from a session, and ends its job. Raises MemoryError_, CatalogError."""
        catalog, sink, transcript = self.part.catalog, self.part.sink, job.transcript
        with faults_as_errors(transcript.platform, transcript.place):
            sink.handle_results(extracted.results)
        sink.problems += (problem for problem in extracted.problems if problem not in sink.problems)
        recurrences = ((one, catalog.find_same_errors(job.project, one)) for one in extracted.frictions)
        sink.handle_results(
            draft_friction(one, elsewhere, transcript.platform) for one, elsewhere in recurrences if elsewhere
        )
        catalog.finish_job(
            job,
            extracted.resume,
            extracted.state,
            extracted.due_in,
            extracted.frictions,
            extracted.redactions,
            extracted.facts,
            extracted.model_turns,
        )

    def count_sessions(self) -> SessionCounts:
        """Counts the project's existing sessions. A subagent's transcript is part of its parent's session if that was
        read."""
        failed = self.failed
        main = self.part.catalog.find_project_places(self.part.context.project.key, main=True) | failed
        new = main & self.new - failed
        changed = main & self.changed - failed - new
        return SessionCounts(len(main), len(new), len(changed), len(main - new - changed - failed), len(failed))


def _register_project(context: SyncContext) -> list[Problem]:
    """Registers the project if it is unknown, without its aliases: those may be for this run only."""
    project, home = context.project, context.home
    registered, problems = projects.list_projects(home)
    if project.is_personal:
        return []
    is_known = any(other.key == project.key for other in registered)
    try:
        if not is_known:
            projects.add_project(replace(project, aliases=()), home)
        remember_first_commit(project, home, context.environ)
    except LerimError as error:
        return [error.problem()]
    return [] if is_known else [problem for problem in problems if problem.path == str(project.root)]


def _repair_links(sink: ProposalSink) -> list[Problem]:
    """Repairs contradictory links between memories, for example after a merge of two branches. Returns the problems."""
    try:
        repaired = acts.repair_links(sink.place, sink.clock())
    except LerimError as error:
        return [error.problem()]
    if repaired.count:
        sink.run.note(f"links of {repaired.count} memories corrected, undo {repaired.action}")
    return list(repaired.problems)


def _split_newest(own: list[Transcript]) -> tuple[list[Transcript], list[Transcript]]:
    """Splits transcripts, sorted newest first, into a first batch of about `FIRST_BATCH_BYTES` and the rest."""
    size = 0
    for number, transcript in enumerate(own):
        size += transcript.size
        if size > FIRST_BATCH_BYTES and number:
            return own[:number], own[number:]
    return own, []


def _split_by_size(transcripts: list[Transcript]) -> list[list[Transcript]]:
    """Splits transcripts into batches of about `INDEX_BATCH_BYTES`, at least one."""
    batches: list[list[Transcript]] = [[]]
    size = 0
    for transcript in transcripts:
        if size >= INDEX_BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(transcript)
        size += transcript.size
    return batches


def propose_themes(part: SyncPart) -> None:
    """Finds the areas that the project's sessions of the last `theme_days` days (a setting) worked on, and hand them to
    the sink as candidates. Raises CatalogError, MemoryError_."""
    catalog, sink, days = part.catalog, part.sink, part.context.settings.maintenance_rules.theme_days
    with convert_sqlite_errors(catalog.path):
        since = part.context.clock() - timedelta(days=days)
        as_of = part.context.options.as_of
        sessions = list_sessions_since(catalog.db, sink.place.project.key, since, MAX_THEME_SESSIONS, as_of)
    found = (_find_requests(catalog, sink, session, as_of) for session in sessions)
    with_requests = [one for one in found if one.requests]
    sink.handle_results(iter(find_themes(with_requests)))


def _find_requests(
    catalog: Catalog, sink: ProposalSink, session: RecentSession, as_of: datetime | None
) -> ThemeSession:
    """Returns the session with the prompts that led to changed files, those before `as_of` if it is given."""
    with convert_sqlite_errors(catalog.path):
        turns = load_summary_turns(catalog.db, session.place, sink.place.project.key)
    if as_of is not None:
        turns = [turn for turn in turns if turn.time is None or turn.time < as_of]
    requests = []
    for exchange in split_exchanges(turns, locate_paths(sink.place.project, turns)):
        prompt = exchange.prompt
        if prompt is not None and prompt.kind == "prompt" and prompt.time is not None and exchange.changed_files:
            requests.append(ThemeRequest(prompt.id, prompt.text, prompt.time, tuple(exchange.changed_files)))
    return ThemeSession(session.platform, session.session_id, tuple(requests))
