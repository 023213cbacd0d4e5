"""`lerim sync`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim import output
from lerim.cli_place import HERE, Alias, Here, Json, Repo, guarded, here, when
from lerim.cli_review import Quotes, QuotesOption, show_candidates
from lerim.moved import keep
from lerim.project import gone_from

if TYPE_CHECKING:
    from lerim.jobs import SyncOptions
    from lerim.report import Event, SyncReport

EXIT_CODES = {"done": 0, "partial": 3, "cancelled": 3, "busy": 4, "failed": 1}


@guarded
def sync_command(
    repo: Repo = HERE,
    alias: Alias = [],  # noqa: B006 - typer reads it and never writes it
    since: Annotated[
        str, typer.Option(metavar="WHEN", help="Only sessions written to since then: 14d, 2026-07-01.")
    ] = "",
    until: Annotated[str, typer.Option(metavar="WHEN", help="Only sessions started before then.")] = "",
    accept_above: Annotated[
        float | None,
        typer.Option(metavar="0.7", min=0.0, max=1.0, help="Write candidates of at least this confidence unseen."),
    ] = None,
    quotes: QuotesOption = None,
    model: Annotated[
        str, typer.Option(metavar="none", help="“none”: ask no model in this run, whatever the settings say.")
    ] = "auto",
    as_json: Json = False,
) -> None:
    """Read new sessions of this repository and propose what they decided and taught."""
    from lerim import jobs

    if model not in ("auto", "none"):
        todo = "give “none”, or leave it out; which model is asked stands in the settings (roles.extract)"
        raise typer.BadParameter(f"There is no model {model!r}; {todo}.", param_hint="--model")
    at = here(repo, alias)
    if any(gone_from(old, at.home) for old in alias):
        keep(at.project, at.home)  # its review goes on here from now on, not in this run alone
    above = at.settings.accept_above if accept_above is None else accept_above
    options = jobs.SyncOptions(
        explicit=True,
        since=when(since or at.settings.since, "--since"),
        until=when(until, "--until"),
        accept_above=above if above > 0 or accept_above is not None else None,
        quotes=quotes or _quotes(at),
        model="none" if model == "none" else "auto",
    )
    report = run_sync(at, options, quiet=as_json)
    if as_json:
        output.show_json(msgspec.structs.replace(report, problems=[*at.problems, *report.problems]))
    else:
        show_report(report)
    raise typer.Exit(EXIT_CODES[report.state])


def run_sync(at: Here, options: SyncOptions, *, quiet: bool) -> SyncReport:
    """One whole sync with progress on a terminal; Ctrl-C cancels it."""
    from lerim import jobs

    with _interruptible() as cancelled, _progress(quiet=quiet) as emit:
        return jobs.run(at.project, at.home, os.environ, options, emit, cancelled)


def _quotes(at: Here) -> Quotes | None:
    """What was chosen for this repository, else what the settings say."""
    return at.place.store().quotes.choice() or (None if at.settings.quotes == "ask" else at.settings.quotes)


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Whether the person pressed Ctrl-C: the first press lets the sync stop where it can go on, the second ends it."""
    asked = threading.Event()

    def ask(_signal: int, _frame: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        output.note("stopping; press Ctrl-C again to stop at once")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[Event], None]]:
    """One line that counts along on a terminal; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda _event: None
        return
    from rich.console import Console

    from lerim.report import Progress

    with Console(stderr=True, markup=False, highlight=False).status("looking for sessions") as status:

        def show(event: Event) -> None:
            if isinstance(event, Progress):
                count = f" {event.sessions_done}/{event.sessions_total}" if event.sessions_total else ""
                status.update(f"{event.stage}{count}, {event.candidates} proposed")

        yield show


def show_report(report: SyncReport) -> None:
    """The report of a sync as tables: sessions, what is proposed, what was dropped and why, what went wrong."""
    counts = report.sessions
    output.say(
        f"{output.counted(counts.found, 'session')}: {counts.new} new, {counts.changed} changed, "
        f"{counts.unchanged} unchanged, {counts.failed} failed ({report.seconds:.1f} s, model: {report.model})"
    )
    if report.left_out:
        were = "was" if report.left_out == 1 else "were"
        left_out = output.counted(report.left_out, "session")
        output.say(f"{left_out} {were} left out by --since, --until or the setting sync.since.")
    if (spent := report.usage).calls:
        cost = f", ${spent.cost:.4f}" if spent.cost else ""
        output.say(
            f"{report.model}: {output.counted(spent.calls, 'call')}, "
            f"{spent.input_tokens:,} tokens in, {spent.output_tokens:,} out{cost}"
        )
    if report.candidates:
        accepted = set(report.accepted)
        show_candidates(report.candidates, "Proposed", accepted)
        if any(one.id not in accepted for one in report.candidates):
            output.say("Look at them with `lerim review list`, or in VS Code with “Lerim: Open Review”.")
        if accepted:
            output.say("What was accepted is a memory now: `lerim memory list`.")
    else:
        output.say("Nothing new to propose.")
    if report.dropped:
        rows_dropped = [(item.reason, item.title, item.session[:8], item.detail) for item in report.dropped_items]
        output.show_table(("reason", "what", "session", "detail"), rows_dropped, title="Dropped, and why")
    else:
        output.say("Nothing was dropped.")
    for withdrawn in report.withdrawn:
        output.say(f"Withdrawn: {output.visible(withdrawn.id)}: {output.visible(withdrawn.reason)}")
    if report.message:
        output.say(output.visible(report.message))
    output.warn(report.problems)
