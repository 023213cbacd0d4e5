"""Projects: their state, their settings, the queue of their sessions, and their runs."""

from __future__ import annotations

from typing import Annotated

import msgspec

from lerim.errors import ProjectError
from lerim.review import RunDetails, RunView, list_runs, load_run
from lerim.views import (
    ChangedJobsOutput,
    ConfigOutput,
    LastStatus,
    ProjectListOutput,
    QueueOutput,
    StatusOutput,
    change_jobs,
    find_gone_problems,
    load_configuration,
    load_project_list,
    load_queue,
    load_status,
)
from lerim.web.api.operations import Call, Limit, Offset, Operation

JobNumber = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]


class QueueQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs to list; `all` is all of them at once."""

    limit: Limit = 100
    offset: Offset = 0
    all: bool = False


class JobsBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of jobs; an empty list stands for all that were given up and, to retry, those that failed."""

    jobs: Annotated[list[JobNumber], msgspec.Meta(max_length=10_000)] = []


class RunsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs: `limit` of them from number `start` on, the newest being number 0."""

    start: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50


class RunListOutput(msgspec.Struct, frozen=True):
    """Some runs, and how many there are in all."""

    runs: list[RunView]
    total: int


def list_projects(call: Call) -> ProjectListOutput:
    """Returns the repositories that Lerim knows."""
    return load_project_list(call.home)


def show_status(call: Call) -> StatusOutput:
    """Returns the state of a project. Raises ProjectError for the personal memories, which are not a repository."""
    context = call.context()
    if context.project.is_personal:
        raise ProjectError("Personal memories are not a repository.", where="global", todo="Name a repository.")
    with call.use_search(context.review_paths) as search:
        last = call.served.statuses.setdefault(search, LastStatus())
        view = load_status(context, call.served.clock(), search, last)
    gone = find_gone_problems(context.project, call.home)
    return msgspec.structs.replace(view, problems=[*gone, *context.problems, *view.problems])


def show_project_configuration(call: Call) -> ConfigOutput:
    """Returns the settings in force for a project."""
    project = call.context().project
    return load_configuration(call.home, call.served.environ, None if project.is_personal else project)


def show_configuration(call: Call) -> ConfigOutput:
    """Returns your own settings."""
    return load_configuration(call.home, call.served.environ, None)


def show_queue(call: Call, query: QueueQuery) -> QueueOutput:
    """Returns the jobs that wait, have failed or were given up, and why."""
    return load_queue(call.context(), None if query.all else query.limit, query.offset)


def retry_jobs(call: Call, body: JobsBody) -> ChangedJobsOutput:
    """Makes jobs run at the next sync."""
    changed = change_jobs(call.context(), body.jobs, lambda catalog, project: catalog.retry_jobs(project, body.jobs))
    return ChangedJobsOutput(changed)


def skip_jobs(call: Call, body: JobsBody) -> ChangedJobsOutput:
    """Skips sessions until they have new turns."""
    changed = change_jobs(call.context(), body.jobs, lambda catalog, project: catalog.skip_jobs(project, body.jobs))
    return ChangedJobsOutput(changed)


def show_runs(call: Call, query: RunsQuery) -> RunListOutput:
    """Returns the runs, the newest first, and which models were asked in each."""
    return RunListOutput(*list_runs(call.review_paths(), query.start, query.limit))


def show_run(call: Call) -> RunDetails:
    """Returns what one run did, with its logs."""
    return load_run(call.review_paths(), call.path["run"])


operations = [
    Operation("GET", "/projects", "List the repositories that Lerim knows", list_projects),
    Operation("GET", "/projects/{project}/status", "Show the state of a repository", show_status),
    Operation("GET", "/projects/{project}/configuration", "Show a project's settings", show_project_configuration),
    Operation("GET", "/configuration", "Show your settings", show_configuration),
    Operation("GET", "/projects/{project}/queue", "Show the queue", show_queue),
    Operation("POST", "/projects/{project}/queue/retry", "Retry jobs", retry_jobs),
    Operation("POST", "/projects/{project}/queue/skip", "Skip jobs", skip_jobs),
    Operation("GET", "/projects/{project}/runs", "List the runs", show_runs),
    Operation("GET", "/projects/{project}/runs/{run}", "Show a run", show_run),
]
