"""How many candidates wait, told whenever that may have changed, whoever changed it. Light: it reads no candidate."""

from __future__ import annotations

from collections.abc import Iterable

from lerim.lsp.protocol import CANDIDATES_CHANGED
from lerim.lsp.repos import Repo
from lerim.lsp.sidecar import Sidecar
from lerim.review import glance
from lerim.review.place import Place


def place(sidecar: Sidecar, repo: Repo) -> Place:
    """Where the repository's review lies."""
    return Place(repo.project, sidecar.home)


def count(sidecar: Sidecar, repo: Repo) -> int:
    """How many candidates wait; none in Restricted Mode."""
    return glance.count(place(sidecar, repo)) if sidecar.options.trusted else 0


async def announce(sidecar: Sidecar, repo: Repo) -> None:
    """Tells the editor how many candidates wait, and that the list may be another one."""
    repo.reviewed = await sidecar.run(glance.stamp, place(sidecar, repo))
    waiting = await sidecar.run(count, sidecar, repo)
    sidecar.notify(repo, CANDIDATES_CHANGED, project=repo.project.key, pending=waiting)


async def look(sidecar: Sidecar, repos: Iterable[Repo]) -> None:
    """Tells of each of these repositories whose waiting candidates are not those told last."""
    if not sidecar.options.trusted:
        return
    for repo in repos:
        if await sidecar.run(glance.stamp, place(sidecar, repo)) != repo.reviewed:
            await announce(sidecar, repo)
