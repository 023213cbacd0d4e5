"""What one sync does, in order: find, index, extract, propose. The job process and the terminal share it.

`sync` works on one project under its lock: it indexes the transcripts that look like the project's own, newest first,
and extracts from them. `index_rest` then indexes every other transcript of the machine in short transactions; a
session found there to have entered this project gets a pending extraction. `run` is both, as a person means them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Literal

import msgspec

from lerim import config, lead_pass, second_pass, summary_model_pass
from lerim import project as projects
from lerim.activity import log_sync, note
from lerim.errors import BusyError, LerimError, Problem, UnfinishedError
from lerim.learning import UNFINISHED_SECONDS, CancelledError, Learning
from lerim.lock import project_lock
from lerim.memory.quotes import QuoteChoice
from lerim.models.editor import Bridge
from lerim.paths import Home
from lerim.project import Owners, Project
from lerim.report import Emit, Progress, SessionCounts, Stage, State, SyncReport, combine
from lerim.review import acts
from lerim.review.place import Place
from lerim.review.run import Run, try_write
from lerim.sessions.catalog import Catalog
from lerim.sessions.discovery import Stores, changes, discover, likely, open_databases
from lerim.sessions.indexing import Readable
from lerim.sessions.model import Transcript
from lerim.sessions.platforms import removed, roots_of
from lerim.sessions.readers import probe, reading
from lerim.sessions.session_rows import CLOSED
from lerim.sessions.troubles import told
from lerim.summary_pass import SummaryPass, summarizing
from lerim.theme_pass import propose_themes

FIRST_BYTES = 8_000_000
FIRST_OTHERS = 200
"""So many of the newest sessions whose place does not tell where they ran are opened before any is learned from."""
Cancelled = Callable[[], bool]
Clock = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How to sync. `explicit`: the person asked, so a session's last exchange counts at once.

    `since` and `until` bound the sessions by time. `accept_above`: candidates at least this sure are accepted unseen,
    with `quotes` shared in git or kept local. `model`: the one the settings name is asked too, or none is.
    """

    explicit: bool = True
    since: datetime | None = None
    until: datetime | None = None
    accept_above: float | None = None
    quotes: QuoteChoice | None = None
    model: Literal["auto", "none"] = "auto"


@dataclass(slots=True)
class _Seen:
    """What happened to the project's transcripts in this sync, by place."""

    new: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)


def run(
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    options: SyncOptions,
    emit: Emit,
    cancelled: Cancelled,
    clock: Clock = _now,
    bridge: Bridge | None = None,
) -> SyncReport:
    """One whole sync: the project's own sessions, then the machine's other ones, then what those brought to light; a
    model, if one is configured, reads what the rules have read; at last the same for sessions outside any repository,
    whose memories are the person's own. `bridge` leads to the editor's own models.

    Raises BusyError while another process syncs this project, CatalogError if the catalog cannot be used, SettingsError
    if nobody can tell which agents are not to be read.
    """
    began = time.monotonic()
    try:
        report = sync(project, home, environ, options, emit, cancelled, clock)
    except LerimError as error:
        with suppress(OSError):  # a home that cannot be written is what the error itself tells
            note(home, clock(), "sync", project.root.name, f"{error.code}: {error.message}", time.monotonic() - began)
        raise
    if report.state != "cancelled":
        report.problems.extend(index_rest(project, home, environ, len(report.candidates), emit, cancelled))
        if _pending(project, home) and not cancelled():
            report = combine(report, sync(project, home, environ, options, emit, cancelled, clock))
    report = _models(report, project, home, environ, options, emit, cancelled, clock, bridge)
    if not project.is_personal and report.state != "cancelled":
        report = _personal(report, home, environ, options, emit, cancelled, clock, bridge)
    stage: Stage = "cancelled" if report.state == "cancelled" else "done"
    found = report.sessions.found
    emit(Progress(stage, found, found, len(report.candidates)))
    return report


def _pending(project: Project, home: Home) -> int:
    with Catalog.open(home) as catalog:
        return catalog.pending(project.key)


def _models(
    report: SyncReport,
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    options: SyncOptions,
    emit: Emit,
    cancelled: Cancelled,
    clock: Clock,
    bridge: Bridge | None,
) -> SyncReport:
    """The report with what a model did besides, if the person's settings name one."""
    for add in (second_pass.add, lead_pass.add, summary_model_pass.add):
        if report.state != "cancelled" and options.model == "auto":
            learning = _learning(project, home, options, _owners(project, home), emit, cancelled, clock)
            report = add(report, learning, environ, options.since, options.until, clock, bridge)
    return report


def _personal(
    report: SyncReport,
    home: Home,
    environ: Mapping[str, str],
    options: SyncOptions,
    emit: Emit,
    cancelled: Cancelled,
    clock: Clock,
    bridge: Bridge | None,
) -> SyncReport:
    """The report with what was learned from sessions outside any repository; another process may be at that already.
    Nothing of them is accepted unseen: they are not what the person asked to be synced."""
    own = projects.personal(home)
    if not _pending(own, home):
        return report
    options = replace(options, accept_above=None)
    try:
        found = sync(own, home, environ, options, emit, cancelled, clock)
        found = _models(found, own, home, environ, options, emit, cancelled, clock, bridge)
    except BusyError:
        return report
    found = msgspec.structs.replace(found, project=report.project, sessions=SessionCounts(report.sessions.found))
    return combine(report, msgspec.structs.replace(found, waits=report.waits))


def sync(
    project: Project,
    home: Home,
    environ: Mapping[str, str],
    options: SyncOptions,
    emit: Emit,
    cancelled: Cancelled,
    clock: Clock = _now,
) -> SyncReport:
    """Indexes the transcripts that look like this project's and extracts from all its new turns.

    Raises BusyError while another process syncs this project, CatalogError if the catalog cannot be used, SettingsError
    if nobody can tell which agents are not to be read.
    """
    began = time.monotonic()
    started = clock().timestamp() if options.explicit else None
    owners = _owners(project, home)
    learning = _learning(project, home, options, owners, emit, cancelled, clock)
    seen = _Seen()
    state: State = "done"
    with project_lock(home, project.key, "syncing"), Catalog.open(home) as catalog, closing(learning):
        learning.problems += [*catalog.problems, *_remember(project, home), *_links(learning)]
        catalog.recover(project.key)
        catalog.reown(owners)
        catalog.hold(removed(home))
        emit(Progress("looking", 0, 0, 0))
        stores, stale = _stale(catalog, home, environ, owners)
        learning.problems += told(stores.problems, (str(project.root), *project.folders))
        try:
            known = catalog.places_of(project.key)
            named, others = likely(stale, known, (str(project.root), *project.folders))
            silent = [one for one in others if one.platform != "claude" and not one.cwd][:FIRST_OTHERS]
            opened = {one.place for one in silent}
            own = _own(project, owners, [*named, *silent], known, cancelled)
            own.sort(key=lambda one: one.mtime_ns, reverse=True)
            newest, rest = _newest(own)
            _index(catalog, owners, newest, 0, len(own), seen, learning)
            _learn(project, catalog, options, learning, seen, clock, started)
            # Opening the many others, if only to see where they ran, waits until the first candidates are there.
            rest += _own(project, owners, [one for one in others if one.place not in opened], known, cancelled)
            _index(catalog, owners, rest, len(newest), len(newest) + len(rest), seen, learning)
            _learn(project, catalog, options, learning, seen, clock, started)
            if seen.new or seen.changed:
                propose_themes(catalog, learning, clock(), _theme_days(project, home, environ))
            by_model = cache(lambda: options.model == "auto" and summarizing(project, home, environ)[0] is not None)
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


def _theme_days(project: Project, home: Home, environ: Mapping[str, str]) -> int:
    return config.load(environ, home, project.root)[0].rules.theme_days


def _learning(
    project: Project,
    home: Home,
    options: SyncOptions,
    owners: Owners,
    emit: Emit,
    cancelled: Cancelled,
    clock: Clock,
) -> Learning:
    place = Place(project, home)
    return Learning(
        place,
        owners,
        emit,
        cancelled,
        options.explicit,
        options.accept_above,
        options.quotes or place.store().quotes.choice() or "shared",
        Run(place, clock()),
    )


def index_rest(
    project: Project, home: Home, environ: Mapping[str, str], candidates: int, emit: Emit, cancelled: Cancelled
) -> list[Problem]:
    """Indexes every transcript of the machine that is new or changed, under no lock, until done or cancelled.

    A transcript that cannot be read is noted in the catalog, where its own project's sync reports it; what is damaged
    in those that belong to no project is returned. Raises CatalogError, SettingsError.
    """
    owners = _owners(project, home)
    with Catalog.open(home) as catalog:
        stores, stale = _stale(catalog, home, environ, owners)

        def readings() -> Iterator[tuple[Transcript, Readable]]:
            for number, transcript in enumerate(stale):
                if cancelled():
                    return
                emit(Progress("reading", number, len(stale), candidates, "other projects' sessions"))
                yield transcript, _reading(catalog, transcript)

        waiting: set[Path] = set()
        damaged: list[Problem] = []
        for indexed in catalog.index_all(readings(), owners):
            if indexed.taken or (indexed.failed and any(problem.code == CLOSED for problem in indexed.problems)):
                waiting.add(indexed.transcript.path)
            elif indexed.failed or any(problem.code == "bad-row" for problem in indexed.problems):
                folders = indexed.session.cwds if indexed.session else (probe(indexed.transcript),)
                if not any(map(owners.owner, folders)):
                    damaged += indexed.problems
        if not cancelled():
            catalog.keep_stores(database for database in stores.opened if database.path not in waiting)
    return told(damaged, (str(project.root), *project.folders))


def _remember(project: Project, home: Home) -> list[Problem]:
    """Makes the project known, without the aliases of this run alone."""
    listed, problems = projects.listed(home)
    if project.is_personal or any(other.key == project.key for other in listed):
        return []
    try:
        projects.add(replace(project, aliases=()), home)
    except LerimError as error:
        return [Problem(error.code, error.where, f"{error.message} {error.todo}".strip())]
    return [problem for problem in problems if problem.path == str(project.root)]


def _links(learning: Learning) -> list[Problem]:
    """Makes the links between memories agree, as after a merge of two branches; what cannot be is told."""
    try:
        repaired = acts.repair(learning.place)
    except LerimError as error:
        return [Problem(error.code, error.where, f"{error.message} {error.todo}".strip())]
    if repaired.count:
        learning.run.note(f"links of {repaired.count} memories put right, undo {repaired.action}")
    return list(repaired.problems)


def _owners(project: Project, home: Home) -> Owners:
    """Every registered project with its aliases; this one as it was given, it may carry aliases of its own."""
    listed, _ = projects.listed(home)
    return Owners([project, *(other for other in listed if other.key != project.key)], home=home)


def _stale(catalog: Catalog, home: Home, environ: Mapping[str, str], owners: Owners) -> tuple[Stores, list[Transcript]]:
    """What lies in the agents' stores, and what of it is new or changed, newest first."""
    folders = [*owners.folders, *catalog.folders()]
    stores = discover(roots_of(environ, home), folders)
    open_databases(stores, catalog.stores(), folders)
    found = changes(stores, catalog.stamps())
    catalog.vanished(found.vanished)
    return stores, sorted((*found.new, *found.changed), key=lambda one: one.mtime_ns, reverse=True)


def _reading(catalog: Catalog, transcript: Transcript) -> Readable:
    return reading(transcript, catalog.resume_of(transcript.place), brief=True)


def _own(
    project: Project,
    owners: Owners,
    transcripts: Iterable[Transcript],
    known: Collection[str],
    cancelled: Cancelled,
) -> list[Transcript]:
    """Those of the transcripts that are the project's: known from before, or begun in one of its folders.

    A session that began elsewhere and moved in later shows when `index_rest` has read it whole. Raises CancelledError.
    """
    own: list[Transcript] = []
    for one in transcripts:
        if cancelled():
            raise CancelledError
        if one.place in known or owners.owner(probe(one)) == project.key:
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
            yield transcript, _reading(catalog, transcript)

    for indexed in catalog.index_all(readings(), owners):
        place = indexed.transcript.place
        (seen.changed if place in known else seen.new).add(place)
        learning.problems += indexed.problems
        if indexed.failed:
            seen.failed.add(place)
    if learning.cancelled():
        raise CancelledError


def _learn(
    project: Project,
    catalog: Catalog,
    options: SyncOptions,
    learning: Learning,
    seen: _Seen,
    clock: Clock,
    started: float | None,
) -> None:
    """Works the project's extraction queue off, the newest session first. What waits is taken once since `started`."""
    total = catalog.pending(project.key)
    number = 0
    while job := catalog.claim(project.key, started=started, since=options.since, until=options.until):
        learning.emit(Progress("learning", number, max(total, number), len(learning.candidates)))
        number += 1
        try:
            ended = learning.learn(job, clock())
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
            learning.problems.append(Problem(error.code, error.where or place, f"{error.message} {error.todo}".strip()))
        else:
            catalog.done(job, ended.resume, ended.state, ended.again_at, ended.met, ended.redactions)
            if job.resume is None:  # also one that another project's sync has indexed
                seen.new.add(job.transcript.place)


def _counts(own: frozenset[str], seen: _Seen) -> SessionCounts:
    """Counts the project's sessions that are there (`own`); a subagent's transcript is part of its parent's session."""
    failed = seen.failed
    main = own | failed
    new = main & seen.new - failed
    changed = main & seen.changed - failed - new
    return SessionCounts(len(main), len(new), len(changed), len(main - new - changed - failed), len(failed))
