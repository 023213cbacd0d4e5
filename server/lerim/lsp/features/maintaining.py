"""Maintains memories from the editor, on request or, at most once a day, when the person has been away for long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec

from lerim.errors import LerimError
from lerim.jobs import JobLine, MaintainProgress, MaintainReport, is_maintenance_due
from lerim.lsp.features.changes import update_after_change
from lerim.lsp.protocol import MAINTAIN_PROGRESS, RootParams
from lerim.lsp.window import IdleClock, Repo, Sidecar
from lerim.project import Project, make_personal_project

log = logging.getLogger("lerim.maintain")


class MaintainProgressParams(MaintainProgress, frozen=True, kw_only=True, tag=False):
    """Progress of a maintenance job of a workspace folder's repository. `total` 0: unknown."""

    root: str


async def maintain_memories(sidecar: Sidecar, params: RootParams) -> MaintainReport:
    """Maintains a root's memories, or joins the running maintenance job. Progress is sent as notifications."""
    repo = await sidecar.find_trusted_repo(params.root, "Maintain")
    return await follow_maintaining(sidecar, repo, explicit=True)


async def follow_maintaining(
    sidecar: Sidecar, repo: Repo, *, explicit: bool, has_waiter: bool = True
) -> MaintainReport:
    """Maintains one repository and sends its progress. `has_waiter`: the caller waits for it and may cancel it."""

    def send_progress(line: JobLine) -> None:
        if isinstance(line, MaintainProgress):
            fields = msgspec.structs.asdict(line)
            sidecar.notify(repo, MAINTAIN_PROGRESS, lambda root: MaintainProgressParams(root=root, **fields))

    project = repo.project
    try:
        return await sidecar.jobs.maintain(
            project.key, project.root, send_progress, explicit=explicit, has_waiter=has_waiter
        )
    finally:
        await asyncio.shield(update_after_change(sidecar, repo))  # even after a cancelled job


async def arm_idle_maintenance(sidecar: Sidecar) -> None:
    """Starts the maintenance clock, whose length comes from the settings; called when the editor becomes idle."""
    seconds = 60.0 * await sidecar.run_in_thread(_load_idle_minutes, sidecar)
    if sidecar.maintenance_clock is None:
        loop = asyncio.get_running_loop()
        sidecar.maintenance_clock = IdleClock(
            loop, seconds, lambda: sidecar.spawn("Maintaining", maintain_when_idle(sidecar))
        )
    elif sidecar.maintenance_clock.seconds != seconds:
        sidecar.maintenance_clock.set_seconds(seconds)


async def maintain_when_idle(sidecar: Sidecar) -> None:
    """Maintains the window's repositories, one after another, and the personal memories, as far as they are due."""
    if not sidecar.options.trusted or not sidecar.options.settings.enabled:
        return
    for repo in await sidecar.repos.load():
        await _maintain_if_due(
            sidecar, repo.project, partial(follow_maintaining, sidecar, repo, explicit=False, has_waiter=False)
        )
    personal = make_personal_project(sidecar.home)
    await _maintain_if_due(
        sidecar,
        personal,
        partial(sidecar.jobs.maintain, personal.key, personal.root, lambda _: None, explicit=False, has_waiter=False),
    )


async def _maintain_if_due(
    sidecar: Sidecar, project: Project, maintain: Callable[[], Awaitable[MaintainReport]]
) -> None:
    """Maintains one project if it is due, and logs the outcome."""
    if not await sidecar.run_in_thread(is_maintenance_due, project, sidecar.home, sidecar.clock()):
        return
    try:
        report = await maintain()
    except LerimError as error:
        log.warning("The memories of %s were not maintained: %s", project.name, error.message)
    else:
        log.info("The memories of %s were maintained: %s.", project.name, report.state)


def _load_idle_minutes(sidecar: Sidecar) -> float:
    from lerim.config import load

    first = sidecar.repos.first
    settings, _ = load.load_settings(sidecar.environ, sidecar.home, first.project.root if first is not None else None)
    return settings.idle_minutes
