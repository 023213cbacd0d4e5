"""The part of a sync that needs no model, under the project's lock: index what looks like its own, learn, summarize."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, partial

import msgspec

from lerim import project as projects
from lerim.activity import log_sync
from lerim.errand import Errand, read
from lerim.errors import LerimError, Problem, UnfinishedError
from lerim.learning import UNFINISHED_SECONDS, CancelledError, Learning
from lerim.lock import project_lock
from lerim.project import Owners
from lerim.report import Progress, SessionCounts, State, SyncReport
from lerim.review import acts
from lerim.review.run import try_write
from lerim.sessions.catalog import Catalog
from lerim.sessions.discovery import likely
from lerim.sessions.model import Readable, Transcript
from lerim.sessions.platforms import removed
from lerim.sessions.readers import probe
from lerim.sessions.troubles import told
from lerim.summary_pass import SummaryPass, summarizing
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


def sync(errand: Errand) -> SyncReport:
    """Indexes the transcripts that look like this project's and extracts from all its new turns.

    Raises BusyError while another process syncs this project, CatalogError if the catalog cannot be used, SettingsError
    if nobody can tell which agents are not to be read.
    """
    began = time.monotonic()
    project, home, options, clock = errand.project, errand.home, errand.options, errand.clock
    owners = errand.owners()
    learning = errand.learning(owners)
    seen = _Seen()
    state: State = "done"
    with project_lock(home, project.key, "syncing"), Catalog.open(home) as catalog, closing(learning):
        learning.problems += [*catalog.problems, *_remember(errand), *_links(learning)]
        catalog.recover(project.key)
        catalog.reown(owners)
        catalog.hold(removed(home))
        errand.emit(Progress("looking", 0, 0, 0))
        stores, stale = errand.stale(catalog, owners)
        learning.problems += told(stores.problems, errand.folders)
        try:
            _take_in(errand, catalog, owners, stale, seen, learning)
            if seen.new or seen.changed:
                propose_themes(catalog, learning, clock(), errand.theme_days)
            by_model = cache(
                lambda: options.model == "auto" and summarizing(project, home, errand.environ)[0] is not None
            )
            SummaryPass(catalog, learning, clock(), by_model).run(options.since, options.until)
        except CancelledError:
            state = "cancelled"
        counts = _counts(catalog.places_of(project.key, main=True), seen)
        left_out = catalog.left_out(project.key, options.since, options.until)
        if state == "done":
            catalog.synced(project.key)
    if state == "done" and seen.failed:
        state = "partial"
    learning.run.note(f"{state}: {counts.found} sessions, {len(learning.candidates)} candidates")
    folder, problems = try_write(learning.run)
    learning.problems += problems
    report = learning.report(counts, state, time.monotonic() - began, folder)
    report = msgspec.structs.replace(report, left_out=left_out)
    report.problems.extend(log_sync(home, clock(), report))
    return report


def _take_in(
    errand: Errand, catalog: Catalog, owners: Owners, stale: list[Transcript], seen: _Seen, learning: Learning
) -> None:
    """Indexes what is the project's own and learns from it, the newest first. Raises CancelledError."""
    known = catalog.places_of(errand.project.key)
    named, others = likely(stale, known, errand.folders)
    silent = [one for one in others if one.platform != "claude" and not one.cwd][:FIRST_OTHERS]
    opened = {one.place for one in silent}
    started = errand.clock().timestamp() if errand.options.explicit else None
    own = _own(errand, owners, [*named, *silent], known)
    own.sort(key=lambda one: one.mtime_ns, reverse=True)
    newest, rest = _newest(own)
    _index(catalog, owners, newest, 0, len(own), seen, learning)
    _learn(errand, catalog, learning, seen, started)
    # Opening the many others, if only to see where they ran, waits until the first candidates are there.
    rest += _own(errand, owners, [one for one in others if one.place not in opened], known)
    _index(catalog, owners, rest, len(newest), len(newest) + len(rest), seen, learning)
    _learn(errand, catalog, learning, seen, started)


def _remember(errand: Errand) -> list[Problem]:
    """Makes the project known, without the aliases of this run alone."""
    project, home = errand.project, errand.home
    listed, problems = projects.listed(home)
    if project.is_personal or any(other.key == project.key for other in listed):
        return []
    try:
        projects.add(replace(project, aliases=()), home)
    except LerimError as error:
        return [error.problem()]
    return [problem for problem in problems if problem.path == str(project.root)]


def _links(learning: Learning) -> list[Problem]:
    """Makes the links between memories agree, as after a merge of two branches; what cannot be is told."""
    try:
        repaired = acts.repair(learning.place)
    except LerimError as error:
        return [error.problem()]
    if repaired.count:
        learning.run.note(f"links of {repaired.count} memories put right, undo {repaired.action}")
    return list(repaired.problems)


def _own(errand: Errand, owners: Owners, transcripts: Iterable[Transcript], known: Collection[str]) -> list[Transcript]:
    """Those of the transcripts that are the project's: known from before, or begun in one of its folders.

    A session that began elsewhere and moved in later shows when `index_rest` has read it whole. Raises CancelledError.
    """
    own: list[Transcript] = []
    for one in transcripts:
        if errand.cancelled():
            raise CancelledError
        if one.place in known or owners.owner(probe(one)) == errand.project.key:
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
    catalog: Catalog,
    owners: Owners,
    transcripts: list[Transcript],
    done: int,
    total: int,
    seen: _Seen,
    learning: Learning,
) -> None:
    known = catalog.stamps()

    def readings() -> Iterator[tuple[Transcript, Readable]]:
        for number, transcript in enumerate(transcripts):
            if learning.cancelled():
                return
            learning.emit(Progress("reading", done + number, total, len(learning.candidates)))
            yield transcript, read(catalog, transcript)

    for indexed in catalog.index_all(readings(), owners, learning.cancelled):
        place = indexed.transcript.place
        (seen.changed if place in known else seen.new).add(place)
        learning.problems += indexed.problems
        if indexed.failed:
            seen.failed.add(place)
    if learning.cancelled():
        raise CancelledError


def _learn(errand: Errand, catalog: Catalog, learning: Learning, seen: _Seen, started: float | None) -> None:
    """Works the project's extraction queue off, the newest session first. What waits is taken once since `started`."""
    project, options = errand.project, errand.options
    total = catalog.pending(project.key)
    number = 0
    while job := catalog.claim(project.key, started=started, since=options.since, until=options.until):
        learning.emit(Progress("learning", number, max(total, number), len(learning.candidates)))
        number += 1
        try:
            ended = learning.learn(job, errand.clock())
            learning.meet(job, ended.met, partial(catalog.met_elsewhere, project.key))
        except CancelledError:
            catalog.put_back(job)
            raise
        except UnfinishedError:
            catalog.put_back(job, UNFINISHED_SECONDS)
        except LerimError as error:
            # One session that cannot be read, or whose candidate cannot be written, must not stop the others.
            catalog.fail(job, error.message)
            place = job.transcript.place
            seen.failed.add(place)
            if not any(one.path == place for one in learning.problems):  # what lies there may be told already
                learning.problems.append(error.problem(place))
        else:
            catalog.done(job, ended.resume, ended.state, ended.again_at, ended.met, ended.redactions)
            if job.resume is None:  # also one that another project's sync has indexed
                seen.new.add(job.transcript.place)


def _counts(own: frozenset[str], seen: _Seen) -> SessionCounts:
    """Counts the project's sessions that are there (`own`); a subagent's transcript is part of its parent's session,
    where that was read."""
    failed = seen.failed
    main = own | failed
    new = main & seen.new - failed
    changed = main & seen.changed - failed - new
    return SessionCounts(len(main), len(new), len(changed), len(main - new - changed - failed), len(failed))
