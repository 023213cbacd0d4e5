"""`lerim sync`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim import output
from lerim.cli_interrupt import EXIT_CODES, interruptible
from lerim.cli_place import HERE, Alias, Here, Json, Repo, guarded, here, nowhere, when
from lerim.cli_review import Quotes, QuotesOption, show_candidates
from lerim.config import DEFAULT
from lerim.errors import SpendingError
from lerim.models.providers import RoleName
from lerim.models.told import dollars, summed, taken, waiting
from lerim.models.usage import Waits, Why
from lerim.moved import keep
from lerim.project import gone_from
from lerim.report import combine
from lerim.review import queue
from lerim.review.ledger import State
from lerim.review.left_out import WHY
from lerim.setting import KEYS

if TYPE_CHECKING:
    from lerim.jobs import SyncOptions
    from lerim.report import Event, SyncReport

ROLES_OF_A_SYNC: tuple[RoleName, ...] = ("extract", "summarize")


@guarded
def sync_command(
    repo: Repo = HERE,
    own: Annotated[bool, typer.Option("--global", help="Only the sessions outside any repository.")] = False,
    alias: Alias = [],  # noqa: B006 - typer reads it and never writes it
    since: Annotated[
        str, typer.Option(metavar="WHEN", help="Only sessions written to since then: 14d, 2026-07-01.")
    ] = "",
    until: Annotated[str, typer.Option(metavar="WHEN", help="Only sessions started before then.")] = "",
    accept_above: Annotated[
        float | None,
        typer.Option(metavar="0.5", min=0.0, max=1.0, help="Write unseen what is at least so likely worth keeping."),
    ] = None,
    quotes: QuotesOption = None,
    model: Annotated[
        str, typer.Option(metavar="none", help="“none”: ask no model in this run, whatever the settings say.")
    ] = "auto",
    guidance: Annotated[
        str, typer.Option(metavar="TEXT", help="What the model shall heed in this run, such as “only about billing”.")
    ] = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Agree for good to the model the settings name, though it is paid for.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Read new sessions of this repository and propose what they decided and taught."""
    from lerim import jobs

    if model not in ("auto", "none"):
        todo = "give “none”, or leave it out; which model is asked stands in the settings (roles.extract)"
        raise typer.BadParameter(f"There is no model {model!r}; {todo}.", param_hint="--model")
    if own and alias:
        raise typer.BadParameter("What is outside any repository has no other place.", param_hint="--alias")
    at = nowhere() if own else here(repo, alias)
    if former := [old for old in alias if gone_from(old, at.home) is None]:
        from lerim.cli_former import refuse_unknown

        with interruptible() as cancelled, _progress(quiet=as_json) as emit:
            refuse_unknown(at, former, emit, cancelled)
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
        guidance=_checked(guidance),
    )
    if yes and options.model == "auto":
        _agree(at)
    report = run_sync(at, options, quiet=as_json)
    if report.waits.why == "consent" and report.waits.sessions and not as_json and _agreed(at, report.waits):
        report = combine(report, run_sync(at, options, quiet=False))
    if report.waits.why == "none" and report.waits.sessions and not as_json and options.model == "auto":
        report = offer_model(at, options, report)
    new = [one for one in report.problems if one not in at.problems]  # what is wrong with the settings is said already
    report = msgspec.structs.replace(report, problems=new)
    if as_json:
        output.show_json(msgspec.structs.replace(report, problems=[*at.problems, *report.problems]))
    else:
        show_report(report, _today(at, report), queue.states(at.place))
    raise typer.Exit(EXIT_CODES[report.state])


def _checked(guidance: str) -> str:
    try:
        return str(KEYS["extract.guidance"].check(guidance.strip()))
    except ValueError as error:
        raise typer.BadParameter(f"{error}.", param_hint="--guidance") from error


def run_sync(at: Here, options: SyncOptions, *, quiet: bool) -> SyncReport:
    """One whole sync with progress on a terminal; Ctrl-C cancels it."""
    from lerim import jobs

    with interruptible() as cancelled, _progress(quiet=quiet) as emit:
        return jobs.run(at.project, at.home, os.environ, options, emit, cancelled)


def _agree(at: Here) -> None:
    """The person agrees to the models the settings name for a sync. Raises SettingsError where that cannot be kept."""
    from lerim.models import consent
    from lerim.models.state import named

    for role in ROLES_OF_A_SYNC:
        model, _ = named(role, at.settings, os.environ)
        if model is not None and model.billed:
            consent.allow(at.home, model.label)


def _agreed(at: Here, waits: Waits) -> bool:
    """Asks the person, at a terminal, whether what waits may be sent; yes is for good. Raises SettingsError."""
    from lerim.models import consent

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{output.visible(waiting(waits))}. Ask it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return False
    consent.allow(at.home, waits.model)
    return True


def _today(at: Here, report: SyncReport) -> str:
    """What today cost so far, in words, where this run asked a model that is paid for, or the budget kept it from that.

    What cannot be told is left out: the sync's own problems have it."""
    from lerim.models.spending import today

    if not (report.usage.cost or report.usage.unpriced or report.waits.why == "budget"):
        return ""
    try:
        cost = today(at.home, datetime.now().astimezone()).cost
    except SpendingError:
        return ""
    bound = f" of ${at.settings.budget:.2f}" if at.settings.budget else ", no limit"
    return f"Today: {dollars(cost)}{bound}."


def offer_model(at: Here, options: SyncOptions, report: SyncReport) -> SyncReport:
    """Offers the models of this machine where the person never chose about one. The report of the rules, with what the
    chosen model found besides."""
    from lerim import cli_offer

    if at.settings.origins["roles.extract.provider"] != DEFAULT:
        return report
    offers = cli_offer.offers(at.home, os.environ)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        cli_offer.show_offers(offers, report)
        return report
    if not cli_offer.let_choose(at, offers, report):
        return report
    return combine(report, run_sync(at, options, quiet=False))


def _quotes(at: Here) -> Quotes | None:
    """What was chosen for this repository, else what the settings say."""
    return at.place.store().quotes.choice() or (None if at.settings.quotes == "ask" else at.settings.quotes)


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


_WAITS: dict[Why, str] = {
    "": "The next sync goes on with them.",
    "consent": "It is paid for: `lerim sync --yes` or `lerim model allow` lets it be asked.",
    "budget": "They are asked another day; budget.per_day_usd sets the bound.",
}
"""What a person can do about sessions that wait for a model; where none is chosen there is nothing to say."""


def show_report(report: SyncReport, today: str, known: Mapping[str, State]) -> None:
    """The report of a sync as tables: sessions, what models took (`today` in all), what is proposed, what was dropped
    and why, what went wrong. `known` are all candidates there were, and what became of them."""
    counts = report.sessions
    output.say(
        f"{output.counted(counts.found, 'session')}: {counts.new} new, {counts.changed} changed, "
        f"{counts.unchanged} unchanged, {counts.failed} failed ({report.seconds:.1f} s, model: {report.model})"
    )
    if report.left_out:
        were = "was" if report.left_out == 1 else "were"
        left_out = output.counted(report.left_out, "session")
        output.say(f"{left_out} {were} left out by --since, --until or the setting sync.since.")
    for spent in report.spent:
        output.say(output.visible(f"Asked {taken(spent)}."))
    if today:
        output.say(today)
    for line in summed(report.steps):
        output.say(output.visible(line))
    if report.waits.sessions and report.waits.why in _WAITS:
        output.say(output.visible(f"{waiting(report.waits)}. {_WAITS[report.waits.why]}".strip()))
    if report.candidates:
        accepted = set(report.accepted)
        pending = [name for name, state in known.items() if state == "pending"]
        show_candidates(report.candidates, "Proposed", accepted, pending)
        if any(one.id not in accepted for one in report.candidates):
            output.say(
                "`lerim review list` shows them whole, `lerim review accept ID` and `reject ID` decide; or do it"
            )
            output.say("in VS Code with “Lerim: Open Review”.")
        if accepted:
            output.say("What was accepted is a memory now: `lerim memory list`.")
    else:
        output.say("Nothing new to propose.")
    _show_dropped(report)
    for withdrawn in report.withdrawn:
        if withdrawn.reason != WHY["model-read"]:  # these are counted above
            output.say(f"Withdrawn: {output.visible(withdrawn.id)}: {output.visible(withdrawn.reason)}")
    if report.message:
        output.say(output.visible(report.message))
    output.warn(report.problems)


def _show_dropped(report: SyncReport) -> None:
    """What was dropped and why; of what only ranks too low, which is much of what is said, the count."""
    if not report.dropped:
        output.say("Nothing was dropped.")
        return
    rows = [
        (item.reason, item.title, item.session[:8], item.detail)
        for item in report.dropped_items
        if item.reason not in ("below-the-cut", "model-read")
    ]
    if rows:
        output.show_table(("reason", "what", "session", "detail"), rows, title="Dropped, and why")
    if lower := report.dropped.get("below-the-cut", 0):
        output.say(f"{lower} more {'ranks' if lower == 1 else 'rank'} too low to be proposed.")
    if gone := report.dropped.get("model-read", 0):
        were = "proposal was" if gone == 1 else "proposals were"
        output.say(f"{gone} {were} taken back: a model has read the sessions since.")
    output.say("`lerim review dropped` shows it with its words, `lerim review propose ID` proposes one anyway.")
