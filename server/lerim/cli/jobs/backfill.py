"""`lerim backfill`."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from lerim.cli.jobs.sync import save_consent
from lerim.cli.review import QuotesOption
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    EXIT_CODES,
    JsonOption,
    ModelChoice,
    RepoOption,
    interruptible,
    open_command_context,
    output,
    parse_day_option,
    refresh_agent_files,
    show_progress,
    with_error_exit,
)
from lerim.errors import StoppedError, UsageError
from lerim.models import describe_spent, describe_waiting
from lerim.times import format_date

if TYPE_CHECKING:
    from lerim.jobs import BackfillPlan, BackfillProgress, BackfillReport


@with_error_exit
def backfill_command(
    repo: RepoOption = CURRENT_FOLDER,
    until: Annotated[
        str, typer.Option(metavar="DAY", help="The last day to work through, such as 2026-03-02.", show_default="today")
    ] = "",
    budget: Annotated[
        float | None,
        typer.Option(metavar="USD", min=0.0, help="The most that models may cost in this run, in US dollars."),
    ] = None,
    model: Annotated[
        ModelChoice, typer.Option(metavar="none", help="“none”: use no model in this run, whatever the settings say.")
    ] = "auto",
    accept_above: Annotated[
        float | None,
        typer.Option(
            metavar="CONFIDENCE",
            min=0.0,
            max=1.0,
            help="Accept candidates with at least this confidence without review, on the day they were said.",
        ),
    ] = None,
    quotes: QuotesOption = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the journal's entry of each day, as `lerim journal --write` does.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the days and the price.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Start without asking, and approve the cost of the model.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Work through this repository's whole past, day by day: read the sessions of each day, maintain the memories and
    write the journal, as it would have been done on that day. Nothing is read twice. If a run was stopped or killed,
    the same command continues it."""
    from lerim.jobs import BackfillOptions, SyncContext, SyncOptions, backfill_project, plan_backfill

    last = parse_day_option(until, "--until", datetime.now(UTC)) if until else None
    opened = open_command_context(repo)
    with interruptible() as cancelled:
        asked = SyncOptions(model=model)
        context = SyncContext(opened.project, opened.home, os.environ, asked, lambda _: None, cancelled)
        try:
            plan = plan_backfill(context, last)
        except StoppedError:
            raise typer.Exit(EXIT_CODES["cancelled"]) from None
        if dry_run or not as_json:
            _show_plan(plan, as_json=as_json)
        if dry_run:
            return
        if plan.waits.why == "consent" and plan.waits.sessions:
            require_consent(yes=yes, price_shown=not as_json)
            save_consent(opened)
        options = BackfillOptions(
            until=last,
            budget=budget,
            model=model,
            accept_above=accept_above,
            quotes=quotes,
            write_journal=write,
        )
        with show_progress("looking for days", _describe_progress, quiet=as_json) as emit:
            report = backfill_project(context, options, emit)
    refresh_agent_files(opened.project, opened.home)
    _show_report(report, as_json=as_json)
    raise typer.Exit(EXIT_CODES[report.state])


def require_consent(*, yes: bool, price_shown: bool) -> None:
    """Asks whether the price that was shown may be spent. Raises UsageError if no price was shown or if there is
    nobody to ask, typer.Exit if the answer is no."""
    if yes:
        return
    if not (price_shown and output.can_ask()):
        todo = "Add --yes to approve the price that --dry-run shows, or --model none to use no model."
        raise UsageError("The model costs money, and you have not approved it.", where="--yes", todo=todo)
    if not output.ask_consent("Start, and approve the cost?"):
        raise typer.Exit(EXIT_CODES["cancelled"])


def _describe_progress(event: BackfillProgress) -> str:
    return f"{event.day}, day {event.days_done + 1} of {event.days_total}, {event.candidates} proposed"


def _show_plan(plan: BackfillPlan, *, as_json: bool) -> None:
    if as_json:
        output.show_json(plan)
        return
    if plan.done_through:
        output.print_line(f"Done before: until {format_date(date.fromisoformat(plan.done_through))}.")
    if not plan.days:
        output.print_line("There is no day to work through.")
        return
    first, last = (format_date(date.fromisoformat(day)) for day in (plan.days[0], plan.days[-1]))
    output.print_line(f"{output.pluralize(len(plan.days), 'day')} with sessions, from {first} to {last}:")
    for month, days in groupby(map(date.fromisoformat, plan.days), lambda day: f"{day:%B %Y}"):
        output.print_line(f"  {month}: {', '.join(str(day.day) for day in days)}")
    if plan.waits.model:
        output.print_line(output.escape_controls(f"{describe_waiting(plan.waits)}."))
    else:
        count = output.pluralize(plan.waits.sessions, "session")
        output.print_line(f"{count} not read yet; no model is used, which costs nothing.")


def _show_report(report: BackfillReport, *, as_json: bool) -> None:
    if as_json:
        output.show_json(report)
        return
    if report.days:
        rows = [
            (day.day, str(day.candidates), str(day.accepted), str(day.maintained), day.journal) for day in report.days
        ]
        output.show_table(("day", "proposed", "accepted", "maintained", "journal"), rows)
    for spent in report.spent:
        output.print_line(output.escape_controls(f"Called {describe_spent(spent)}."))
    if report.message:
        output.print_line(output.escape_controls(report.message))
    if report.next_day:
        stopped = format_date(date.fromisoformat(report.next_day))
        output.print_line(f"It stopped at {stopped}. Run the same command again to continue.")
    output.print_problems(report.problems)
