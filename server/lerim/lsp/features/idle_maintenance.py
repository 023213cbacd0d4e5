"""The memories are maintained by themselves when the person has been away for long, once a day at most; their own,
too."""

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
    """After the editor was idle for a while: from now on the long idle is waited for, as long as the settings say."""
    seconds = 60.0 * await sidecar.run(_minutes, sidecar)
    if sidecar.rest is None:
        loop = asyncio.get_running_loop()
        sidecar.rest = IdleClock(loop, seconds, lambda: sidecar.spawn("Maintaining", maintain_when_idle(sidecar)))
    elif sidecar.rest.seconds != seconds:
        sidecar.rest.change(seconds)


async def maintain_when_idle(sidecar: Sidecar) -> None:
    """Maintains each of the window's repositories that is due, one after another, and the person's own memories."""
    if not sidecar.options.trusted or not sidecar.options.settings.enabled:
        return
    for repo in await sidecar.repos.load():
        await _maintained(
            sidecar, repo.project, partial(follow_maintaining, sidecar, repo, explicit=False, waits=False)
        )
    own = make_personal_project(sidecar.home)
    await _maintained(
        sidecar, own, partial(sidecar.jobs.maintain, own.key, own.root, _quiet, explicit=False, waits=False)
    )


async def _maintained(sidecar: Sidecar, project: Project, maintain: Callable[[], Awaitable[MaintainReport]]) -> None:
    """One of them, if it is due; what keeps it from being maintained is told in the log."""
    if not await sidecar.run(is_maintenance_due, project, sidecar.home, sidecar.clock()):
        return
    try:
        report = await maintain()
    except LerimError as error:
        log.warning("The memories of %s were not maintained: %s", project.name, error.message)
    else:
        log.info("The memories of %s were maintained: %s.", project.name, report.state)


def _quiet(_: JobLine) -> None:
    """Nobody looks on."""


def _minutes(sidecar: Sidecar) -> float:
    from lerim.config import load

    repos = sidecar.repos.known
    settings, _ = load.load_settings(sidecar.environ, sidecar.home, repos[0].project.root if repos else None)
    return settings.idle_minutes
