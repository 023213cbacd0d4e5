"""`lerim org worker`, `limits`, `status`, `pull`, `retry` and `cancel`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from lerim.cli.org.database_option import DatabaseOption, TeamOption, choose_database
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    JsonOption,
    RepoOption,
    interruptible,
    open_command_context,
    output,
    with_error_exit,
)
from lerim.errors import NotFoundError
from lerim.views import ChangedJobsOutput

if TYPE_CHECKING:
    from lerim.team import OrgStatus

BAR_CELLS = 40
MAX_LIMIT = 1_000_000_000
"""The largest limit that the database can hold."""


@with_error_exit
def worker_command(
    concurrency: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=256, help="How many sessions are read at once, each in its own process."),
    ] = 1,
    until_done: Annotated[
        bool, typer.Option("--until-done", help="End once nothing is left, instead of waiting for more.")
    ] = False,
    stalled_after: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.5,
            max=86_400,
            help="How long a worker may be silent before others take over its jobs.",
        ),
    ] = 30.0,
    copies: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="Also read the redacted copies at this path, as given to `lerim org backfill`."
        ),
    ] = "",
    database: DatabaseOption = "",
    team: TeamOption = "",
) -> None:
    """Read the sessions that were sent from this machine, until Ctrl-C. Any number of workers can run at once, on any
    number of machines."""
    chosen = choose_database(database, team)
    from lerim.org import Worker

    worker = Worker(chosen, os.environ, concurrency, until_done, stalled_after, output.print_note, copies)
    output.print_note(f"Worker {worker.name} works for team {chosen.team}. Ctrl-C ends it after its current jobs.")
    worker.run()


@with_error_exit
def limits_command(
    per_day: Annotated[
        float | None,
        typer.Option(
            metavar="USD", min=0.0, max=MAX_LIMIT, help="The most that models may cost a day; 0 for no limit."
        ),
    ] = None,
    calls_per_minute: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=MAX_LIMIT, help="The most model calls a minute; 0 for no limit."),
    ] = None,
    database: DatabaseOption = "",
    team: TeamOption = "",
    as_json: JsonOption = False,
) -> None:
    """Set or show the limits that all workers of the team share. Work beyond a limit is scheduled for later."""
    if per_day is not None and not (per_day == 0 or per_day >= 0.01):  # the database would round the smallest to 0
        raise typer.BadParameter("The smallest limit is 0.01; 0 is no limit.", param_hint="--per-day")
    chosen = choose_database(database, team)
    from lerim.org import load_limits, set_limits

    if per_day is not None or calls_per_minute is not None:
        set_limits(chosen, per_day, calls_per_minute)
    limits = load_limits(chosen)
    if as_json:
        output.show_json(limits)
        return
    budget = f"${limits.dollars_per_day:,.2f} a day" if limits.dollars_per_day else "any cost"
    rate = f"{limits.calls_per_minute} model calls a minute" if limits.calls_per_minute else "any number of model calls"
    output.print_line(f"Team {chosen.team} may make {rate}, at {budget}.")


@with_error_exit
def status_command(database: DatabaseOption = "", team: TeamOption = "", as_json: JsonOption = False) -> None:
    """Show the team's progress, rate, cost and failures, and what each worker is doing."""
    chosen = choose_database(database, team)
    from lerim.team import load_status

    status = load_status(chosen)
    if as_json:
        output.show_json(status)
    else:
        _show_status(status)


def _show_status(status: OrgStatus) -> None:
    from lerim.team import TOLD_STATES

    total = sum(status.states.values())
    left = status.states.get("waiting", 0) + status.states.get("running", 0)
    filled = BAR_CELLS * (total - left) // total if total else 0
    output.print_line(f"[{'#' * filled}{'.' * (BAR_CELLS - filled)}] {total - left:,} of {total:,} sessions")
    output.print_line(
        ", ".join(f"{count:,} {state}" for state, count in sorted(status.states.items())) or "nothing sent"
    )
    candidates = output.pluralize(status.candidates, "candidate")
    output.print_line(f"{candidates}, {status.proposed:,} proposed, {status.accepted:,} accepted")
    rate = f"{status.per_minute:,.1f} sessions a minute"
    if left:
        seconds = status.seconds_left
        ends = "time left unknown" if seconds is None else f"about {output.format_duration(seconds)} to go"
        rate += f", {status.bytes_left / 1e6:,.1f} MB left, {ends}"
    output.print_line(rate)
    output.print_line(f"Models cost ${status.today_usd:,.4f} today, ${status.total_usd:,.4f} in total.")
    shared = status.shared
    count = output.pluralize(shared.memories, "memory")
    output.print_line(f"{count} shared, {shared.by_meaning:,} found by meaning. {shared.note}".rstrip())
    if status.queues:
        output.show_table(("machine", "left"), [(one.queue, f"{one.left:,}") for one in status.queues])
    if status.workers:
        rows = [(one.name, str(one.done), f"{one.per_minute:.1f}", one.session) for one in status.workers]
        output.show_table(("worker", "done", "a minute", "reads"), rows)
    if status.reviewers:
        counts = [(one.project, one.reviewer or "nobody", str(one.candidates)) for one in status.reviewers]
        output.show_table(("repository", "reviewer", "candidates"), counts)
    for one in status.failures:
        tries = output.pluralize(one.tries, "try")
        output.show_item(one.key, [f"{one.session} of {one.project}: {one.state}, {tries}", one.problem])
    if status.failures:
        more = sum(status.states.get(one, 0) for one in TOLD_STATES) - len(status.failures)
        output.print_line(f"{f'… and {more:,} more. ' if more > 0 else ''}`lerim org retry` sends them again.")


@with_error_exit
def pull_command(
    repo: RepoOption = CURRENT_FOLDER,
    mine: Annotated[
        bool, typer.Option("--mine", help="Only those about files that you own according to CODEOWNERS.")
    ] = False,
    reviewers: Annotated[
        list[str],
        typer.Option(
            "--reviewer",
            metavar="OWNER",
            help="Only those about files of this owner in CODEOWNERS, such as @org/team. Can be repeated.",
            show_default="all",
        ),
    ] = [],  # noqa: B006
    database: DatabaseOption = "",
    team: TeamOption = "",
    as_json: JsonOption = False,
) -> None:
    """Add what the team's workers found in a repository to its review on this machine. What you have already decided is
    not proposed again, and nothing is sent."""
    chosen = choose_database(database, team)
    from lerim.jobs import SyncContext, SyncOptions
    from lerim.org import pull_candidates
    from lerim.team import list_own_names

    opened = open_command_context(repo)
    wanted = [*reviewers, *(list_own_names(opened.project, os.environ) if mine else ())]
    with interruptible() as cancelled:
        context = SyncContext(opened.project, opened.home, os.environ, SyncOptions(), lambda _: None, cancelled)
        report = pull_candidates(context, chosen, wanted)
    if as_json:
        output.show_json(report)
        return
    known = sum(report.dropped.values())
    of_whom = f" of {', '.join(wanted)}" if wanted else ""
    count = output.pluralize(len(report.candidates), "candidate")
    output.print_line(f"{count} proposed, {known} known or rejected{of_whom}.")
    if report.candidates:
        output.print_line("Decide with `lerim review list`, or in VS Code with “Lerim: Open Review”.")
    output.print_problems(report.problems)


@with_error_exit
def retry_command(
    keys: Annotated[list[str], typer.Argument(metavar="[KEY]...", help="As `lerim org status` shows them.")] = [],  # noqa: B006
    database: DatabaseOption = "",
    team: TeamOption = "",
    as_json: JsonOption = False,
) -> None:
    """Send sessions without a result to the queue again: the ones you name, or all that failed, changed, or were
    quarantined or cancelled."""
    chosen = choose_database(database, team)
    from lerim.team import retry_extractions

    sent = retry_extractions(chosen, keys)
    if keys and not sent:
        todo = "Use a key that `lerim org status` shows, or none for all."
        raise NotFoundError("No session without a result has this key.", where=keys[0], todo=todo)
    _show_changed(sent, "sent again", as_json=as_json)


@with_error_exit
def cancel_command(
    project: Annotated[
        str, typer.Option(metavar="NAME", help="Only those of this project. Use its name in `lerim org status`.")
    ] = "",
    database: DatabaseOption = "",
    team: TeamOption = "",
    as_json: JsonOption = False,
) -> None:
    """Remove the sessions that are waiting from the queue. Those that are being read are finished."""
    chosen = choose_database(database, team)
    from lerim.team import cancel_extractions

    _show_changed(cancel_extractions(chosen, project), "cancelled", as_json=as_json)


def _show_changed(count: int, what: str, *, as_json: bool) -> None:
    if as_json:
        output.show_json(ChangedJobsOutput(count))
    else:
        output.print_line(f"{output.pluralize(count, 'session')} {what}.")
