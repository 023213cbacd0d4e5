"""Maintains memories from the editor, on request or when the person has been away for long."""

from __future__ import annotations

import asyncio

import msgspec

from lerim.jobs import JobLine, MaintainProgress, MaintainReport, MaintainStage
from lerim.lsp.protocol import MAINTAIN_PROGRESS, MaintainParams
from lerim.lsp.window import Repo, Sidecar, candidate_counts, notifications, rescan_repo


class MaintainProgressParams(msgspec.Struct, frozen=True):
    """Progress of a maintenance job of a workspace folder's repository. `total` 0: unknown."""

    root: str
    stage: MaintainStage
    done: int
    total: int
    message: str


async def maintain_memories(sidecar: Sidecar, params: MaintainParams) -> MaintainReport:
    """Maintains a root's memories, or joins the running maintenance job. Progress is sent as notifications."""
    sidecar.require_trust("Maintain")
    repo = await sidecar.find_repo(params.root)
    return await follow_maintaining(sidecar, repo, explicit=True, dry_run=params.dry_run)


async def follow_maintaining(
    sidecar: Sidecar, repo: Repo, *, explicit: bool, dry_run: bool = False, has_waiter: bool = True
) -> MaintainReport:
    """Maintains one repository and sends its progress. `has_waiter`: the caller waits for it and may cancel it."""

    def send_progress(line: JobLine) -> None:
        if isinstance(line, MaintainProgress):
            progress = line
            sidecar.notify(
                repo,
                MAINTAIN_PROGRESS,
                lambda root: MaintainProgressParams(
                    root, progress.stage, progress.done, progress.total, progress.message
                ),
            )

    project = repo.project
    try:
        return await sidecar.jobs.maintain(
            project.key, project.root, send_progress, dry_run=dry_run, explicit=explicit, has_waiter=has_waiter
        )
    finally:
        await asyncio.shield(_announce_results(sidecar, repo))


async def _announce_results(sidecar: Sidecar, repo: Repo) -> None:
    """Announces the changes of a maintenance job, even of a cancelled one."""
    if await sidecar.run_in_thread(rescan_repo, repo, True):
        notifications.announce_memories(sidecar, repo)
    await candidate_counts.announce_candidates(sidecar, repo)
