"""Syncs from the editor, on request or when the editor was idle and something changed.

The editor's file watcher tells when an agent wrote to its store, so that what is said in a terminal is learned although
nobody types in the editor (docs/decisions/0050-what-was-said-last.md).
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import msgspec
from lsprotocol import types

from lerim.errors import LerimError
from lerim.jobs import (
    CandidateFound,
    CandidateWithdrawn,
    JobLine,
    Stage,
    StoreFolder,
    SyncProgress,
    SyncReport,
    check_stores,
    find_next_settling,
    find_sync_elsewhere,
)
from lerim.lsp.boundary import path_to_uri
from lerim.lsp.features import rules_files
from lerim.lsp.protocol import SYNC_PROGRESS, RootParams
from lerim.lsp.window import Repo, Sidecar, candidate_counts, file_watchers, reload

log = logging.getLogger("lerim.sync")
FINAL_STAGES = ("done", "failed", "cancelled")
COUNT_INTERVAL_SECONDS = 0.25
"""Interval between counts of the candidates while a sync adds them."""
SETTLED_MARGIN_SECONDS = 1.0
"""How long after a session has settled its rest is read."""
LOOK_DELAY_SECONDS = 60.0
"""How long after a change the stores are looked at: an agent at work writes every few seconds."""
LOOK_AGAIN_SECONDS = 0.5
"""How often the progress of another process's sync is read."""


class SyncProgressParams(SyncProgress, frozen=True, kw_only=True, tag=False):
    """Progress of the sync of a workspace folder's repository. With the last stage, `settling` counts the sessions
    whose last exchange is not over yet: the sidecar syncs again by itself when it is."""

    root: str


async def sync_root(sidecar: Sidecar, params: RootParams) -> SyncReport:
    """Syncs a root, or joins the running sync. The person asked for it, so what failed before is tried again. Progress
    is sent as notifications."""
    repo = await sidecar.find_trusted_repo(params.root, "Sync")
    return await follow_sync(sidecar, repo, explicit=True)


async def follow_sync(sidecar: Sidecar, repo: Repo, *, explicit: bool, has_waiter: bool = True) -> SyncReport:
    """Syncs one repository and sends its progress. `has_waiter`: the caller waits for it and may cancel it."""
    notifier, project = SyncNotifier(sidecar, repo), repo.project
    sync = partial(sidecar.jobs.sync, project.key, project.root, notifier, explicit=explicit, has_waiter=has_waiter)
    try:
        report = await sync()
        if report.state == "busy" and explicit and await _follow_other_sync(sidecar, repo, notifier):
            report = await sync()
    except asyncio.CancelledError:
        notifier.finish("cancelled", "")
        raise
    except LerimError as error:
        notifier.finish("failed", error.explanation)
        raise
    except Exception:
        notifier.finish("failed", "See Lerim: Show Log.")
        raise
    come_back_at(sidecar, report.settles_at)
    notifier.finish(report.state if report.state in ("cancelled", "failed") else "done", report.message)
    await candidate_counts.announce_candidates(sidecar, repo)
    rules_files.refresh_agent_files(sidecar, repo)
    return report


def come_back_at(sidecar: Sidecar, settles_at: float | None) -> None:
    """Looks at the stores again when a session has settled, at this time in epoch seconds."""
    if settles_at is not None and sidecar.look_timer is not None:
        sidecar.look_timer.look_in(settles_at - sidecar.clock().timestamp() + SETTLED_MARGIN_SECONDS)


async def _follow_other_sync(sidecar: Sidecar, repo: Repo, show: Callable[[JobLine], None]) -> bool:
    """Shows the progress of another process that syncs this repository, until it has ended. Returns whether there was
    one."""
    was_found = False
    while (found := await sidecar.run_in_thread(find_sync_elsewhere, sidecar.home, repo.project.key)) is not None:
        was_found = True
        if found.progress is not None:
            stage = found.progress.stage
            # the last one is ours to report
            show(msgspec.structs.replace(found.progress, stage="learning" if stage in FINAL_STAGES else stage))
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
    return was_found


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
            lambda root: SyncProgressParams(root=root, **msgspec.structs.asdict(progress)),
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
    keys = [repo.project.key for repo in repos]
    snapshot, is_due = await sidecar.run_in_thread(
        check_stores, sidecar.home, sidecar.environ, keys, sidecar.last_snapshot
    )
    sidecar.spawn("Watching the agents' stores", watch_stores(sidecar, snapshot.folders))
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
    if not is_due:
        come_back_at(sidecar, await sidecar.run_in_thread(find_next_settling, sidecar.home, keys))


async def watch_stores(sidecar: Sidecar, folders: Iterable[StoreFolder]) -> None:
    """Asks the editor to report what agents write to these folders."""
    if not file_watchers.can_watch_outside(sidecar):
        return
    folders = sorted(folders, key=lambda one: (one.path, one.pattern))
    sidecar.store_folders = tuple(f"{folder.path}{os.sep}" for folder in folders)
    globs = [types.RelativePattern(path_to_uri(folder.path), folder.pattern) for folder in folders]
    await file_watchers.watch_files(sidecar, globs)


def note_changed_files(sidecar: Sidecar, paths: Iterable[Path]) -> None:
    """Looks at the stores in a while if one of the files is in a store and idle syncs are not turned off."""
    settings = sidecar.options.settings
    if sidecar.look_timer is None or not sidecar.store_folders or not settings.enabled or not settings.idle_seconds:
        return
    if any(str(path).startswith(sidecar.store_folders) for path in paths):
        sidecar.look_timer.look_in(LOOK_DELAY_SECONDS)
