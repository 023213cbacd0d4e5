"""`lerim export`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    EXIT_CODES,
    JsonOption,
    RepoOption,
    find_home,
    find_project,
    open_command_context,
    output,
    with_error_exit,
)
from lerim.errors import Problem
from lerim.files import FileUpdate, render_diff
from lerim.project import Project
from lerim.review import AlreadyKnown, CandidateProposed
from lerim.views import ProjectContext

if TYPE_CHECKING:
    from lerim.export import CheckResult, Export, ExportResult, LeftOutMemory


class FileView(msgspec.Struct, frozen=True):
    """One file that an export writes or removes, by its path from the repository's root. `edited_by_hand`: it is
    written only with `--take-edits`. `written`: it was."""

    path: str
    action: str
    diff: str
    edited_by_hand: bool = False
    written: bool = False


class EditedLineView(msgspec.Struct, frozen=True):
    """A line in such a file that somebody changed (`memory` is the id of its memory) or added (`memory` is "").
    `result` says what was done with it, "" if nothing yet."""

    path: str
    line: int
    text: str
    memory: str
    result: str = ""


class ExportOutput(msgspec.Struct, frozen=True):
    """What `export --json` prints. `memories` counts the memories in files; `drifted`, `unchecked` and `unapproved`
    count those that agents may not be given. `unserved` has a sentence for each agent used here that reads none of
    these files."""

    files: list[FileView]
    memories: int
    left_out: list[LeftOutMemory]
    drifted: int
    unchecked: int
    unapproved: int
    edited_lines: list[EditedLineView]
    unserved: list[str]
    problems: list[Problem]
    keeps: bool


class CheckOutput(msgspec.Struct, frozen=True):
    """What `export --check --json` prints. `unchecked` says what cannot be decided from the repository alone."""

    ok: bool
    files: list[FileView]
    faults: list[str]
    unchecked: list[str]
    problems: list[Problem]


@with_error_exit
def export_command(
    yes: Annotated[bool, typer.Option("--yes", help="Write the files without asking.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Only show the difference.")] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Exit with 1 if the files are not up to date. Uses only the repository, so it works in CI."
        ),
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove everything that Lerim wrote.")] = False,
    take_edits: Annotated[
        bool,
        typer.Option(
            "--take-edits",
            help="Make candidates of the lines that were edited by hand, then write the files they are in.",
        ),
    ] = False,
    keep: Annotated[
        bool | None,
        typer.Option(
            "--keep/--no-keep",
            help="Update the files after each accept, or stop doing so.",
            show_default=False,
        ),
    ] = None,
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Give memory to agents: write what they should always know into the files they read.

    That is a block in AGENTS.md (or in the CLAUDE.md or GEMINI.md that exists), and rules files for folders in
    .claude/rules, .cursor/rules or .github/instructions. Shows the difference and asks before it writes.
    """
    if sum((yes, diff, check)) > 1 or (check and (remove or take_edits or keep is not None)):
        raise typer.BadParameter(
            "Give only one of --yes, --diff and --check, and --check without --remove, --take-edits and --keep."
        )
    if check:
        _check(repo, as_json=as_json)
        return
    from lerim.export import keeps_rules, plan_project_export, plan_project_removal, set_keeping_rules, write_export

    context = open_command_context(repo)
    project, home = context.project, context.home
    if keep is not None:
        set_keeping_rules(project, home, keep)
    export = plan_project_removal(project, home) if remove else plan_project_export(project, home, os.environ)
    if not as_json:
        _show_plan(project, export)
    is_changing = bool(export.plan.edits or export.plan.hand_edited)
    result: ExportResult | None = None
    if is_changing and not diff:
        if export.plan.hand_edited and not (take_edits or as_json or yes):
            take_edits = output.confirm("Make candidates of the edited lines, then write those files too?")
        count = len(export.plan.edits) + (len(export.plan.hand_edited) if take_edits else 0)
        if yes or (count and not as_json and output.confirm(f"Write {output.pluralize(count, 'file')}?")):
            result = write_export(
                project, home, export, datetime.now(UTC).replace(microsecond=0), take_edits=take_edits
            )
    is_held = bool(export.plan.hand_edited) and not take_edits
    if as_json:
        output.show_json(_make_output(context, export, result, keeps=keeps_rules(project, home)))
    else:
        _show_result(project, export, result, keep, is_shown_only=diff)
    if result is not None and (is_held or export.plan.problems):
        raise typer.Exit(EXIT_CODES["partial"])


def _check(repo: Path, *, as_json: bool) -> None:
    from lerim.export import check_export

    project = find_project(repo, find_home())
    result = check_export(project, os.environ)
    plan = result.plan
    held = [one.edit for one in plan.hand_edited]
    if as_json:
        views = [_make_file_view(project, edit, (), edited=edit in held) for edit in (*plan.edits, *held)]
        faults, unchecked = list(result.faults), list(result.unchecked)
        output.show_json(CheckOutput(result.is_good, views, faults, unchecked, list(plan.problems)))
    else:
        _show_check(project, result)
    if not result.is_good:
        raise typer.Exit(1)


def _show_check(project: Project, result: CheckResult) -> None:
    plan = result.plan
    for edit in plan.edits:
        output.print_line(output.escape_controls(f"{_relative(project, edit.path)} is not up to date."))
    for one in plan.hand_edited:
        output.print_line(output.escape_controls(f"{one.path} was edited by hand between Lerim's markers."))
    for fault in result.faults:
        output.print_line(output.escape_controls(f"  {fault}"))
    output.print_problems(plan.problems)
    for sentence in result.unchecked:
        output.print_note(f"note: {sentence}")
    if result.is_good:
        output.print_line("The files of agents are up to date.")
    elif plan.edits or plan.hand_edited:
        files = "it" if len(plan.edits) + len(plan.hand_edited) == 1 else "them"
        output.print_line(f"Run `lerim export` to write {files}.")


def _show_plan(project: Project, export: Export) -> None:
    from lerim.export import describe_left_out

    plan = export.plan
    for edit in (*plan.edits, *(one.edit for one in plan.hand_edited)):
        for line in render_diff(edit, _relative(project, edit.path)).splitlines():
            output.print_line(output.escape_controls(line))
    for file in plan.hand_edited:
        output.print_line(output.escape_controls(f"{file.path} was edited by hand between Lerim's markers:"))
        for edited in (one for one in export.edited_lines if one.path == file.path):
            what = f"changes {edited.memory.record.id}" if edited.memory is not None else "is not a memory yet"
            output.print_line(output.escape_controls(f"  line {edited.number} {what}: {edited.title}"))
    for sentence in (*describe_left_out(export), *plan.unserved):
        output.print_note(f"note: {output.escape_controls(sentence)}")
    output.print_problems(plan.problems)


def _show_result(
    project: Project, export: Export, result: ExportResult | None, keep: bool | None, *, is_shown_only: bool
) -> None:
    plan = export.plan
    if keep is not None:
        output.print_line(
            "The files are kept up to date after each accept." if keep else "The files are no longer kept up to date."
        )
    if not plan.edits and not plan.hand_edited:
        output.print_line(
            f"Nothing to do: the files hold {output.pluralize(len(plan.written), 'memory')}."
            if plan.written
            else "Nothing to do."
        )
        return
    if result is None:
        if not is_shown_only and not (sys.stdin.isatty() and sys.stdout.isatty()):
            output.print_line("Nothing was written. `lerim export --yes` writes it.")
        return
    for edit in result.made:
        verb = "Removed" if edit.after is None else "Created" if edit.before is None else "Changed"
        output.print_line(output.escape_controls(f"{verb} {_relative(project, edit.path)}."))
    if result.taken:
        proposed = sum(isinstance(one, CandidateProposed) for one in result.taken)
        output.print_line(f"{output.pluralize(proposed, 'candidate')} made of the edited lines.")
    elif plan.hand_edited and not any(one.edit in result.made for one in plan.hand_edited):
        output.print_line("Files edited by hand were not written; `--take-edits` makes candidates of the edits first.")


def _make_output(context: ProjectContext, export: Export, result: ExportResult | None, *, keeps: bool) -> ExportOutput:
    plan, project = export.plan, context.project
    made = result.made if result is not None else ()
    taken = result.taken if result is not None else ()
    results = [_name_result(one) for one in taken] or [""] * len(export.edited_lines)
    return ExportOutput(
        files=[
            *(_make_file_view(project, edit, made) for edit in plan.edits),
            *(_make_file_view(project, one.edit, made, edited=True) for one in plan.hand_edited),
        ],
        memories=len(plan.written),
        left_out=list(plan.left_out),
        drifted=export.drifted,
        unchecked=export.unchecked,
        unapproved=export.unapproved,
        edited_lines=[
            EditedLineView(one.path, one.number, one.title, one.memory.record.id if one.memory else "", said)
            for one, said in zip(export.edited_lines, results, strict=True)
        ],
        unserved=list(plan.unserved),
        problems=list(plan.problems),
        keeps=keeps,
    )


def _name_result(result: object) -> str:
    if isinstance(result, CandidateProposed):
        return f"proposed as {result.proposal.id}"
    return result.reason if isinstance(result, AlreadyKnown) else "You rejected this before."


def _make_file_view(
    project: Project, edit: FileUpdate, made: Sequence[FileUpdate], *, edited: bool = False
) -> FileView:
    action = "remove" if edit.after is None else "create" if edit.before is None else "change"
    path = _relative(project, edit.path)
    return FileView(path, action, render_diff(edit, path), edited, edit in made)


def _relative(project: Project, path: Path) -> str:
    return path.relative_to(project.root).as_posix()
