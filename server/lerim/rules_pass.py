"""The part of a sync that needs no model, under the project's lock: it indexes the sessions that look like the
project's, extracts from their new turns, proposes themes and writes summaries."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, partial

from lerim import project as projects
from lerim.errors import LerimError, Problem, StoppedError, UnfinishedError
from lerim.extraction.friction import again
from lerim.extraction.pipeline import Extraction
from lerim.extraction.ranking.personal import Correction
from lerim.lock import project_lock
from lerim.model_session import UNFINISHED_SECONDS
from lerim.project import Owners
from lerim.proposal_sink import ProposalSink
from lerim.redaction import counting
from lerim.report import Progress, SessionCounts, State, SyncReport
from lerim.review import acts, queue
from lerim.session_reading import SessionReading, exists_in
from lerim.sessions.catalog import Catalog, Job
from lerim.sessions.discovery import likely
from lerim.sessions.indexing import Readable
from lerim.sessions.model import Transcript
from lerim.sessions.platforms import removed
from lerim.sessions.queue import EXTRACT
from lerim.sessions.readers import probe
from lerim.sessions.troubles import told
from lerim.summary_step import model_summarizes, summarize_by_rules
from lerim.sync_context import SyncContext, read
from lerim.theme_pass import propose_themes

FIRST_BYTES = 8_000_000
FIRST_OTHERS = 200
"""So many of the newest sessions whose place does not tell where they ran are opened before any is learned from."""


@dataclass(slots=True)
class _Seen:
    """What happened to the project's transcripts in this sync, by place."""

    new: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)


def sync(context: SyncContext) -> SyncReport:
    """Indexes the transcripts that look like this project's and extracts from all its new turns.

    Raises BusyError while another process syncs this project, CatalogError if the catalog cannot be used, SettingsError
    if nobody can tell which agents are not to be read.
    """
    began = time.monotonic()
    project, home, options, clock = context.project, context.home, context.options, context.clock
    owners = context.owners()
    sink = context.sink()
    seen = _Seen()
    state: State = "done"
    with project_lock(home, project.key, "syncing"), Catalog.open(home) as catalog, closing(sink):
        sink.problems += [*catalog.problems, *_remember(context), *_links(sink)]
        catalog.recover(project.key)
        catalog.reown(owners)
        catalog.hold(removed(home))
        context.emit(Progress("looking", 0, 0, 0))
        stores, stale = context.stale(catalog, owners)
        sink.problems += told(stores.problems, context.folders)
        try:
            _take_in(context, catalog, owners, stale, seen, sink)
            if seen.new or seen.changed:
                propose_themes(catalog, sink, clock(), context.settings.rules.theme_days)
            by_model = cache(lambda: options.model == "auto" and model_summarizes(context))
            summarize_by_rules(context, catalog, sink, by_model, options.since)
        except StoppedError:
            state = "cancelled"
        counts = _counts(catalog.places_of(project.key, main=True), seen)
        left_out = catalog.left_out(project.key, options.since, options.until)
        if state == "done":
            catalog.synced(project.key)
    if state == "done" and seen.failed:
        state = "partial"
    summary = f"{counts.found} sessions, {len(sink.candidates)} candidates"
    return context.finish(sink, counts, state, began, summary, left_out=left_out)


def _take_in(
    context: SyncContext, catalog: Catalog, owners: Owners, stale: list[Transcript], seen: _Seen, sink: ProposalSink
) -> None:
    """Indexes what is the project's own and learns from it, the newest first. Raises StoppedError."""
    known = catalog.places_of(context.project.key)
    named, others = likely(stale, known, context.folders)
    silent = [one for one in others if one.platform != "claude" and not one.cwd][:FIRST_OTHERS]
    opened = {one.place for one in silent}
    started = context.started()
    correction = cache(partial(queue.correction, context.home))
    own = _own(context, owners, [*named, *silent], known)
    own.sort(key=lambda one: one.mtime_ns, reverse=True)
    newest, rest = _newest(own)
    _index(context, catalog, owners, newest, 0, len(own), seen, sink)
    _extract(context, catalog, owners, correction, sink, seen, started)
    # Opening the many others, if only to see where they ran, waits until the first candidates are there.
    rest += _own(context, owners, [one for one in others if one.place not in opened], known)
    _index(context, catalog, owners, rest, len(newest), len(newest) + len(rest), seen, sink)
    _extract(context, catalog, owners, correction, sink, seen, started)


def _remember(context: SyncContext) -> list[Problem]:
    """Makes the project known, without the aliases of this run alone."""
    project, home = context.project, context.home
    listed, problems = projects.listed(home)
    if project.is_personal or any(other.key == project.key for other in listed):
        return []
    try:
        projects.add(replace(project, aliases=()), home)
    except LerimError as error:
        return [error.problem()]
    return [problem for problem in problems if problem.path == str(project.root)]


def _links(sink: ProposalSink) -> list[Problem]:
    """Makes the links between memories agree, as after a merge of two branches; what cannot be is told."""
    try:
        repaired = acts.repair(sink.place)
    except LerimError as error:
        return [error.problem()]
    if repaired.count:
        sink.run.note(f"links of {repaired.count} memories put right, undo {repaired.action}")
    return list(repaired.problems)


def _own(
    context: SyncContext, owners: Owners, transcripts: Iterable[Transcript], known: Collection[str]
) -> list[Transcript]:
    """Those of the transcripts that are the project's: known from before, or begun in one of its folders.

    A session that began elsewhere and moved in later shows when `index_rest` has read it whole. Raises StoppedError.
    """
    own: list[Transcript] = []
    for one in transcripts:
        context.raise_if_cancelled()
        if one.place in known or owners.owner(probe(one)) == context.project.key:
            own.append(one)
    return own


def _newest(own: list[Transcript]) -> tuple[list[Transcript], list[Transcript]]:
    """The newest few megabytes, to be learned from at once so that the first candidates come soon, and the rest."""
    size = 0
    for number, transcript in enumerate(own):
        size += transcript.size
        if size > FIRST_BYTES and number:
            return own[:number], own[number:]
    return own, []


def _index(
    context: SyncContext,
    catalog: Catalog,
    owners: Owners,
    transcripts: list[Transcript],
    done: int,
    total: int,
    seen: _Seen,
    sink: ProposalSink,
) -> None:
    known = catalog.stamps()

    def readings() -> Iterator[tuple[Transcript, Readable]]:
        for number, transcript in enumerate(transcripts):
            if context.cancelled():
                return
            context.emit(Progress("reading", done + number, total, len(sink.candidates)))
            yield transcript, read(catalog, transcript)

    for indexed in catalog.index_all(readings(), owners, context.cancelled):
        place = indexed.transcript.place
        (seen.changed if place in known else seen.new).add(place)
        sink.problems += indexed.problems
        if indexed.failed:
            seen.failed.add(place)
    context.raise_if_cancelled()


def _extract(
    context: SyncContext,
    catalog: Catalog,
    owners: Owners,
    correction: Callable[[], Correction],
    sink: ProposalSink,
    seen: _Seen,
    started: float | None,
) -> None:
    """Works off the project's extraction queue, the newest session first. What failed is tried once since `started`."""
    for job, _ in context.claims(catalog, EXTRACT, sink, started=started, since=context.options.since):
        place = job.transcript.place
        try:
            _extract_one(context, catalog, SessionReading(job, context, owners), job, correction(), sink)
        except StoppedError:
            catalog.put_back(job)
            raise
        except UnfinishedError:
            catalog.put_back(job, UNFINISHED_SECONDS)
        except LerimError as error:
            # One session that cannot be read, or whose candidate cannot be written, must not stop the others.
            catalog.fail(job, error.message)
            seen.failed.add(place)
            if not any(one.path == place for one in sink.problems):  # what lies there may be told already
                sink.problems.append(error.problem(place))
        else:
            if job.resume is None:  # also one that another project's sync has indexed
                seen.new.add(place)


def _extract_one(
    context: SyncContext,
    catalog: Catalog,
    reading: SessionReading,
    job: Job,
    correction: Correction,
    sink: ProposalSink,
) -> None:
    """Extracts from the new turns of one session, proposes what holds, and ends its job.

    Raises StoppedError, TranscriptError if the file cannot be read, MemoryError_ if nothing can be written.
    """
    transcript, project = job.transcript, context.project
    extraction = Extraction(
        None if project.is_personal else project.root,
        transcript.session_id,
        transcript.platform,
        reading.state,
        exists=exists_in(project),
        roots=project.folders,
        correction=correction,
    )
    with counting() as secrets:
        for turn in reading:
            with reading.guarded():
                sink.take(extraction.feed(turn))
        with reading.guarded():
            sink.take(extraction.finish(reading.settled))
    sink.problems += (problem for problem in reading.problems if problem not in sink.problems)
    met = () if transcript.parent else tuple(extraction.met.values())
    elsewhere = ((one, catalog.met_elsewhere(project.key, one)) for one in met)
    sink.take(again(one, before, transcript.platform) for one, before in elsewhere if before)
    redactions = reading.redactions + len(secrets)
    catalog.done(job, reading.resume, extraction.state(), reading.again_at, met, redactions)


def _counts(own: frozenset[str], seen: _Seen) -> SessionCounts:
    """Counts the project's sessions that are there (`own`); a subagent's transcript is part of its parent's session,
    where that was read."""
    failed = seen.failed
    main = own | failed
    new = main & seen.new - failed
    changed = main & seen.changed - failed - new
    return SessionCounts(len(main), len(new), len(changed), len(main - new - changed - failed), len(failed))
