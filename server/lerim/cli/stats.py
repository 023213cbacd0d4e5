"""`lerim stats`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import typer

from lerim.cli.terminal import (
    JsonOption,
    OnlyRepoOption,
    find_home,
    find_project,
    get_from_server,
    output,
    parse_time_option,
    with_error_exit,
)
from lerim.review import COUNT_FIELDS
from lerim.statistics import Figures, Statistics
from lerim.views import SignalStatisticsOutput, load_signal_statistics, load_statistics

GroupByName = Literal["day", "agent", "model", "repo", "signal"]


@with_error_exit
def stats_command(
    by: Annotated[GroupByName, typer.Option(help="How to group the figures.")] = "day",
    since: Annotated[
        str, typer.Option(metavar="WHEN", help="Only what was said since this time, such as `14d` or `2026-07-01`.")
    ] = "",
    until: Annotated[str, typer.Option(metavar="WHEN", help="Only what was said before this time.")] = "",
    repo: OnlyRepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show sessions, prompts, tool calls, tokens and costs, as far as the agents' stores record them.

    With `--by signal`, show how many memories each signal proposed, and what you decided about them.
    """
    home = find_home()
    project = find_project(repo, home) if repo else None
    since_time, until_time = parse_time_option(since, "--since"), parse_time_option(until, "--until")
    query = {"project": project.key if project else "", "since": since, "until": until}
    if by == "signal":
        signals = get_from_server(home, ["statistics", "signals"], SignalStatisticsOutput, query)
        _show_signals(signals or load_signal_statistics(home, project, since_time, until_time), as_json=as_json)
        return
    statistics = get_from_server(home, ["statistics"], Statistics, {**query, "by": by}) or load_statistics(
        home, by, project, since_time, until_time
    )
    if as_json:
        output.show_json(statistics)
        return
    if not statistics.groups:
        output.print_line(
            "There are no sessions for these dates, or none have been read yet. Run `lerim sync` to read them."
        )
        return
    output.show_table(
        (by, "sessions", "prompts", "calls", "failed", "in", "out", "cached", "stored", "hours", "USD"),
        (
            _format_row(figures)
            for figures in (*statistics.groups, msgspec.structs.replace(statistics.total, key="total"))
        ),
    )
    if statistics.total.untold:
        output.print_line(
            f"Without token counts in the agent's store: {output.pluralize(statistics.total.untold, 'session')}."
        )
    if statistics.total.unpriced:
        output.print_line(
            "The cost does not include "
            f"{output.pluralize(statistics.total.unpriced, 'session')} of unknown price or tokens."
        )


def _show_signals(statistics: SignalStatisticsOutput, *, as_json: bool) -> None:
    if as_json:
        output.show_json(statistics)
        return
    output.print_problems(statistics.problems)
    if not statistics.groups:
        output.print_line(
            "Nothing was proposed for these dates, or nothing has been proposed yet. "
            "Run `lerim sync` to read the sessions."
        )
        return
    output.show_table(
        ("signal", "proposed", "accepted", "edited", "rejected", "left out", "proposed anyway"),
        (
            (outcome.name, *(f"{getattr(outcome, name):,}" for name in COUNT_FIELDS))
            for outcome in (*statistics.groups, statistics.total)
        ),
    )
    if statistics.learned_from:
        decisions = output.pluralize(statistics.learned_from, "decision")
        output.print_line(
            f"The ranking has learned from {decisions} of yours; to undo that, use `lerim review forget`."
        )


def _format_row(figures: Figures) -> tuple[str, ...]:
    return (
        figures.key or "unknown",
        *(f"{number:,}" for number in (figures.sessions, figures.prompts, figures.tool_calls, figures.errors)),
        *(_format_count(number) for number in (figures.input, figures.output, figures.cache_read, figures.cache_write)),
        f"{figures.seconds / 3600:.1f}",
        "" if figures.cost is None else f"{figures.cost:.2f}",
    )


def _format_count(number: int | None) -> str:
    """Formats a number as in `840`, `8.4k` or `176M`; "" if it is not known."""
    if number is None:
        return ""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if number >= size:
            return f"{number / size:.1f}{unit}" if number < 10 * size else f"{number // size}{unit}"
    return str(number)
