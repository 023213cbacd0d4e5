"""`lerim project list|add|remove|alias`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from lerim import moved, output, project
from lerim.cli_place import HERE, Json, Repo, guarded, here, home
from lerim.errors import Problem
from lerim.project import Project

project_app = typer.Typer(help="The repositories Lerim knows.", no_args_is_help=True)

OnlyRepo = Annotated[
    Path | None, typer.Option("--repo", metavar="PATH", help="Only the repository of this folder.", show_default="all")
]


class ProjectView(msgspec.Struct, frozen=True):
    """One known repository."""

    key: str
    name: str
    root: str
    remote: str
    aliases: list[str]


class ProjectsView(msgspec.Struct, frozen=True):
    """What `project list --json` prints."""

    projects: list[ProjectView]
    problems: list[Problem]


class OneProject(msgspec.Struct, frozen=True):
    """What `project add` and `project alias` print with `--json`."""

    project: ProjectView


class Removed(msgspec.Struct, frozen=True):
    """What `project remove --json` prints; `removed` is false where it was not known."""

    project: ProjectView
    removed: bool


def view(known: Project) -> ProjectView:
    """The project as JSON shows it; `root` is the main worktree where there is one."""
    return ProjectView(known.key, known.name, str(known.main or known.root), known.remote, list(known.aliases))


@project_app.command("list")
@guarded
def list_command(repo: OnlyRepo = None, as_json: Json = False) -> None:
    """List the repositories Lerim knows."""
    projects, problems = project.listed(home())
    if repo is not None:
        at = here(repo).project
        projects = [known for known in projects if known.key == at.key]
    if as_json:
        output.show_json(ProjectsView([view(known) for known in projects], problems))
        return
    if repo is not None and not projects:
        output.say("This repository is not known yet. `lerim sync` in it, or `lerim project add`, makes it known.")
    elif projects:
        rows = [(p.name, str(p.main or p.root), ", ".join(p.aliases), p.key) for p in projects]
        output.show_table(("name", "folder", "was before", "key"), rows)
    else:
        output.say("No repository is known yet. `lerim sync` in one, or `lerim project add`, makes it known.")
    output.warn(problems)


@project_app.command("add")
@guarded
def add_command(repo: Repo = HERE, as_json: Json = False) -> None:
    """Make this repository known."""
    at = here(repo)
    added = project.add(at.project, at.home)
    if as_json:
        output.show_json(OneProject(view(added)))
        return
    output.say(f"{output.visible(added.name)} is known now ({output.visible(str(added.root))}).")


@project_app.command("remove")
@guarded
def remove_command(repo: Repo = HERE, as_json: Json = False) -> None:
    """Forget this repository and its aliases; its memories stay. One whose folder is gone is named by that folder."""
    folder = str(repo.expanduser().absolute())
    gone = next((known for known in project.listed(home())[0] if str(known.root) == folder and not repo.exists()), None)
    known = gone or here(repo).project
    removed = project.remove(known, home())
    if as_json:
        output.show_json(Removed(view(known), removed))
        return
    name = output.visible(known.name)
    output.say(f"{name} is forgotten; its memories stay." if removed else f"{name} was not known.")


@project_app.command("alias")
@guarded
def alias_command(
    old: Annotated[str, typer.Argument(metavar="OLD_PATH", help="The absolute folder it was in before, or elsewhere.")],
    repo: Repo = HERE,
    as_json: Json = False,
) -> None:
    """Say that sessions which ran in OLD_PATH belong to this repository."""
    at = here(repo)
    known = moved.keep(moved.known_as(at.project, old, at.home), at.home)
    if as_json:
        output.show_json(OneProject(view(known)))
        return
    output.say(f"Sessions of {output.visible(old)} belong to {output.visible(known.name)}. The next sync takes them.")
    if known.key != at.project.key:
        output.say("Its review goes on here: what waits, what was rejected, undo. Reload editor windows open on it.")
