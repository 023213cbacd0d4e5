"""`lerim maintain`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim import output
from lerim.cli_interrupt import EXIT_CODES, interruptible
from lerim.cli_place import HERE, Json, Own, Repo, guarded, here, home, place_of
from lerim.errors import BusyError, LerimError, Problem
from lerim.models.told import summed, taken
from lerim.project import Project, listed, personal
from lerim.report import State
from lerim.shell import line

if TYPE_CHECKING:
    from lerim.maintained import MaintainOptions, MaintainProgress, MaintainReport, StaleMemory
    from lerim.review.views import CandidateView

GRACE = 0.8
"""Seconds a maintaining has to stop after Ctrl-C before its process is ended."""
_COUNTED = {
    "merged": "to be merged",
    "closed": "answered, to be closed",
    "decayed": "faded, to be archived",
    "archived": "over, to be archived",
    "bounded": "beyond the bound, to be archived",
    "consolidated": "to be put together",
    "referred": "with a place that was moved",
    "repaired": "with links put right",
    "withdrawn": "taken back",
    "waiting": "waiting for review before",
    "rejected": "rejected before",
    "left": "left for later",
    "drifted": "drifted",
    "gone": "with a place that is gone",
    "unchanged": "unchanged",
}
_DID = {"accepted": "done", "withdrawn": "taken back", "repaired": "links put right", "known": "waits already"}
_WHAT = {
    "merge": "merge",
    "archive": "archive",
    "consolidate": "put together",
    "refer": "point to where it is now",
    "close": "close a question",
    "blocked": "rejected before",
}


class MaintainedView(msgspec.Struct, frozen=True):
    """What `maintain --all-projects --json` prints: a report of each project, and what is wrong with their list."""

    reports: list[MaintainReport]
    problems: list[Problem]


@guarded
def maintain_command(
    all_projects: Annotated[
        bool, typer.Option("--all-projects", help="Every repository Lerim knows, and your own memories.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be proposed; write nothing.")] = False,
    model: Annotated[str, typer.Option(metavar="none", help="“none”: ask no model in this run.")] = "auto",
    own: Own = False,
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Look after the memories: merge what says the same, archive what is over, put together what belongs together."""
    from lerim.maintained import MaintainOptions

    if model not in ("auto", "none"):
        todo = "give “none”, or leave it out; which model is asked stands in the settings (roles.lead)"
        raise typer.BadParameter(f"There is no model {model!r}; {todo}.", param_hint="--model")
    options = MaintainOptions(dry_run=dry_run, model="none" if model == "none" else "auto")
    if not all_projects:
        project = place_of(repo, own=True).project if own else here(repo).project
        report = _one(project, options, quiet=as_json)
        output.show_json(report) if as_json else show_report(report)
        raise typer.Exit(EXIT_CODES[report.state])
    projects, problems = listed(home())
    reports: list[MaintainReport] = []
    for project in (*projects, personal(home())):
        reports.append(_told(project, options, quiet=as_json))
        if not as_json:
            show_report(reports[-1])
            output.say()
        if reports[-1].state == "cancelled":
            break
    if as_json:
        output.show_json(MaintainedView(reports, problems))
    else:
        output.warn(problems)
    raise typer.Exit(max(EXIT_CODES[report.state] for report in reports))


def _told(project: Project, options: MaintainOptions, *, quiet: bool) -> MaintainReport:
    """One of many projects: what keeps it from being maintained is told in its report, and the others go on."""
    from lerim.maintained import MaintainReport

    try:
        return _one(project, options, quiet=quiet)
    except LerimError as error:
        state: State = "busy" if isinstance(error, BusyError) else "failed"
        problem = error.problem()
        return MaintainReport(str(project.root), problems=[problem], state=state, message=error.message)


def _one(project: Project, options: MaintainOptions, *, quiet: bool) -> MaintainReport:
    from lerim import maintain

    with interruptible(GRACE) as cancelled, _progress(quiet=quiet) as emit:
        return maintain.run(project, home(), os.environ, options, emit, cancelled)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[MaintainProgress], None]]:
    """One line that counts along on a terminal; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda _at: None
        return
    from rich.console import Console

    with Console(stderr=True, markup=False, highlight=False).status("reading the memories") as status:

        def show(at: MaintainProgress) -> None:
            count = f" {at.done}/{at.total}" if at.total else ""
            status.update(output.visible(f"{at.message or at.stage}{count}"))

        yield show


def show_report(report: MaintainReport) -> None:
    """What a maintaining found and did: figures, each proposal with its reason, what was done at once."""
    counts = ", ".join(f"{count} {_COUNTED.get(name, name)}" for name, count in report.counts.items())
    output.say(output.visible(f"{report.project}: {counts or 'no memories'} ({report.seconds:.1f} s)"))
    for spent in report.spent:
        output.say(output.visible(f"Asked {taken(spent)}."))
    for step in summed(report.steps):
        output.say(output.visible(step))
    done = [one for one in report.done if not one.action.startswith("proposed-")]
    if done:
        rows = [(_did(one.action), one.title, ", ".join(one.memories), one.reason, one.undo) for one in done]
        output.show_table(("done", "what", "memories", "why", "undo"), rows, title="Done")
    if report.stale:
        stale = [(one.id, one.standing, _place(one)) for one in report.stale]
        output.show_table(("memory", "standing", "place"), stale, title="The code they speak of changed")
        output.say("Still true? `lerim memory verify ID`; else `lerim memory edit ID` or `lerim memory archive ID`.")
    if report.proposals:
        title = "Would be proposed" if report.dry_run else "Proposed"
        output.show_table(("what", "memories", "why"), [_row(one) for one in report.proposals], title=title)
        if not report.dry_run:
            own = Path(report.project) == home().root
            todo = line("lerim", "review", "list", *(["--global"] if own else ["--repo", report.project]))
            output.say(f"Look at them with `{todo}`, or in VS Code with “Lerim: Open Review”.")
    elif not done:
        output.say("Nothing new to propose." if report.state == "done" else output.visible(report.message))
    output.warn(report.problems)


def _place(one: StaleMemory) -> str:
    moved = f"is {one.moved_to} now" if one.moved_to else ""
    since = f"since {one.since}" if one.since else ""
    return ", ".join(filter(None, (one.reference, moved, one.detail, since)))


def _row(view: CandidateView) -> tuple[str, str, str]:
    named = [f"{target.title} ({target.id})" for target in view.targets]
    return _WHAT.get(view.action, view.action), "; ".join(named or [view.title]), view.reason


def _did(action: str) -> str:
    """`withdrawn-refer` in plain words."""
    how, _, what = action.partition("-")
    return ": ".join(filter(None, (_DID.get(how, _WHAT.get(how, how)), _WHAT.get(what, what))))
