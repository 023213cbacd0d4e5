"""`lerim queue list|retry|skip`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim import editor_settings, output
from lerim.cli_place import HERE, Here, Json, Repo, guarded, here
from lerim.errors import NotFoundError
from lerim.sessions.queue_rows import JobRow

if TYPE_CHECKING:
    from lerim.sessions.catalog import Catalog

queue_app = typer.Typer(help="The sessions that wait to be learned from, or failed.", no_args_is_help=True)

Which = Annotated[
    list[int] | None,
    typer.Argument(metavar="JOB", min=1, max=2**63 - 1, show_default="all", help="As `lerim queue list` calls it."),
]


class QueueView(msgspec.Struct, frozen=True):
    """What `queue list --json` prints; `counts` has all jobs by state, done ones too. No text of it holds a secret."""

    jobs: list[JobRow]
    counts: dict[str, int]


class Changed(msgspec.Struct, frozen=True):
    """What `queue retry` and `queue skip` print with `--json`: how many jobs they changed."""

    changed: int


@queue_app.command("list")
@guarded
def list_command(repo: Repo = HERE, as_json: Json = False) -> None:
    """Show what waits, failed, or was given up, and why."""
    shown = _queue(here(repo))
    if as_json:
        output.show_json(shown)
        return
    if not shown.jobs:
        known = sum(shown.counts.values())
        output.say(
            "Nothing waits: every session was learned from."
            if known
            else "Nothing waits. `lerim sync` reads the sessions of this repository."
        )
        return
    output.show_table(
        ("job", "kind", "agent", "session", "state", "tries", "next try", "reason"),
        (
            (
                str(job.id),
                job.kind,
                job.platform,
                job.title or job.session,
                job.state,
                str(job.tries),
                f"{job.next_try:%Y-%m-%d %H:%M:%S} UTC" if job.next_try else "",
                job.reason,
            )
            for job in shown.jobs
        ),
    )


@queue_app.command("retry")
@guarded
def retry(jobs: Which = None, repo: Repo = HERE, as_json: Json = False) -> None:
    """Let jobs run at the next sync, with all their tries: those named, or all that failed or were given up."""
    changed = _change(here(repo), jobs, lambda catalog, project: catalog.retry(project, jobs or ()))
    _say(changed, f"{output.counted(changed, 'job')} will run at the next sync.", "Nothing to retry.", as_json=as_json)


@queue_app.command("skip")
@guarded
def skip(jobs: Which = None, repo: Repo = HERE, as_json: Json = False) -> None:
    """Learn nothing from these sessions until they grow: those named, or all that were given up."""
    changed = _change(here(repo), jobs, lambda catalog, project: catalog.skip(project, jobs or ()))
    said = f"{output.counted(changed, 'job')} skipped until the session grows or `lerim queue retry`."
    _say(changed, said, "Nothing to skip.", as_json=as_json)


def _say(changed: int, said: str, nothing: str, *, as_json: bool) -> None:
    if as_json:
        output.show_json(Changed(changed))
    else:
        output.say(said if changed else nothing)


def _change(at: Here, jobs: list[int] | None, change: Callable[[Catalog, str], int]) -> int:
    """How many jobs were changed. Raises NotFoundError for one that is not in the list, with nothing done."""
    from lerim.sessions.catalog import Catalog

    listed = {job.id for job in _queue(at).jobs}
    for job in jobs or ():
        if job not in listed:
            raise NotFoundError("There is no such job.", where=str(job), todo="See `lerim queue list`.")
    if not listed:
        return 0
    with Catalog.open(at.home) as catalog:
        return change(catalog, at.project.key)


def _queue(at: Here) -> QueueView:
    """What waits for a model is told only where the settings name one that can be asked."""
    from lerim.models.choose import choose
    from lerim.redaction import clean
    from lerim.sessions.catalog import Catalog
    from lerim.sessions.queue import MODEL
    from lerim.sessions.stored import EXTRACT

    if not at.home.catalog.exists():
        return QueueView([], {})
    kinds = (
        (EXTRACT, MODEL)
        if choose("extract", at.settings, os.environ, editor_settings.told(os.environ)[0])[0]
        else (EXTRACT,)
    )
    counts: dict[str, int] = {}
    with Catalog.open(at.home) as catalog:
        rows = catalog.jobs(at.project.key, kinds)
        for kind in kinds:
            for state, number in catalog.counts(at.project.key, kind).items():
                counts[state] = counts.get(state, 0) + number
    shown = [msgspec.structs.replace(row, title=clean(row.title)[:200], reason=clean(row.reason)) for row in rows]
    return QueueView(shown, counts)
