"""Syncs from the editor, on request or when the editor was idle and something changed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from lerim.errors import LerimError
from lerim.jobs import CandidateFound, CandidateWithdrawn, JobLine, Stage, SyncProgress, SyncReport
from lerim.lsp.features import exporting
from lerim.lsp.protocol import SYNC_PROGRESS, SyncParams
from lerim.lsp.window import Repo, Sidecar, candidate_counts, reload
from lerim.lsp.window import idle as clockwork

if TYPE_CHECKING:
    from lerim.project import FolderOwners
    from lerim.sessions import DiscoveredStores

log = logging.getLogger("lerim.sync")
FINAL_STAGES = ("done", "failed", "cancelled")
COUNT_INTERVAL_SECONDS = 0.25
"""Interval between counts of the candidates while a sync adds them."""


class SyncProgressParams(msgspec.Struct, frozen=True):
    """Progress of the sync of a workspace folder's repository."""

    root: str
    stage: Stage
    sessions_done: int
    sessions_total: int
    candidates: int
    message: str


async def sync_root(sidecar: Sidecar, params: SyncParams) -> SyncReport:
    """Syncs a root, or joins the running sync. Progress is sent as notifications."""
    sidecar.require_trust("Sync")
    repo = await sidecar.find_repo(params.root)
    return await follow_sync(sidecar, repo, explicit=params.explicit)


async def follow_sync(sidecar: Sidecar, repo: Repo, *, explicit: bool, has_waiter: bool = True) -> SyncReport:
    """Syncs one repository and sends its progress. `has_waiter`: the caller waits for it and may cancel it."""
    notifier = SyncNotifier(sidecar, repo)
    try:
        report = await sidecar.jobs.sync(
            repo.project.key, repo.project.root, notifier, explicit=explicit, has_waiter=has_waiter
        )
    except asyncio.CancelledError:
        notifier.finish("cancelled", "")
        raise
    except LerimError as error:
        notifier.finish("failed", error.message)
        raise
    except Exception:
        notifier.finish("failed", "See Lerim: Show Log.")
        raise
    notifier.finish(report.state if report.state in ("cancelled", "failed") else "done", report.message)
    await candidate_counts.announce_candidates(sidecar, repo)
    exporting.refresh_agent_files(sidecar, repo)
    return report


class SyncNotifier:
    """Sends a job's progress to the editor as notifications."""

    def __init__(self, sidecar: Sidecar, repo: Repo) -> None:
        self._sidecar = sidecar
        self._repo = repo
        self._last = SyncProgress("looking", 0, 0, 0)
        self._is_counting = False

    def __call__(self, line: JobLine) -> None:
        if isinstance(line, SyncProgress):
            self._last = line
            self._send(line)
        elif isinstance(line, CandidateFound | CandidateWithdrawn) and not self._is_counting:
            self._is_counting = True
            self._sidecar.spawn("Counting candidates", self._announce_counts())

    def finish(self, stage: Stage, message: str) -> None:
        """Sends the final stage, unless the job already reported one."""
        last = self._last
        if last.stage not in FINAL_STAGES:
            self._send(SyncProgress(stage, last.sessions_done, last.sessions_total, last.candidates, message))

    def _send(self, progress: SyncProgress) -> None:
        self._sidecar.notify(
            self._repo,
            SYNC_PROGRESS,
            lambda root: SyncProgressParams(
                root=root,
                stage=progress.stage,
                sessions_done=progress.sessions_done,
                sessions_total=progress.sessions_total,
                candidates=progress.candidates,
                message=progress.message,
            ),
        )

    async def _announce_counts(self) -> None:
        await candidate_counts.announce_candidates(self._sidecar, self._repo)
        await asyncio.sleep(COUNT_INTERVAL_SECONDS)
        self._is_counting = False
        await candidate_counts.announce_candidates(self._sidecar, self._repo)


async def sync_when_idle(sidecar: Sidecar) -> None:
    """Checks memories and the agents' stores by stat when the person is idle, and syncs only if a sync would find
    something."""
    await reload.check_for_changes(sidecar)
    if not sidecar.options.trusted or not sidecar.options.settings.enabled:
        return
    repos = await sidecar.repos.load()
    if not repos:
        return
    snapshot, is_due = await sidecar.run_in_thread(_check_stores, sidecar, [repo.project.key for repo in repos])
    all_synced = True
    for repo in repos if is_due else ():
        try:
            report = await follow_sync(sidecar, repo, explicit=False, has_waiter=False)
        except LerimError as error:
            log.warning("The sync of %s stopped: %s", repo.project.name, error.message)
            all_synced = False
        else:
            # A "busy" or cancelled sync may have left something undone, so the next idle check looks again.
            all_synced = all_synced and report.state in ("done", "partial")
    sidecar.last_snapshot = snapshot if all_synced else None


def _check_stores(sidecar: Sidecar, projects: Sequence[str]) -> tuple[clockwork.StoreSnapshot, bool]:
    from lerim.project import FolderOwners, list_projects
    from lerim.sessions import Catalog, discover_stores, find_platform_roots

    owners = FolderOwners(list_projects(sidecar.home)[0], home=sidecar.home)
    with Catalog.open(sidecar.home) as catalog:  # the same folders as a sync: some sessions' stamps depend on them
        folders = [*owners.folders, *catalog.list_folders()]
    stores = discover_stores(find_platform_roots(sidecar.environ, sidecar.home), folders)
    for problem in stores.problems:
        log.info("%s: %s", problem.code, problem.path)
    snapshot = clockwork.snapshot_stores(stores.transcripts, stores.databases, time.time_ns())
    return snapshot, clockwork.is_sync_due(
        snapshot, sidecar.last_snapshot, lambda: _is_catalog_behind(sidecar, projects, stores, owners, folders)
    )


def _is_catalog_behind(
    sidecar: Sidecar, projects: Sequence[str], stores: DiscoveredStores, owners: FolderOwners, folders: Sequence[str]
) -> bool:
    """Whether a transcript changed since the catalog read it, or an interrupted sync left work to do.

    Some agents write to their database all the time. A changed database is listed here and its stamp stored if it has
    nothing new, since starting a job costs more. Only sessions of these projects count in a database.
    """
    from lerim.files import is_readable
    from lerim.sessions import Catalog, compare_stamps, open_databases

    with Catalog.open(sidecar.home) as catalog:
        open_databases(stores, catalog.load_store_stamps(), folders, catalog.load_damaged_stores())
        catalog.keep_damaged_stores(stores.damaged_stores)
        found = compare_stamps(stores, catalog.load_stamps())
        stale = (*found.new, *found.changed)
        project_places = frozenset[str]().union(*(catalog.find_project_places(project) for project in projects))
        closed = catalog.find_unopened_places() if stale else frozenset()
        for entry in stale:
            if entry.place in closed and (entry.store_key or not is_readable(entry.path)):
                continue
            if (
                not entry.store_key
                or not entry.cwd
                or entry.place in project_places
                or owners.find_owner(entry.cwd) in projects
            ):
                return True
        unread = {entry.path for entry in stale}
        catalog.mark_vanished(found.vanished)
        catalog.keep_store_stamps(entry for entry in stores.opened_databases if entry.path not in unread)
        return any(
            catalog.count_due_jobs(project) or catalog.count_jobs_by_state(project).get("running")
            for project in projects
        )
