"""The memories are maintained by themselves when the person has been away for long: once a day at most, and only where
something changed."""

from __future__ import annotations

import asyncio
import logging

from lerim.errors import LerimError
from lerim.lsp.idle import IdleClock
from lerim.lsp.maintaining import follow
from lerim.lsp.repos import Repo
from lerim.lsp.sidecar import Sidecar

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
    """Maintains each of the window's repositories that is due, one after another."""
    if not sidecar.options.trusted or not sidecar.options.settings.enabled:
        return
    for repo in await sidecar.repos.load():
        if not await sidecar.run(_due, sidecar, repo):
            continue
        try:
            report = await follow(sidecar, repo, explicit=False, waits=False)
        except LerimError as error:
            log.warning("The memories of %s were not maintained: %s", repo.project.name, error.message)
        else:
            log.info("The memories of %s were maintained: %s.", repo.project.name, report.state)


def _minutes(sidecar: Sidecar) -> float:
    from lerim import config

    repos = sidecar.repos.known
    settings, _ = config.load(sidecar.environ, sidecar.home, repos[0].project.root if repos else None)
    return settings.idle_minutes


def _due(sidecar: Sidecar, repo: Repo) -> bool:
    from lerim.last_maintained import due

    return due(repo.project, sidecar.home, sidecar.clock())
