"""The sessions that wait to be read, have failed or were given up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from lerim.config import editor
from lerim.errors import NotFoundError
from lerim.models import choose_model
from lerim.redaction import clean_text
from lerim.sessions import EXTRACT_JOB, MODEL_JOB, Catalog, JobRow
from lerim.views.projects import ProjectContext


class QueueOutput(msgspec.Struct, frozen=True):
    """What `queue list --json` prints; `counts` counts all jobs by state, including finished ones. Secrets are
    removed from every text."""

    jobs: list[JobRow]
    counts: dict[str, int]


class ChangedJobsOutput(msgspec.Struct, frozen=True):
    """What `queue retry`, `queue skip`, `org retry` and `org cancel` print with `--json`: how many they changed."""

    changed: int


def load_queue(context: ProjectContext, limit: int | None = None, offset: int = 0) -> QueueOutput:
    """Loads the open jobs, with `limit` only that many after the first `offset`. Jobs that wait for a model are
    included only if a model is chosen."""
    if not context.home.catalog.exists():
        return QueueOutput([], {})
    kinds = (
        (EXTRACT_JOB, MODEL_JOB)
        if choose_model("extract", context.settings, context.environ, editor.read_editor_state(context.environ)[0])[0]
        else (EXTRACT_JOB,)
    )
    counts: dict[str, int] = {}
    with Catalog.open(context.home) as catalog:
        rows = catalog.list_open_jobs(context.project.key, kinds, limit=limit, offset=offset)
        for kind in kinds:
            for state, number in catalog.count_jobs_by_state(context.project.key, kind).items():
                counts[state] = counts.get(state, 0) + number
    redacted_rows = [
        msgspec.structs.replace(row, title=clean_text(row.title)[:200], reason=clean_text(row.reason)) for row in rows
    ]
    return QueueOutput(redacted_rows, counts)


def change_jobs(context: ProjectContext, jobs: Sequence[int], change: Callable[[Catalog, str], int]) -> int:
    """Changes jobs and returns how many. Raises NotFoundError, before any change, for a job that is not listed."""
    listed_ids = {job.id for job in load_queue(context).jobs}
    for job in jobs:
        if job not in listed_ids:
            raise NotFoundError("There is no such job.", where=str(job), todo="See `lerim queue list`.")
    if not listed_ids:
        return 0
    with Catalog.open(context.home) as catalog:
        return change(catalog, context.project.key)
