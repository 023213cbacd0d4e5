"""`lerim sync`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.jobs.sync_report import show_sync_report
from lerim.cli.review import QuotesOption
from lerim.cli.terminal import (
    CURRENT_FOLDER,
    EXIT_CODES,
    AliasOption,
    JsonOption,
    ModelChoice,
    RepoOption,
    describe_missing_sessions,
    describe_unread,
    examine_agents,
    interruptible,
    open_command_context,
    output,
    parse_time_option,
    refresh_agent_files,
    show_progress,
    with_error_exit,
)
from lerim.config import DEFAULT_ORIGIN, SETTING_CHECKS, RoleName
from lerim.errors import SpendingError
from lerim.jobs import combine_reports, register_aliases, wait_for_other_sync
from lerim.models import WaitingWork, describe_waiting, format_dollars
from lerim.project import find_gone_project
from lerim.review import queue
from lerim.views import ProjectContext, find_running_server

if TYPE_CHECKING:
    from lerim.jobs import SyncEvent, SyncOptions, SyncReport

SYNC_ROLES: tuple[RoleName, ...] = ("extract", "summarize")


@with_error_exit
def sync_command(
    repo: RepoOption = CURRENT_FOLDER,
    personal: Annotated[bool, typer.Option("--global", help="Read only the sessions outside any repository.")] = False,
    alias: AliasOption = [],  # noqa: B006 - typer reads it and never writes it
    since: Annotated[
        str, typer.Option(metavar="WHEN", help="Only sessions changed since this time, such as `14d` or `2026-07-01`.")
    ] = "",
    until: Annotated[str, typer.Option(metavar="WHEN", help="Only sessions started before this time.")] = "",
    accept_above: Annotated[
        float | None,
        typer.Option(
            metavar="CONFIDENCE",
            min=0.0,
            max=1.0,
            help="Accept candidates with at least this confidence without review.",
        ),
    ] = None,
    quotes: QuotesOption = None,
    model: Annotated[
        ModelChoice, typer.Option(metavar="none", help="“none”: use no model in this run, whatever the settings say.")
    ] = "auto",
    guidance: Annotated[
        str,
        typer.Option(metavar="TEXT", help="An instruction for the model in this run, such as “only about billing”."),
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Approve the cost of the chosen model, for this and future runs.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the details of what was proposed and left out.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read this repository's new sessions and propose the decisions and learnings in them."""
    from lerim.jobs import SyncOptions, with_settings

    if personal and alias:
        raise typer.BadParameter("Sessions outside any repository have no former folder.", param_hint="--alias")
    context = open_command_context(repo, alias, personal=personal)
    if unknown_aliases := [old for old in alias if find_gone_project(old, context.home) is None]:
        from lerim.cli.terminal import check_aliases

        with interruptible() as cancelled, _show_sync_progress(quiet=as_json) as emit:
            check_aliases(context, unknown_aliases, emit, cancelled)
    if any(find_gone_project(old, context.home) for old in alias):
        register_aliases(context.project, context.home)  # the review moves here for good, not only for this run
    given = SyncOptions(
        explicit=True,
        since=parse_time_option(since, "--since"),
        until=parse_time_option(until, "--until"),
        accept_above=accept_above,
        quotes=quotes,
        model=model,
        guidance=_validate_guidance(guidance),
    )
    options = with_settings(given, context.settings, context.review_paths.store().quotes, datetime.now(UTC))
    if yes and options.model == "auto":
        save_consent(context)
    report = run_sync(context, options, quiet=as_json)
    if report.waits.why == "consent" and report.waits.sessions and not as_json and _ask_consent(context, report.waits):
        report = combine_reports(report, run_sync(context, options, quiet=False))
    has_read = report.sessions.new or report.sessions.changed
    if has_read and report.waits.why == "none" and report.waits.sessions and not as_json and options.model == "auto":
        report = offer_model(context, options, report)
    # Problems with the settings were printed already.
    new_problems = [problem for problem in report.problems if problem not in context.problems]
    report = msgspec.structs.replace(report, problems=new_problems)
    refresh_agent_files(context.project, context.home)
    if as_json:
        output.show_json(msgspec.structs.replace(report, problems=[*context.problems, *report.problems]))
    else:
        states = queue.claim_states(context.review_paths)
        show_sync_report(report, _describe_spent_today(context, report), states, verbose=verbose)
        if not personal and (unread := describe_unread(examine_agents(context.project))):
            output.print_line(unread)
        if not personal and report.state == "done" and not report.sessions.found:
            for line in describe_missing_sessions(context):
                output.print_line(output.escape_controls(line))
    raise typer.Exit(EXIT_CODES[report.state])


def _validate_guidance(guidance: str) -> str:
    try:
        return str(SETTING_CHECKS["extract.guidance"](guidance.strip()))
    except ValueError as error:
        raise typer.BadParameter(f"{error}.", param_hint="--guidance") from error


def run_sync(context: ProjectContext, options: SyncOptions, *, quiet: bool) -> SyncReport:
    """Runs a sync, in the running server if there is one, with progress on a terminal; Ctrl-C cancels it."""
    from lerim.jobs import SyncReport, sync

    project, home = context.project, context.home
    with interruptible() as cancelled, _show_sync_progress(quiet=quiet) as emit:
        if find_running_server(home) is not None:
            from lerim.cli.jobs.on_server import run_on_server

            report = run_on_server(home, project, "sync", _make_body(options), emit, cancelled)
            if isinstance(report, SyncReport):
                return report
            wait_for_other_sync(home, project.key, emit, cancelled)
        return sync.sync_project(project, home, os.environ, options, emit, cancelled)


def _make_body(options: SyncOptions) -> dict[str, str | float | None]:
    """Returns the options of a sync in the form that the server's API takes."""
    return {
        "since": options.since.isoformat() if options.since else "",
        "until": options.until.isoformat() if options.until else "",
        "accept_above": options.accept_above,
        "quotes": options.quotes,
        "model": options.model,
        "guidance": options.guidance,
    }


def save_consent(context: ProjectContext) -> None:
    """Saves the person's consent to pay for the models that a sync uses. Raises SettingsError if it cannot be saved."""
    from lerim.models import consent, find_role_model

    for role in SYNC_ROLES:
        model, _ = find_role_model(role, context.settings, os.environ)
        if model is not None and model.billed:
            consent.allow_model(context.home, model.label)


def _ask_consent(context: ProjectContext, waits: WaitingWork) -> bool:
    """Asks on a terminal whether the waiting sessions may be sent to the model, and saves a yes for good.

    Returns False without a terminal. Raises SettingsError if the consent cannot be saved.
    """
    from lerim.models import consent

    if not (output.can_ask() and output.ask_consent(f"{describe_waiting(waits)}. Approve the cost?")):
        return False
    consent.allow_model(context.home, waits.model)
    return True


def _describe_spent_today(context: ProjectContext, report: SyncReport) -> str:
    """Returns a sentence with the cost of today so far if this run paid for a model or if the budget prevented that;
    otherwise "".

    Also returns "" if the cost cannot be read, because the problems of the sync already say so.
    """
    from lerim.models import total_spent_today

    if not (report.usage.cost or report.usage.unpriced or report.waits.why == "budget"):
        return ""
    try:
        cost = total_spent_today(context.home, datetime.now().astimezone()).cost
    except SpendingError:
        return ""
    limit = f" of ${context.settings.daily_budget_usd:.2f}" if context.settings.daily_budget_usd else ", no limit"
    return f"Spent today: {format_dollars(cost)}{limit}."


def offer_model(context: ProjectContext, options: SyncOptions, report: SyncReport) -> SyncReport:
    """Offers the models of this machine if the person has not chosen one yet. Returns the report, extended by what the
    chosen model found."""
    from lerim.cli.model import offer as model_offer

    if context.settings.origins["roles.extract.provider"] != DEFAULT_ORIGIN:
        return report
    offers = model_offer.find_offers(context.home, os.environ)
    if not output.can_ask():
        model_offer.show_offers(offers, report)
        return report
    if not model_offer.ask_for_model(context, offers, report):
        return report
    return combine_reports(report, run_sync(context, options, quiet=False))


def _show_sync_progress(*, quiet: bool) -> AbstractContextManager[Callable[[SyncEvent], None]]:
    from lerim.jobs import SyncProgress

    def describe(event: SyncEvent) -> str:
        if not isinstance(event, SyncProgress):
            return ""
        count = f" {event.sessions_done}/{event.sessions_total}" if event.sessions_total else ""
        return f"{event.stage}{count}, {event.candidates} proposed"

    return show_progress("looking for sessions", describe, quiet=quiet)
