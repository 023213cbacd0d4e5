"""`lerim journal`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

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
    with_error_exit,
)
from lerim.models import describe_spent, merge_role_usage
from lerim.times import format_date

if TYPE_CHECKING:
    from lerim.journal import DaySpan, JournalEntry, JournalScope, OriginCounts

FormatName = Literal["md", "json"]
DAY_HELP = "such as 2026-03-02, today, yesterday, or 3d (three days ago)"


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The days to cover, their common title (a single day has its own), and the commits if only some of them are
    wanted."""

    spans: list[DaySpan]
    title: str = ""
    commits: Collection[str] | None = None
    is_release: bool = False


@with_error_exit
def journal_command(
    day: Annotated[str, typer.Option(metavar="DAY", help=f"The day, {DAY_HELP}.", show_default="today")] = "",
    since: Annotated[str, typer.Option(metavar="DAY", help="The first of several days.")] = "",
    until: Annotated[str, typer.Option(metavar="DAY", help="The last of several days.", show_default="today")] = "",
    week: Annotated[bool, typer.Option("--week", help="The week of the day, Monday to Sunday.")] = False,
    release: Annotated[
        str, typer.Option(metavar="TAG..TAG", help="Release notes: what was done from one tag to another, or to HEAD.")
    ] = "",
    format: Annotated[FormatName, typer.Option("--format", help="Markdown, or JSON (see docs/PROTOCOL.md).")] = "md",
    model: Annotated[
        ModelChoice, typer.Option(metavar="none", help="“none”: use no model; write the entry by rules.")
    ] = "auto",
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Write the entry of each day to .lerim/memory/journal/YYYY/MM/DD.md. A file that you edited is "
            "not changed.",
        ),
    ] = False,
    self_reference: Annotated[
        bool,
        typer.Option(
            "--self-reference",
            help="Instead of the journal, show how much of it comes from Lerim's own earlier output, for each day.",
        ),
    ] = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Show what was done, decided, learned and left open on a day, from your sessions and git, with the sources of each
    sentence."""
    from lerim.journal import JournalScope, JournalSpan

    context = open_command_context(repo)
    scope = JournalScope(context.project, context.home, os.environ, sources=context.settings.journal_sources)
    chosen = _choose(scope, day, since, until, week=week, release=release, write=write, now=datetime.now(UTC))
    as_json = as_json or format == "json"
    if self_reference:
        _show_self_reference(scope, chosen, as_json=as_json)
        return
    with interruptible() as cancelled:
        entries = _tell(scope, chosen, cancelled, uses_model=model == "auto")
    if not context.home.catalog.exists():
        output.print_note("No session has been read yet, so this comes from git alone. `lerim sync` reads sessions.")
    for entry in entries:
        output.print_problems(entry.problems)
    for spent in merge_role_usage(one for entry in entries for one in entry.spent):
        output.print_note(output.escape_controls(f"Called {describe_spent(spent)}."))
    if as_json:
        output.show_json(JournalSpan(chosen.title, entries) if chosen.title else entries[0])
    elif not write:
        output.print_line(output.escape_controls(_render(chosen, entries), lines=True).rstrip("\n"))
    if write:
        _write_entries(scope, entries, quiet=as_json)


def _choose(
    scope: JournalScope, day: str, since: str, until: str, *, week: bool, release: str, write: bool, now: datetime
) -> _Chosen:
    """Returns the days that the options name. Raises typer.BadParameter, CatalogError, NotFoundError."""
    from lerim.journal import DaySpan, day_span, find_release, list_parts, list_span, week_of

    if sum((bool(day or week), bool(since or until), bool(release))) > 1:
        raise typer.BadParameter("Name a day, several days, or a release.", param_hint="--day, --since, --release")
    if release and write:
        raise typer.BadParameter(
            "Each file is about a whole day, but a release begins and ends during one.", param_hint="--write"
        )
    if release:
        found = find_release(scope, release, now)
        return _Chosen(list_parts(scope, found.since, found.until), release, found.commits, is_release=True)
    if since or until or week:
        if week:
            first, last = week_of(parse_day_option(day or "today", "--day", now))
        else:
            last = parse_day_option(until or "today", "--until", now)
            first = parse_day_option(since, "--since", now) if since else last
        if first > last:
            raise typer.BadParameter("The first day is after the last.", param_hint="--since")
        title = f"Journal of {format_date(first)}" + (f" to {format_date(last)}" if last > first else "")
        return _Chosen(list_span(scope, first, last, now), title)
    span = day_span(parse_day_option(day or "today", "--day", now), scope.zone)
    return _Chosen([DaySpan(span.day, span.since, max(span.since, min(span.until, now)))])


def _tell(
    scope: JournalScope, chosen: _Chosen, cancelled: Callable[[], bool], *, uses_model: bool
) -> list[JournalEntry]:
    """Returns the entries, written by the model of the settings if there is one that may be asked."""
    from lerim.journal import build_entries, choose_journal_model, collect_material, tell_day_with_model

    choice = choose_journal_model(scope) if uses_model else None
    if choice is None or choice.model is None or choice.why:
        if choice is not None and choice.model is not None:
            output.print_note(f"{choice.model.label} costs money, and you have not approved it (`lerim model allow`).")
        output.print_problems(choice.problems if choice is not None else ())
        return list(build_entries(scope, chosen.spans, chosen.commits))
    entries: list[JournalEntry] = []
    for span in chosen.spans:
        material = collect_material(scope, span, chosen.commits)
        entries.append(tell_day_with_model(scope, material, choice.model, cancelled, lambda: datetime.now(UTC)))
    return entries


def _render(chosen: _Chosen, entries: list[JournalEntry]) -> str:
    from lerim.journal import render_markdown, render_release, render_span

    if chosen.is_release:
        return render_release(chosen.title, entries)
    return render_span(chosen.title, entries) if chosen.title else render_markdown(entries[0])


def _write_entries(scope: JournalScope, entries: list[JournalEntry], *, quiet: bool) -> None:
    """Writes the file of each entry and prints the result for each. Exits with 3 if a file was left as it is."""
    from lerim.journal import write_entry

    left_alone = False
    for entry in entries:
        written = write_entry(scope.project, scope.home, entry)
        path = output.escape_controls(str(written.path))
        if written.change == "theirs":
            left_alone = True
            output.print_note(
                f"You edited {path}, so it was left unchanged. From the sources of today, this would change:"
            )
            output.show_difference(written.diff)
        elif not quiet:
            output.print_line(
                f"{entry.title}: there is nothing to write."
                if written.change == "empty"
                else f"{written.change.capitalize()}: {path}"
            )
    if left_alone:
        raise typer.Exit(EXIT_CODES["partial"])


def _show_self_reference(scope: JournalScope, chosen: _Chosen, *, as_json: bool) -> None:
    from lerim.journal import measure_self_reference

    found = measure_self_reference(scope, chosen.spans)
    if as_json:
        output.show_json(found)
        return
    output.show_table(
        (
            "day",
            *("sentences", "sessions only", "with git", "with notes", "included"),
            *("tokens", "sessions only", "with git", "with notes", "sent"),
        ),
        ((day.day, *_format_shares(day.sentences), *_format_shares(day.tokens)) for day in (*found.days, found.total)),
        title="The share of Lerim's own earlier output",
    )
    output.print_line(
        f"The highest share in one entry is {output.format_percent(found.highest_share)} of the sentences."
    )


def _format_shares(counts: OriginCounts) -> tuple[str, ...]:
    shares = (counts.share_of_sessions_only, counts.share_with_git, counts.share_with_notes, counts.share_included)
    return f"{counts.included:,}", *("" if share is None else output.format_percent(share) for share in shares)
