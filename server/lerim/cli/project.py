"""`lerim project list|add|remove|alias`."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    JsonOption,
    OnlyRepoOption,
    RepoOption,
    find_home,
    get_from_server,
    open_command_context,
    output,
    with_error_exit,
)
from lerim.jobs import aliases
from lerim.project import project, registry
from lerim.views import ProjectListOutput, ProjectView, load_project_list, make_project_view

project_app = typer.Typer(help="Manage the repositories Lerim knows.", no_args_is_help=True)


class ProjectOutput(msgspec.Struct, frozen=True):
    """What `project add` and `project alias` print with `--json`."""

    project: ProjectView


class RemovedProjectOutput(msgspec.Struct, frozen=True):
    """What `project remove --json` prints; `removed` is false if the project was not known."""

    project: ProjectView
    removed: bool


@project_app.command("list")
@with_error_exit
def list_command(repo: OnlyRepoOption = None, as_json: JsonOption = False) -> None:
    """List the repositories Lerim knows."""
    home = find_home()
    known = get_from_server(home, ["projects"], ProjectListOutput) or load_project_list(home)
    projects = known.projects
    if repo is not None:
        key = open_command_context(repo).project.key
        projects = [one for one in projects if one.key == key]
    if as_json:
        output.show_json(ProjectListOutput(projects, known.problems))
        return
    if repo is not None and not projects:
        output.print_line("Lerim does not know this repository yet. Run `lerim sync` or `lerim project add` in it.")
    elif projects:
        rows = [(p.name, p.root, ", ".join(p.aliases), p.key) for p in projects]
        output.show_table(("name", "folder", "former folders", "key"), rows)
    else:
        output.print_line("Lerim knows no repository yet. Run `lerim sync` or `lerim project add` in one.")
    output.print_problems(known.problems)


@project_app.command("add")
@with_error_exit
def add_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Add this repository to the ones Lerim knows."""
    context = open_command_context(repo)
    added = project.add_project(context.project, context.home)
    if as_json:
        output.show_json(ProjectOutput(make_project_view(added)))
        return
    output.print_line(f"Added {output.escape_controls(added.name)} ({output.escape_controls(str(added.root))}).")


@project_app.command("remove")
@with_error_exit
def remove_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Remove this repository and its aliases from the list; its memories stay. If its folder no longer exists, give its
    path with `--repo`."""
    folder = str(repo.expanduser().absolute())
    missing_project = next(
        (known for known in project.list_projects(find_home())[0] if str(known.root) == folder and not repo.exists()),
        None,
    )
    known = missing_project or open_command_context(repo).project
    removed = registry.remove_entry(find_home(), known.key)
    if as_json:
        output.show_json(RemovedProjectOutput(make_project_view(known), removed))
        return
    name = output.escape_controls(known.name)
    output.print_line(f"{name} was removed; its memories stay." if removed else f"{name} was not known.")


@project_app.command("alias")
@with_error_exit
def alias_command(
    old: Annotated[str, typer.Argument(metavar="OLD_PATH", help="The absolute path of the former folder.")],
    repo: RepoOption = CURRENT_FOLDER,
    as_json: JsonOption = False,
) -> None:
    """Treat sessions that ran in OLD_PATH as sessions of this repository."""
    context = open_command_context(repo)
    known = aliases.register_aliases(aliases.with_alias(context.project, old, context.home), context.home)
    if as_json:
        output.show_json(ProjectOutput(make_project_view(known)))
        return
    output.print_line(
        f"Sessions in {output.escape_controls(old)} now belong to {output.escape_controls(known.name)}."
        " The next sync reads them."
    )
    if known.key != context.project.key:
        output.print_line(
            "Its review continues here, with candidates, rejections and undo. Reload editor windows that have it open."
        )
