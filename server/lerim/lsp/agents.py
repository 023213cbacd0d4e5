"""The Agents view's requests: what is known of each agent's store, the queue, connecting and disconnecting.

Looking at the stores needs the readers, which a sidecar has no other use for: they are imported at the first look.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import cast

import msgspec

from lerim.doctor import AgentView, examine
from lerim.errors import UsageError
from lerim.lsp import sessions
from lerim.lsp.repos import Repo, release_memory
from lerim.lsp.session_protocol import AgentsParams, ConnectParams, DoneView, JobView, QueueParams
from lerim.lsp.sidecar import Sidecar
from lerim.sessions import browsing, platforms, queue, stored
from lerim.sessions.catalog import Catalog
from lerim.sessions.model import Platform
from lerim.sessions.queue_rows import JobRow

MAX_JOBS = 200


class AgentsView(msgspec.Struct, frozen=True):
    """Every agent as `lerim.doctor` sees it for one project, and the project's queue: how many jobs are in each state,
    and those in trouble."""

    project: str
    agents: list[AgentView]
    queue: dict[str, int]
    jobs: list[JobView]


async def agents(sidecar: Sidecar, params: AgentsParams) -> AgentsView:
    """Every agent, and the queue of one repository."""
    sidecar.trust("The list of agents")
    repo = await _repo(sidecar, params.root)
    return await sidecar.run(_agents, sidecar, repo)


async def connect(sidecar: Sidecar, params: ConnectParams) -> DoneView:
    """Reads an agent's sessions from now on, or no more."""
    sidecar.trust("Connecting agents")
    platform = _platform(params.platform)
    return await sidecar.run(_connect, sidecar, platform, params)


async def act(sidecar: Sidecar, params: QueueParams) -> DoneView:
    """Lets a job of one of the window's repositories run once more, or leaves it alone."""
    sidecar.trust("The queue")
    keys = await sessions.own(sidecar, everywhere=False) or []
    return await sidecar.run(_act, sidecar, keys, params)


async def _repo(sidecar: Sidecar, root: str | None) -> Repo | None:
    if root is not None:
        return await sidecar.repo(root)
    return next(iter(await sidecar.repos.load()), None)


def _platform(name: str) -> Platform:
    if name not in sessions.NAMES:
        raise UsageError(f"There is no agent {name[:40]!r}.", todo=f"There are {', '.join(sessions.NAMES)}.")
    return cast(Platform, name)


def _agents(sidecar: Sidecar, repo: Repo | None) -> AgentsView:
    project = repo.project if repo is not None else None
    views = examine(sidecar.home, sidecar.environ, project)
    release_memory()  # what every transcript on the machine was compared with
    if project is None or not sidecar.home.catalog.exists():
        return AgentsView(project.name if project is not None else "", views, {}, [])
    with Catalog.open(sidecar.home) as catalog:
        rows = catalog.jobs(project.key, (stored.EXTRACT, queue.MODEL))
        # what waits for a model waits for ever where none is chosen; that one was asked in vain is told all the same
        counted: dict[str, int] = dict(Counter(str(row.state) for row in rows if row.kind == stored.EXTRACT))
        troubled = [row for row in rows if row.state in ("failed", "dead")][:MAX_JOBS]
        jobs = [_job(catalog, row) for row in troubled]
    return AgentsView(project.name, views, counted, jobs)


def _job(catalog: Catalog, row: JobRow) -> JobView:
    session = browsing.session(catalog.db, row.place)
    title = sessions.title(session) if session is not None else sessions.line(row.title or row.session)
    return JobView(
        job=row.id,
        kind=row.kind,
        state="dead" if row.state == "dead" else "failed",
        tries=row.tries,
        id=row.place,
        title=title,
        error=sessions.line(row.reason),
    )


def _connect(sidecar: Sidecar, platform: Platform, params: ConnectParams) -> DoneView:
    name = sessions.NAMES[platform]
    if params.action == "disconnect":
        if not platforms.remove(sidecar.home, platform):
            return DoneView(True, f"{name} was not connected.")
        return DoneView(True, f"{name} is disconnected: its sessions are read no more. What was read of them stays.")
    platforms.connect(sidecar.home, platform, Path(params.path) if params.path is not None else None)
    return DoneView(True, f"{name} is connected. The next sync reads its sessions.")


def _act(sidecar: Sidecar, projects: list[str], params: QueueParams) -> DoneView:
    with Catalog.open(sidecar.home) as catalog:
        change = catalog.retry if params.action == "retry" else catalog.skip
        if not any(change(project, [params.job]) for project in projects):
            return DoneView(False, "This job is not there any more, or is running.")
    if params.action == "retry":
        return DoneView(True, "It runs again with the next sync.")
    return DoneView(True, "Nothing is learned from this session until it grows.")
