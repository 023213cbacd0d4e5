"""The sessions that wait to be read, have failed or were given up."""

from __future__ import annotations

from typing import Annotated

import msgspec

from lerim.views import ChangedJobsOutput, QueueOutput, change_jobs, load_queue
from lerim.web.api.operations import Call, Limit, Offset, Operation

JobNumber = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]


class QueueQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs to list."""

    limit: Limit = 100
    offset: Offset = 0


class JobsBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of jobs; an empty list stands for all that failed or were given up."""

    jobs: Annotated[list[JobNumber], msgspec.Meta(max_length=10_000)] = []


def show_queue(call: Call, query: QueueQuery) -> QueueOutput:
    """Returns the jobs that wait, have failed or were given up, and why."""
    return load_queue(call.context(), query.limit, query.offset)


def retry_jobs(call: Call, body: JobsBody) -> ChangedJobsOutput:
    """Makes jobs run at the next sync."""
    changed = change_jobs(call.context(), body.jobs, lambda catalog, project: catalog.retry_jobs(project, body.jobs))
    return ChangedJobsOutput(changed)


def skip_jobs(call: Call, body: JobsBody) -> ChangedJobsOutput:
    """Skips sessions until they have new turns."""
    changed = change_jobs(call.context(), body.jobs, lambda catalog, project: catalog.skip_jobs(project, body.jobs))
    return ChangedJobsOutput(changed)


operations = [
    Operation("GET", "/projects/{project}/queue", "Show the queue", show_queue),
    Operation("POST", "/projects/{project}/queue/retry", "Retry jobs", retry_jobs),
    Operation("POST", "/projects/{project}/queue/skip", "Skip jobs", skip_jobs),
]
