"""What every command shares: its options, the repository it is about, and how its errors leave."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import typer

from lerim.cli.terminal import output
from lerim.config import load
from lerim.errors import LerimError, Problem, ProjectError
from lerim.jobs import explain_unusable_home, with_alias
from lerim.paths import Home
from lerim.project import Project, check_home_outside_repository, locate_project, make_personal_project
from lerim.review import ReviewPaths
from lerim.times import parse_time

RepoOption = Annotated[
    Path, typer.Option("--repo", metavar="PATH", help="A folder of the repository.", show_default="here")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object (see docs/PROTOCOL.md).")]
AliasOption = Annotated[
    list[str],
    typer.Option("--alias", metavar="OLD_PATH", help="A folder where this repository was before. Can be repeated."),
]
GlobalOption = Annotated[bool, typer.Option("--global", help="Your own memories, which belong to no repository.")]
CURRENT_FOLDER = Path()

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The repository a command is about, the person's home and the settings in force there."""

    project: Project
    home: Home
    settings: load.Settings
    problems: list[Problem]
    """What is wrong with the settings' files; said on standard error already."""

    @property
    def review_paths(self) -> ReviewPaths:
        """The same for the review and the store."""
        return ReviewPaths(self.project, self.home)


def find_home() -> Home:
    """The home the environment names. Raises HomeError where it is none, or lies in the repository around us."""
    home = Home.from_environ(os.environ)
    try:
        here = Path.cwd()
    except OSError:  # a working folder that was removed lies in no repository
        return home
    check_home_outside_repository(home, here)
    return home


def open_command_context(repo: Path, aliases: list[str] | None = None) -> CommandContext:
    """The repository around `repo`, known under `aliases` too for this run; broken settings are warned of.

    Raises HomeError, and ProjectError outside any repository and for an alias that cannot be one.
    """
    home = find_home()
    folder = resolve_folder(repo)
    project = locate_project(folder, home)
    if project is None:
        raise ProjectError(
            "This folder is in no git repository.",
            where=str(folder),
            todo="Run `git init` there, or name a repository with --repo.",
        )
    for alias in aliases or ():
        project = with_alias(project, alias, home)
    settings, problems = load.load_settings(os.environ, home, project.root)
    output.print_problems(problems)
    return CommandContext(project, home, settings, problems)


def find_review_paths(repo: Path, personal: bool) -> ReviewPaths:
    """Where the memories are that a command is about: the repository's, or the person's own. Raises ProjectError."""
    return (
        ReviewPaths(make_personal_project(find_home()), find_home())
        if personal
        else open_command_context(repo).review_paths
    )


def open_personal_context() -> CommandContext:
    """What belongs to the person and to no repository; broken settings are warned of."""
    home = find_home()
    personal = make_personal_project(home)
    settings, problems = load.load_settings(os.environ, home, None)
    output.print_problems(problems)
    return CommandContext(personal, home, settings, problems)


def resolve_folder(repo: Path) -> Path:
    """The folder a person named, absolute. Raises ProjectError: a mistyped one is not the repository around it."""
    folder = repo.expanduser().absolute()
    if folder.is_dir():
        return folder
    message = "This is a file, not a folder." if folder.exists() else "This folder does not exist."
    raise ProjectError(message, where=str(folder), todo="Name a folder of a repository with --repo.")


def parse_time_option(text: str, option: str) -> datetime | None:
    """The time that an option names; None where nothing was given. Raises typer.BadParameter."""
    if not text:
        return None
    try:
        return parse_time(text, datetime.now(UTC))
    except ValueError as error:
        raise typer.BadParameter(f"{error}.", param_hint=option) from error


def with_error_exit(command: Callable[P, R]) -> Callable[P, R]:
    """The command with its errors shown, in JSON where `as_json` is set, and turned into the exit code."""

    @functools.wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> R:
        as_json = bool(options.get("as_json"))
        try:
            try:
                find_home()  # before anything is read or written, also by a command that does not use it
                return command(*arguments, **options)
            finally:
                output.flush_output()
        except output.OutputError as error:
            output.show_error(error, as_json=False)
            raise typer.Exit(error.exit_code) from error
        except LerimError as error:
            output.show_error(error, as_json=as_json)
            raise typer.Exit(error.exit_code) from error
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:
            output.show_error(explain_unusable_home(error) or make_unexpected_error(error), as_json=as_json)
            raise typer.Exit(1) from error

    return run


def make_unexpected_error(error: Exception) -> LerimError:
    """A fault of ours, said without the foreign text its message may quote; the places go to standard error."""
    sys.stderr.write("".join(traceback.format_tb(error.__traceback__)))
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return LerimError(
        f"An unexpected {type(error).__name__}.",
        where=f"{Path(frame.filename).name}:{frame.lineno}",
        todo="This is a bug in Lerim; please report it with the lines above.",
    )
