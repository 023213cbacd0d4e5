"""Maintains project and personal memories when the person has been away for long, at most once a day."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from lerim.errors import LerimError
from lerim.jobs import JobLine, MaintainReport, is_maintenance_due
from lerim.lsp.features.maintaining import follow_maintaining
from lerim.lsp.window import IdleClock, Sidecar
from lerim.project import Project, make_personal_project

log = logging.getLogger("lerim.maintain")


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
        partial(sidecar.jobs.maintain, personal.key, personal.root, _ignore_line, explicit=False, has_waiter=False),
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


def _ignore_line(_: JobLine) -> None:
    """Ignores progress, since nobody waits for it."""


def _load_idle_minutes(sidecar: Sidecar) -> float:
    from lerim.config import load

    repos = sidecar.repos.known
    settings, _ = load.load_settings(sidecar.environ, sidecar.home, repos[0].project.root if repos else None)
    return settings.idle_minutes
