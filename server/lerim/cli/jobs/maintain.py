"""`lerim maintain`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    EXIT_CODES,
    GlobalOption,
    JsonOption,
    RepoOption,
    find_home,
    interruptible,
    open_command_context,
    output,
    refresh_agent_files,
    show_progress,
    with_error_exit,
)
from lerim.errors import BusyError, LerimError, Problem
from lerim.jobs import SyncState
from lerim.process import format_command_line
from lerim.project import Project, list_projects, make_personal_project
from lerim.views import DRIFT_LABELS, find_running_server

if TYPE_CHECKING:
    from lerim.jobs import MaintainProgress, MaintainReport, StaleMemory
    from lerim.review import CandidateView

STOP_SECONDS = 0.8
"""Seconds that a run has to stop after Ctrl-C before its process is ended."""
_COUNT_LABELS = {
    "merged": ("duplicate to merge", "duplicates to merge"),
    "closed": ("question to close", "questions to close"),
    "decayed": ("unused memory to archive", "unused memories to archive"),
    "archived": ("outdated memory to archive", "outdated memories to archive"),
    "bounded": ("memory above the limit to archive", "memories above the limit to archive"),
    "consolidated": ("group of memories to combine", "groups of memories to combine"),
    "referred": ("memory with a moved reference", "memories with a moved reference"),
    "repaired": ("memory with corrected links", "memories with corrected links"),
    "withdrawn": ("candidate withdrawn", "candidates withdrawn"),
    "waiting": ("candidate already waiting for review", "candidates already waiting for review"),
    "rejected": ("candidate rejected before", "candidates rejected before"),
    "left": ("candidate left for later", "candidates left for later"),
    "drifted": ("memory whose code has changed", "memories whose code has changed"),
    "gone": ("memory whose code was not found", "memories whose code was not found"),
    "unchanged": ("memory unchanged", "memories unchanged"),
}
"""The things that each count of the report counts, for one and for several."""
_ACTION_LABELS = {
    "accepted": "done",
    "withdrawn": "withdrawn",
    "repaired": "links corrected",
    "known": "already waiting",
}
_CHANGE_LABELS = {
    "merge": "merge",
    "archive": "archive",
    "consolidate": "combine",
    "refer": "update the reference",
    "close": "close a question",
    "blocked": "rejected before",
}


class MaintainAllOutput(msgspec.Struct, frozen=True):
    """What `maintain --all-projects --json` prints: a report for each project, and the problems of the list of
    projects."""

    reports: list[MaintainReport]
    problems: list[Problem]


@with_error_exit
def maintain_command(
    all_projects: Annotated[
        bool, typer.Option("--all-projects", help="Maintain every repository Lerim knows, and your personal memories.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be proposed; write nothing.")] = False,
    personal: GlobalOption = False,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Maintain the memories: propose to merge duplicates, archive outdated ones and combine related ones."""
    if not all_projects:
        project = open_command_context(repo, personal=personal).project
        report = _maintain_project(project, dry_run=dry_run, quiet=as_json)
        output.show_json(report) if as_json else show_maintain_report(report)
        raise typer.Exit(EXIT_CODES[report.state])
    projects, problems = list_projects(find_home())
    reports: list[MaintainReport] = []
    for project in (*projects, make_personal_project(find_home())):
        reports.append(_maintain_or_report(project, dry_run=dry_run, quiet=as_json))
        if not as_json:
            show_maintain_report(reports[-1])
            output.print_line()
        if reports[-1].state == "cancelled":
            break
    if as_json:
        output.show_json(MaintainAllOutput(reports, problems))
    else:
        output.print_problems(problems)
    raise typer.Exit(max(EXIT_CODES[report.state] for report in reports))


def _maintain_or_report(project: Project, *, dry_run: bool, quiet: bool) -> MaintainReport:
    """Maintains one of several projects; an error is put into its report, so that the others still run."""
    from lerim.jobs import MaintainReport

    try:
        return _maintain_project(project, dry_run=dry_run, quiet=quiet)
    except LerimError as error:
        state: SyncState = "busy" if isinstance(error, BusyError) else "failed"
        problem = error.problem()
        return MaintainReport(str(project.root), problems=[problem], state=state, message=error.message)


def _maintain_project(project: Project, *, dry_run: bool, quiet: bool) -> MaintainReport:
    """Maintains a project's memories, in the running server if there is one."""
    from lerim.jobs import MaintainReport, maintain

    home = find_home()
    with (
        interruptible(STOP_SECONDS) as cancelled,
        show_progress("reading the memories", _describe_progress, quiet=quiet) as emit,
    ):
        if find_running_server(home) is not None:
            from lerim.cli.jobs.on_server import run_on_server

            done = run_on_server(home, project, "maintain", {"dry_run": dry_run}, emit, cancelled)
            if isinstance(done, MaintainReport):
                return done
        report = maintain.maintain_project(project, home, os.environ, emit, cancelled, dry_run=dry_run)
    if not dry_run:
        refresh_agent_files(project, home)
    return report


def _describe_progress(event: MaintainProgress) -> str:
    count = f" {event.done}/{event.total}" if event.total else ""
    return f"{event.stage}{count}"


def show_maintain_report(report: MaintainReport) -> None:
    """Prints what a run found and did: counts, changes that were made, and proposals with their reasons."""
    counts = "; ".join(_describe_count(name, count) for name, count in report.counts.items())
    output.print_line(output.escape_controls(f"{report.project}: {counts or 'no memories'} ({report.seconds:.1f} s)"))
    actions = [one for one in report.done if not one.action.startswith("proposed-")]
    if actions:
        rows = [
            (_describe_action(one.action), one.title, ", ".join(one.memories), one.reason, one.undo) for one in actions
        ]
        output.show_table(("done", "what", "memories", "why", "undo"), rows, title="Done")
    if report.stale:
        stale = [(one.id, DRIFT_LABELS[one.drift], _describe_drift(one)) for one in report.stale]
        output.show_table(
            ("memory", "state", "reference"), stale, title="Memories whose code has changed or was not found"
        )
        output.print_line(
            "If a memory still holds, run `lerim memory verify ID`; otherwise `lerim "
            "memory edit ID` or `lerim memory archive ID`."
        )
    if report.proposals:
        title = "Would be proposed" if report.dry_run else "Proposed"
        output.show_table(("what", "memories", "why"), [_proposal_row(one) for one in report.proposals], title=title)
        if not report.dry_run:
            personal = Path(report.project) == find_home().root
            todo = format_command_line(
                "lerim", "review", "list", *(["--global"] if personal else ["--repo", report.project])
            )
            output.print_line(f"Review them with `{todo}`, or in VS Code with “Lerim: Open Review”.")
    elif not actions:
        output.print_line(
            "Nothing new to propose." if report.state == "done" else output.escape_controls(report.message)
        )
    output.print_problems(report.problems)


def _describe_count(name: str, count: int) -> str:
    singular, plural = _COUNT_LABELS.get(name, (name, name))
    return f"{count} {singular if count == 1 else plural}"


def _describe_drift(memory: StaleMemory) -> str:
    moved = f"moved to {memory.moved_to}" if memory.moved_to else ""
    detail = memory.detail if memory.drift == "drifted" else ""
    since = f"since {memory.since}" if memory.since else ""
    return ", ".join(filter(None, (memory.reference, moved, detail, since)))


def _proposal_row(view: CandidateView) -> tuple[str, str, str]:
    target_texts = [f"{target.title} ({target.id})" for target in view.targets]
    return _CHANGE_LABELS.get(view.action, view.action), "; ".join(target_texts or [view.title]), view.reason


def _describe_action(action: str) -> str:
    """Describes an action such as `withdrawn-refer` in plain words."""
    outcome, _, change = action.partition("-")
    return ": ".join(
        filter(
            None,
            (_ACTION_LABELS.get(outcome, _CHANGE_LABELS.get(outcome, outcome)), _CHANGE_LABELS.get(change, change)),
        )
    )
