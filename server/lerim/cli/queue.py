"""`lerim queue list|retry|skip`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    CommandContext,
    JsonOption,
    RepoOption,
    open_command_context,
    output,
    with_error_exit,
)
from lerim.config import editor
from lerim.errors import NotFoundError
from lerim.sessions import JobRow
from lerim.times import format_moment

if TYPE_CHECKING:
    from lerim.sessions import Catalog

queue_app = typer.Typer(
    help="Show and manage the sessions that are waiting to be read or have failed.", no_args_is_help=True
)


def _check_job_numbers(jobs: list[int] | None) -> list[int] | None:
    for job in jobs or ():
        if not 1 <= job <= MAX_JOB:
            raise typer.BadParameter(f"There is no job {job}.")
    return jobs


MAX_JOB = 2**63 - 1
"""The largest number that the database can hold."""
JobsArgument = Annotated[
    list[int] | None,
    typer.Argument(
        metavar="JOB", show_default="all", callback=_check_job_numbers, help="The number shown by `lerim queue list`."
    ),
]


class QueueOutput(msgspec.Struct, frozen=True):
    """What `queue list --json` prints; `counts` counts all jobs by state, including finished ones. Secrets are
    removed from every text."""

    jobs: list[JobRow]
    counts: dict[str, int]


class ChangedJobsOutput(msgspec.Struct, frozen=True):
    """What `queue retry` and `queue skip` print with `--json`: how many jobs they changed."""

    changed: int


_KIND_LABELS = {"extract": "read without a model", "model": "read with the model"}
_STATE_LABELS = {"pending": "waiting", "dead": "given up"}


@queue_app.command("list")
@with_error_exit
def list_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """List the sessions that are waiting, have failed or were given up, and why."""
    view = _load_queue(open_command_context(repo))
    if as_json:
        output.show_json(view)
        return
    if not view.jobs:
        known = sum(view.counts.values())
        output.print_line(
            "Nothing is waiting: all sessions have been read."
            if known
            else "Nothing is waiting. Run `lerim sync` to read this repository's sessions."
        )
        return
    output.show_table(
        ("job", "kind", "agent", "session", "state", "tries", "next try", "reason"),
        (
            (
                str(job.id),
                _KIND_LABELS.get(job.kind, job.kind),
                job.platform,
                job.title or job.session,
                _STATE_LABELS.get(job.state, job.state),
                str(job.tries),
                format_moment(job.next_try) if job.next_try else "",
                job.reason,
            )
            for job in view.jobs
        ),
    )


@queue_app.command("retry")
@with_error_exit
def retry_command(jobs: JobsArgument = None, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Retry jobs at the next sync: the ones you name, or all that failed or were given up."""
    changed = _change_jobs(
        open_command_context(repo), jobs, lambda catalog, project: catalog.retry_jobs(project, jobs or ())
    )
    _show_changed(
        changed, f"{output.pluralize(changed, 'job')} will run at the next sync.", "Nothing to retry.", as_json=as_json
    )


@queue_app.command("skip")
@with_error_exit
def skip_command(jobs: JobsArgument = None, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Skip sessions until they have new turns: the ones you name, or all that were given up."""
    changed = _change_jobs(
        open_command_context(repo), jobs, lambda catalog, project: catalog.skip_jobs(project, jobs or ())
    )
    changed_message = (
        f"{output.pluralize(changed, 'job')} skipped until the session grows, or until `lerim queue retry`."
    )
    _show_changed(changed, changed_message, "Nothing to skip.", as_json=as_json)


def _show_changed(changed: int, changed_message: str, unchanged_message: str, *, as_json: bool) -> None:
    if as_json:
        output.show_json(ChangedJobsOutput(changed))
    else:
        output.print_line(changed_message if changed else unchanged_message)


def _change_jobs(context: CommandContext, jobs: list[int] | None, change: Callable[[Catalog, str], int]) -> int:
    """Changes jobs and returns how many. Raises NotFoundError, before any change, for a job that is not listed."""
    from lerim.sessions import Catalog

    listed_ids = {job.id for job in _load_queue(context).jobs}
    for job in jobs or ():
        if job not in listed_ids:
            raise NotFoundError("There is no such job.", where=str(job), todo="See `lerim queue list`.")
    if not listed_ids:
        return 0
    with Catalog.open(context.home) as catalog:
        return change(catalog, context.project.key)


def _load_queue(context: CommandContext) -> QueueOutput:
    """Loads the open jobs. Jobs that wait for a model are included only if a model is chosen."""
    from lerim.models import choose_model
    from lerim.redaction import clean_text
    from lerim.sessions import EXTRACT_JOB, MODEL_JOB, Catalog

    if not context.home.catalog.exists():
        return QueueOutput([], {})
    kinds = (
        (EXTRACT_JOB, MODEL_JOB)
        if choose_model("extract", context.settings, os.environ, editor.read_editor_state(os.environ)[0])[0]
        else (EXTRACT_JOB,)
    )
    counts: dict[str, int] = {}
    with Catalog.open(context.home) as catalog:
        rows = catalog.list_open_jobs(context.project.key, kinds)
        for kind in kinds:
            for state, number in catalog.count_jobs_by_state(context.project.key, kind).items():
                counts[state] = counts.get(state, 0) + number
    redacted_rows = [
        msgspec.structs.replace(row, title=clean_text(row.title)[:200], reason=clean_text(row.reason)) for row in rows
    ]
    return QueueOutput(redacted_rows, counts)
