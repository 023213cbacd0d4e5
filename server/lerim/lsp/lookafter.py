"""The memories are maintained by themselves when the person has been away for long, once a day at most; their own,
too."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from lerim.errors import LerimError
from lerim.last_maintained import due
from lerim.lsp.idle import IdleClock
from lerim.lsp.maintaining import follow
from lerim.lsp.sidecar import Sidecar
from lerim.maintained import MaintainReport
from lerim.project import Project, personal
from lerim.worker import Line

log = logging.getLogger("lerim.maintain")


async def arm(sidecar: Sidecar) -> None:
    """After the editor was idle for a while: from now on the long idle is waited for, as long as the settings say."""
    seconds = 60.0 * await sidecar.run(_minutes, sidecar)
    if sidecar.rest is None:
        loop = asyncio.get_running_loop()
        sidecar.rest = IdleClock(loop, seconds, lambda: sidecar.spawn("Maintaining", look_after(sidecar)))
    elif sidecar.rest.seconds != seconds:
        sidecar.rest.change(seconds)


async def look_after(sidecar: Sidecar) -> None:
    """Maintains each of the window's repositories that is due, one after another, and the person's own memories."""
    if not sidecar.options.trusted or not sidecar.options.settings.enabled:
        return
    for repo in await sidecar.repos.load():
        await _maintained(sidecar, repo.project, partial(follow, sidecar, repo, explicit=False, waits=False))
    own = personal(sidecar.home)
    await _maintained(
        sidecar, own, partial(sidecar.jobs.maintain, own.key, own.root, _quiet, explicit=False, waits=False)
    )


async def _maintained(sidecar: Sidecar, project: Project, maintain: Callable[[], Awaitable[MaintainReport]]) -> None:
    """One of them, if it is due; what keeps it from being maintained is told in the log."""
    if not await sidecar.run(due, project, sidecar.home, sidecar.clock()):
        return
    try:
        report = await maintain()
    except LerimError as error:
        log.warning("The memories of %s were not maintained: %s", project.name, error.message)
    else:
        log.info("The memories of %s were maintained: %s.", project.name, report.state)


def _quiet(_: Line) -> None:
    """Nobody looks on."""


def _minutes(sidecar: Sidecar) -> float:
    from lerim import config

    repos = sidecar.repos.known
    settings, _ = config.load(sidecar.environ, sidecar.home, repos[0].project.root if repos else None)
    return settings.idle_minutes
