"""The Agents view's requests: the state of each agent's store, the queue, connecting and disconnecting.

Examining the stores needs the transcript readers, which the sidecar does not use otherwise, so they are imported late.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import msgspec

from lerim.errors import UsageError
from lerim.heap import release_heap
from lerim.jobs import AgentView, examine_agents
from lerim.lsp.features.sessions import listing
from lerim.lsp.protocol import AgentsParams, ConnectParams, OutcomeView, QueueParams
from lerim.lsp.window import Repo, Sidecar
from lerim.sessions import (
    PLATFORM_NAMES,
    Catalog,
    JobRow,
    Platform,
    browsing,
    clean_line,
    column_values,
    platforms,
    queue,
    session_title,
)

MAX_JOBS = 200


class JobView(msgspec.Struct, frozen=True):
    """A job that failed or was given up; `id` is that of its session."""

    job: int
    kind: str
    state: Literal["failed", "dead"]
    tries: int
    id: str
    title: str
    error: str


class AgentsView(msgspec.Struct, frozen=True):
    """The state of every agent for one project, and the project's queue: the number of jobs in each state, and the jobs
    that failed."""

    project: str
    agents: list[AgentView]
    queue: dict[str, int]
    jobs: list[JobView]


async def list_agents(sidecar: Sidecar, params: AgentsParams) -> AgentsView:
    """Lists every agent, and the queue of one repository."""
    sidecar.require_trust("The list of agents")
    repo = await sidecar.find_repo_if_any(params.root)
    return await sidecar.run_in_thread(_load_agents, sidecar, repo)


async def connect_agent(sidecar: Sidecar, params: ConnectParams) -> OutcomeView:
    """Connects or disconnects an agent."""
    sidecar.require_trust("Connecting agents")
    platform = _parse_platform(params.platform)
    return await sidecar.run_in_thread(_change_connection, sidecar, platform, params)


async def act_on_job(sidecar: Sidecar, params: QueueParams) -> OutcomeView:
    """Retries or skips a job of one of the window's repositories."""
    sidecar.require_trust("The queue")
    keys = await listing.list_project_keys(sidecar, everywhere=False) or []
    return await sidecar.run_in_thread(_change_job, sidecar, keys, params)


def _parse_platform(name: str) -> Platform:
    if name not in PLATFORM_NAMES:
        raise UsageError(f"There is no agent {name[:40]!r}.", todo=f"Use one of: {', '.join(PLATFORM_NAMES)}.")
    return cast(Platform, name)


def _load_agents(sidecar: Sidecar, repo: Repo | None) -> AgentsView:
    project = repo.project if repo is not None else None
    views = examine_agents(sidecar.home, sidecar.environ, project)
    release_heap()  # frees the stamps of every transcript on the machine
    if project is None or not sidecar.home.catalog.exists():
        return AgentsView(project.name if project is not None else "", views, {}, [])
    with Catalog.open(sidecar.home) as catalog:
        # Model jobs wait for ever if no model is chosen, so they are not counted; their failures are listed.
        state_counts = catalog.count_open_jobs(project.key, (column_values.EXTRACT_JOB,))
        rows = catalog.list_open_jobs(
            project.key, (), failed_kinds=(column_values.EXTRACT_JOB, queue.MODEL_JOB), limit=MAX_JOBS
        )
        jobs = [_make_job_view(catalog, row) for row in rows]
    return AgentsView(project.name, views, state_counts, jobs)


def _make_job_view(catalog: Catalog, row: JobRow) -> JobView:
    session = browsing.find_list_item(catalog.db, row.place)
    title = session_title(session) if session is not None else clean_line(row.title or row.session)
    return JobView(
        job=row.id,
        kind=row.kind,
        state="dead" if row.state == "dead" else "failed",
        tries=row.tries,
        id=row.place,
        title=title,
        error=clean_line(row.reason),
    )


def _change_connection(sidecar: Sidecar, platform: Platform, params: ConnectParams) -> OutcomeView:
    name = PLATFORM_NAMES[platform]
    if params.action == "disconnect":
        if not platforms.remove_platform(sidecar.home, platform):
            return OutcomeView(True, f"{name} was not read.")
        return OutcomeView(True, f"{name} is no longer read. What was learned from its sessions stays.")
    platforms.connect_platform(sidecar.home, platform, Path(params.path) if params.path is not None else None)
    return OutcomeView(True, f"{name} is read from now on. The next sync reads its sessions.")


def _change_job(sidecar: Sidecar, projects: list[str], params: QueueParams) -> OutcomeView:
    with Catalog.open(sidecar.home) as catalog:
        change = catalog.retry_jobs if params.action == "retry" else catalog.skip_jobs
        if not any(change(project, [params.job]) for project in projects):
            return OutcomeView(False, "This job no longer exists, or is running.")
    if params.action == "retry":
        return OutcomeView(True, "This job will be retried in the next sync.")
    return OutcomeView(True, "This session is skipped until it has new turns.")
