"""`lerim queue list|retry|skip`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from lerim.cli.terminal import (
    ALL,
    CURRENT_FOLDER,
    JsonOption,
    RepoOption,
    get_from_server,
    open_command_context,
    output,
    post_to_server,
    with_error_exit,
)
from lerim.sessions import Catalog, agent_name
from lerim.times import format_moment
from lerim.views import ChangedJobsOutput, QueueOutput, change_jobs, load_queue

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


_KIND_LABELS = {"extract": "read without a model", "model": "read with the model"}
_STATE_LABELS = {"pending": "waiting", "dead": "given up"}


@queue_app.command("list")
@with_error_exit
def list_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """List the sessions that are waiting, have failed or were given up, and why."""
    context = open_command_context(repo)
    view = get_from_server(context.home, ["queue"], QueueOutput, ALL, project=context.project) or load_queue(context)
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
                agent_name(job.platform),
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
    changed = _change_jobs(repo, "retry", jobs or [], lambda catalog, project: catalog.retry_jobs(project, jobs or ()))
    _show_changed(
        changed, f"{output.pluralize(changed, 'job')} will run at the next sync.", "Nothing to retry.", as_json=as_json
    )


@queue_app.command("skip")
@with_error_exit
def skip_command(jobs: JobsArgument = None, repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Skip sessions until they have new turns: the ones you name, or all that were given up."""
    changed = _change_jobs(repo, "skip", jobs or [], lambda catalog, project: catalog.skip_jobs(project, jobs or ()))
    changed_message = (
        f"{output.pluralize(changed, 'job')} skipped until the session grows, or until `lerim queue retry`."
    )
    _show_changed(changed, changed_message, "Nothing to skip.", as_json=as_json)


def _change_jobs(
    repo: Path, change: Literal["retry", "skip"], jobs: list[int], act: Callable[[Catalog, str], int]
) -> int:
    context = open_command_context(repo)
    done = post_to_server(context.home, ["queue", change], {"jobs": jobs}, ChangedJobsOutput, project=context.project)
    return done.changed if done else change_jobs(context, jobs, act)


def _show_changed(changed: int, changed_message: str, unchanged_message: str, *, as_json: bool) -> None:
    if as_json:
        output.show_json(ChangedJobsOutput(changed))
    else:
        output.print_line(changed_message if changed else unchanged_message)
