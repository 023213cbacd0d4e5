"""`lerim org backfill`."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.jobs import require_consent
from lerim.cli.org.database_option import DatabaseOption, TeamOption, choose_database
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    EXIT_CODES,
    JsonOption,
    ModelChoice,
    interruptible,
    open_command_context,
    output,
    parse_time_option,
    show_progress,
    with_error_exit,
)
from lerim.errors import SettingsError
from lerim.models import choose_allowed, consent

if TYPE_CHECKING:
    from lerim.org import BackfillPlanView, Estimate


class SentOutput(msgspec.Struct, frozen=True):
    """What `org backfill --json` prints; with `--dry-run`, `sent` is 0."""

    sent: int
    plan: BackfillPlanView


@with_error_exit
def backfill_command(
    projects: Annotated[
        list[Path],
        typer.Option(
            "--project", metavar="PATH", help="Only the repository of this folder. Can be repeated.", show_default="all"
        ),
    ] = [],  # noqa: B006 - typer reads it and changes nothing
    since: Annotated[
        str, typer.Option(metavar="TIME", help="Only sessions changed since this time, such as 2026-03-02 or 30d.")
    ] = "",
    model: Annotated[
        ModelChoice, typer.Option(metavar="none", help="“none”: use no model, whatever the settings say.")
    ] = "auto",
    copies: Annotated[
        str,
        typer.Option(
            metavar="PATH",
            help="Put redacted copies of the sessions into this folder or fsspec URL, such as s3://bucket/folder, for"
            " workers of any machine.",
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be sent, and the price.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Start without asking, and approve the cost of the model.")
    ] = False,
    database: DatabaseOption = "",
    team: TeamOption = "",
    as_json: JsonOption = False,
) -> None:
    """Send this machine's sessions to the queue, each once. The transcripts stay here, and workers on this machine read
    them. With `--copies`, workers on any machine read redacted copies. You can run it again at any time: it sends only
    what is new."""
    chosen = choose_database(database, team)
    from lerim.org import BackfillScope, LocalSessions, open_copies, plan_sessions, send_plan

    folder = open_copies(copies) if copies else None
    context = open_command_context(CURRENT_FOLDER, personal=True)
    choice = choose_allowed("extract", context.settings, context.home, os.environ)
    if model == "auto" and choice.why == "gone":
        raise SettingsError(choice.problems[0].message, todo="Correct the settings, or use no model: --model none.")
    asked = choice.model if model == "auto" else None
    scope = BackfillScope(
        [open_command_context(one).project for one in projects], parse_time_option(since, "--since"), asked, folder
    )
    here = LocalSessions(context.home, os.environ)
    with (
        interruptible() as cancelled,
        show_progress("looking for sessions", _describe_progress, quiet=as_json) as emit,
    ):
        plan = plan_sessions(chosen, here, scope, datetime.now(UTC), cancelled, lambda done, total: emit((done, total)))
        if cancelled():
            raise typer.Exit(EXIT_CODES["cancelled"])
        view = plan.view(here, chosen)
    if not as_json:
        _show_plan(view)
    sent, shown = 0, len(view.problems)
    if not dry_run:
        if asked is not None and choice.why == "consent" and plan.new:
            require_consent(yes=yes, price_shown=not as_json)
            consent.allow_model(context.home, asked.label)  # only this model's price was shown
        with (
            interruptible() as cancelled,
            show_progress("sending", _describe_sending, quiet=as_json) as emit,
        ):
            sent = send_plan(chosen, plan, here, cancelled, lambda done, total: emit((done, total)))
        view = msgspec.structs.replace(view, problems=list(dict.fromkeys([*view.problems, *plan.problems])))
    if as_json:
        output.show_json(SentOutput(sent, view))
    elif not dry_run:
        output.print_line(f"{output.pluralize(sent, 'session')} sent.")
        output.print_problems(view.problems[shown:])
    if cancelled():
        raise typer.Exit(EXIT_CODES["cancelled"])


def _describe_progress(event: tuple[int, int]) -> str:
    return f"looking at session {event[0] + 1} of {event[1]}"


def _describe_sending(event: tuple[int, int]) -> str:
    return f"sending session {event[0] + 1} of {event[1]}"


def _show_plan(view: BackfillPlanView) -> None:
    output.print_line(f"{output.pluralize(view.sessions, 'session')} ({view.bytes / 1e6:,.1f} MB), {view.new} new.")
    rest = {"in no repository of this machine": view.elsewhere, "still being written": view.unsettled}
    for what, number in rest.items():
        if number:
            output.print_line(f"  {number} more {what}")
    if view.projects:
        output.show_table(("project", "new"), [(name, str(count)) for name, count in view.projects.items()])
    if view.new:
        _show_estimate(view.model, view.estimate)
    output.print_problems(view.problems)


def _show_estimate(model: str, estimate: Estimate) -> None:
    output.print_line(f"Reading them takes one reader about {output.format_duration(estimate.seconds)}.")
    if not model:
        return
    tokens = f"{estimate.input_tokens:,} tokens in, {estimate.output_tokens:,} out"
    cost = "" if estimate.cost is None else f", about ${estimate.cost:,.2f}"
    output.print_line(f"{model}: about {estimate.calls:,} calls, {tokens}{cost}.")
    if estimate.answer_seconds is None:
        output.print_line("How long it takes to answer is known after the first ten calls.")
    else:
        waiting = output.format_duration(estimate.answer_seconds)
        output.print_line(f"One worker waits for its answers for about {waiting}.")
    if estimate.least_seconds:
        output.print_line(
            f"The team's limits allow that within about {output.format_duration(estimate.least_seconds)}."
        )
