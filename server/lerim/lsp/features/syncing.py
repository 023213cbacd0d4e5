"""Sync from the editor: when the person asks, and when the editor was idle and something changed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from lerim.errors import LerimError
from lerim.jobs import CandidateFound, CandidateWithdrawn, JobLine, Stage, SyncProgress, SyncReport
from lerim.lsp.protocol import SYNC_PROGRESS, SyncParams
from lerim.lsp.window import Repo, Sidecar, checkouts, pending
from lerim.lsp.window import idle as clockwork

if TYPE_CHECKING:
    from lerim.project import FolderOwners
    from lerim.sessions import DiscoveredStores

log = logging.getLogger("lerim.sync")
LAST_STAGES = ("done", "failed", "cancelled")
PENDING_EVERY = 0.25
"""Seconds between two counts of the review folder while a sync fills it."""


class SyncProgressParams(msgspec.Struct, frozen=True):
    """How far the sync of a workspace folder's repository is."""

    root: str
    stage: Stage
    sessions_done: int
    sessions_total: int
    candidates: int
    message: str


async def sync_root(sidecar: Sidecar, params: SyncParams) -> SyncReport:
    """Runs or joins a sync of a root; its progress goes out as notifications."""
    sidecar.trust("Sync")
    repo = await sidecar.repo(params.root)
    return await follow_sync(sidecar, repo, explicit=params.explicit)


async def follow_sync(sidecar: Sidecar, repo: Repo, *, explicit: bool, waits: bool = True) -> SyncReport:
    """One sync of a repository. `waits`: somebody waits for it and may cancel it."""
    told = SyncNotifier(sidecar, repo)
    try:
        report = await sidecar.jobs.sync(repo.project.key, repo.project.root, told, explicit=explicit, waits=waits)
    except asyncio.CancelledError:
        told.finish("cancelled", "")
        raise
    except LerimError as error:
        told.finish("failed", error.message)
        raise
    except Exception:
        told.finish("failed", "See Lerim: Show Log.")
        raise
    told.finish(report.state if report.state in ("cancelled", "failed") else "done", report.message)
    await pending.announce_candidates(sidecar, repo)
    return report


class SyncNotifier:
    """Passes a job's lines on to the editor as they come."""

    def __init__(self, sidecar: Sidecar, repo: Repo) -> None:
        self._sidecar = sidecar
        self._repo = repo
        self._last = SyncProgress("looking", 0, 0, 0)
        self._counting = False

    def __call__(self, line: JobLine) -> None:
        if isinstance(line, SyncProgress):
            self._last = line
            self._send(line)
        elif isinstance(line, CandidateFound | CandidateWithdrawn) and not self._counting:
            self._counting = True
            self._sidecar.spawn("Counting candidates", self._count())

    def finish(self, stage: Stage, message: str) -> None:
        """The last word, if the job did not say it itself."""
        last = self._last
        if last.stage not in LAST_STAGES:
            self._send(SyncProgress(stage, last.sessions_done, last.sessions_total, last.candidates, message))

    def _send(self, at: SyncProgress) -> None:
        self._sidecar.notify(
            self._repo,
            SYNC_PROGRESS,
            lambda root: SyncProgressParams(
                root=root,
                stage=at.stage,
                sessions_done=at.sessions_done,
                sessions_total=at.sessions_total,
                candidates=at.candidates,
                message=at.message,
            ),
        )

    async def _count(self) -> None:
        await pending.announce_candidates(self._sidecar, self._repo)
        await asyncio.sleep(PENDING_EVERY)
        self._counting = False
        await pending.announce_candidates(self._sidecar, self._repo)


async def sync_when_idle(sidecar: Sidecar) -> None:
    """The person does nothing: one stat pass over memories and the agents' stores; a sync only if one would find
    something."""
    await checkouts.look_around(sidecar)
    if not sidecar.options.trusted or not sidecar.options.settings.enabled:
        return
    repos = await sidecar.repos.load()
    if not repos:
        return
    seen, something = await sidecar.run(_look, sidecar, [repo.project.key for repo in repos])
    whole = True
    for repo in repos if something else ():
        try:
            report = await follow_sync(sidecar, repo, explicit=False, waits=False)
        except LerimError as error:
            log.warning("The sync of %s stopped: %s", repo.project.name, error.message)
            whole = False
        else:
            # Whoever holds the lock may not take it all, and what was cancelled waits: looked at again next time.
            whole = whole and report.state in ("done", "partial")
    sidecar.looked = seen if whole else None


def _look(sidecar: Sidecar, projects: Sequence[str]) -> tuple[clockwork.StoreSnapshot, bool]:
    from lerim.project import FolderOwners, list_projects
    from lerim.sessions import Catalog, discover_stores, find_platform_roots

    owners = FolderOwners(list_projects(sidecar.home)[0], home=sidecar.home)
    with Catalog.open(sidecar.home) as catalog:  # the folders a sync knows: some sessions' stamps tell by which
        folders = [*owners.folders, *catalog.list_folders()]
    stores = discover_stores(find_platform_roots(sidecar.environ, sidecar.home), folders)
    for problem in stores.problems:
        log.info("%s: %s", problem.code, problem.path)
    seen = clockwork.snapshot_stores(stores.transcripts, stores.databases, time.time_ns())
    return seen, clockwork.is_sync_due(
        seen, sidecar.looked, lambda: _behind(sidecar, projects, stores, owners, folders)
    )


def _behind(
    sidecar: Sidecar, projects: Sequence[str], stores: DiscoveredStores, owners: FolderOwners, folders: Sequence[str]
) -> bool:
    """Whether the catalog lacks a transcript as it is, or a sync that was cut short left something to learn from.

    Some agents write their database all the time, whatever is said: one that changed is listed here, and remembered
    where it has nothing new, since starting a job costs more. Of a database only the sessions of these projects count.
    """
    from lerim.files import is_readable
    from lerim.sessions import Catalog, compare_stamps, open_databases

    with Catalog.open(sidecar.home) as catalog:
        open_databases(stores, catalog.load_store_stamps(), folders, catalog.load_damaged_stores())
        catalog.keep_damaged_stores(stores.damaged_stores)
        found = compare_stamps(stores, catalog.load_stamps())
        stale = (*found.new, *found.changed)
        own = frozenset[str]().union(*(catalog.find_project_places(project) for project in projects))
        closed = catalog.find_unopened_places() if stale else frozenset()
        for one in stale:
            if one.place in closed and (one.store_key or not is_readable(one.path)):
                continue
            if not one.store_key or not one.cwd or one.place in own or owners.find_owner(one.cwd) in projects:
                return True
        unread = {one.path for one in stale}
        catalog.mark_vanished(found.vanished)
        catalog.keep_store_stamps(one for one in stores.opened_databases if one.path not in unread)
        return any(
            catalog.count_due_jobs(project) or catalog.count_jobs_by_state(project).get("running")
            for project in projects
        )
