"""Shows what a plan would change in the agents' files, asks, and carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import typer

from lerim.cli.terminal import EXIT_CODES, output
from lerim.errors import Problem
from lerim.files import render_diff

if TYPE_CHECKING:
    from lerim.agents import AgentMachine, AgentPlan, InstallLevel, ManualStep, PlanAction


class FileChangeOutput(msgspec.Struct, frozen=True):
    """One change of an agent's file; `diff` is a unified diff."""

    path: str
    level: InstallLevel
    agents: list[str]
    channels: list[str]
    reason: str
    diff: str


class PlanOutput(msgspec.Struct, frozen=True):
    """What `agents install` and `agents remove` print with `--json`: `written` are the paths that were changed."""

    action: PlanAction
    changes: list[FileChangeOutput]
    manual: list[ManualStep]
    unchanged: list[str]
    written: list[str]
    problems: list[Problem]


def carry_out(
    action: PlanAction,
    plans: Sequence[AgentPlan],
    machine: AgentMachine,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Shows each plan, asks, and carries out what was agreed to."""
    from lerim.agents import apply_plan

    written: list[str] = []
    problems: list[Problem] = []
    for plan in plans:
        if not as_json:
            _show_plan(plan)
        if dry_run or not _is_agreed(plan, yes=yes, as_json=as_json):
            continue
        applied = apply_plan(plan, machine.home, root=machine.root)
        written += [str(edit.path) for edit in applied.made]
        problems += applied.problems
    manual = [step for plan in plans for step in plan.manual]
    if as_json:
        output.show_json(_make_output(action, plans, manual, written, problems))
    else:
        _show_outcome(action, plans, written, problems, dry_run=dry_run)
    if problems or (manual and not dry_run):
        raise typer.Exit(EXIT_CODES["partial"])


def _is_agreed(plan: AgentPlan, *, yes: bool, as_json: bool) -> bool:
    if yes:
        return True
    if not plan.edits or as_json:
        return False
    count = output.pluralize(len(plan.edits), "file")
    whose = "your own files" if plan.edits[0].level == "user" else "files of this repository, which others get as well"
    return output.ask_consent(f"Change {count} ({whose})?")


def _show_plan(plan: AgentPlan) -> None:
    for planned in plan.edits:
        output.print_line(output.escape_controls(f"{planned.edit.path}: {planned.edit.reason}"))
        for line in render_diff(planned.edit).splitlines():
            output.print_line("  " + output.escape_controls(line))
    for step in plan.manual:
        verb = "Add" if plan.action == "install" else "Take out"
        output.print_line(output.escape_controls(f"{step.path}: {step.reason} {verb} this yourself:"))
        for line in step.snippet.splitlines():
            output.print_line("  " + output.escape_controls(line))


def _show_outcome(
    action: PlanAction,
    plans: Sequence[AgentPlan],
    written: Sequence[str],
    problems: Sequence[Problem],
    *,
    dry_run: bool,
) -> None:
    output.print_problems(problems)
    if not any(plan.edits or plan.manual for plan in plans):
        is_empty = action == "remove" or not any(plan.unchanged for plan in plans)
        what = "no agent was found" if action == "install" else "nothing is installed"
        output.print_line(f"Nothing to do: {what}." if is_empty else "Nothing to do: everything is installed.")
    elif not written:
        output.print_line("Nothing was written.")
    else:
        output.print_line(f"Changed {output.pluralize(len(written), 'file')}.")
        if action == "install":
            output.print_line("Agents read this when they start. `lerim agents status` shows whether they use it.")
    if action == "install" and written and not dry_run:
        _show_trust_notes(plans, written)


def _show_trust_notes(plans: Sequence[AgentPlan], written: Sequence[str]) -> None:
    """Prints which agents ask the person for trust before they use what was installed."""
    planned = [one for plan in plans for one in plan.edits if str(one.edit.path) in written]
    if any("codex" in one.agents and "hooks" in one.channels for one in planned):
        output.print_line("Codex skips the hooks until you trust them: run /hooks in Codex.")
    if any(one.level == "project" for one in planned):
        output.print_line("Agents ask whether you trust this repository before they use its files.")


def _make_output(
    action: PlanAction,
    plans: Sequence[AgentPlan],
    manual: list[ManualStep],
    written: list[str],
    problems: list[Problem],
) -> PlanOutput:
    return PlanOutput(
        action,
        [
            FileChangeOutput(
                str(one.edit.path),
                one.level,
                list(one.agents),
                list(one.channels),
                one.edit.reason,
                render_diff(one.edit),
            )
            for plan in plans
            for one in plan.edits
        ],
        manual,
        [str(one.edit.path) for plan in plans for one in plan.unchanged],
        written,
        problems,
    )
