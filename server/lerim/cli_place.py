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

from lerim import config, output
from lerim.errors import LerimError, Problem, ProjectError
from lerim.home import check_around
from lerim.moments import moment
from lerim.moved import known_as
from lerim.paths import Home
from lerim.project import Project, locate, personal
from lerim.review.place import Place
from lerim.unusable_home import unusable_home

Repo = Annotated[Path, typer.Option("--repo", metavar="PATH", help="A folder of the repository.", show_default="here")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object (README, “Command line”).")]
Alias = Annotated[
    list[str], typer.Option("--alias", metavar="OLD_PATH", help="A folder this repository was before; may be repeated.")
]
Own = Annotated[bool, typer.Option("--global", help="Your own memories, which belong to no repository.")]
HERE = Path()

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Here:
    """The repository a command is about, the person's home and the settings in force there."""

    project: Project
    home: Home
    settings: config.Settings
    problems: list[Problem]
    """What is wrong with the settings' files; said on standard error already."""

    @property
    def place(self) -> Place:
        """The same for the review and the store."""
        return Place(self.project, self.home)


def home() -> Home:
    """The home the environment names. Raises HomeError where it is none, or lies in the repository around us."""
    found = Home.of(os.environ)
    try:
        here = Path.cwd()
    except OSError:  # a working folder that was removed lies in no repository
        return found
    check_around(found, here)
    return found


def here(repo: Path, aliases: list[str] | None = None) -> Here:
    """The repository around `repo`, known under `aliases` too for this run; broken settings are warned of.

    Raises HomeError, and ProjectError outside any repository and for an alias that cannot be one.
    """
    mine = home()
    folder = there(repo)
    project = locate(folder, mine)
    if project is None:
        raise ProjectError(
            "This folder is in no git repository.",
            where=str(folder),
            todo="Run `git init` there, or name a repository with --repo.",
        )
    for old in aliases or ():
        project = known_as(project, old, mine)
    settings, problems = config.load(os.environ, mine, project.root)
    output.warn(problems)
    return Here(project, mine, settings, problems)


def place_of(repo: Path, own: bool) -> Place:
    """Where the memories are that a command is about: the repository's, or the person's own. Raises ProjectError."""
    return Place(personal(home()), home()) if own else here(repo).place


def nowhere() -> Here:
    """What belongs to the person and to no repository; broken settings are warned of."""
    mine = home()
    own = personal(mine)
    settings, problems = config.load(os.environ, mine, None)
    output.warn(problems)
    return Here(own, mine, settings, problems)


def there(repo: Path) -> Path:
    """The folder a person named, absolute. Raises ProjectError: a mistyped one is not the repository around it."""
    folder = repo.expanduser().absolute()
    if folder.is_dir():
        return folder
    message = "This is a file, not a folder." if folder.exists() else "This folder does not exist."
    raise ProjectError(message, where=str(folder), todo="Name a folder of a repository with --repo.")


def when(text: str, option: str) -> datetime | None:
    """The time that an option names; None where nothing was given. Raises typer.BadParameter."""
    if not text:
        return None
    try:
        return moment(text, datetime.now(UTC))
    except ValueError as error:
        raise typer.BadParameter(f"{error}.", param_hint=option) from error


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """The command with its errors shown, in JSON where `as_json` is set, and turned into the exit code."""

    @functools.wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> R:
        as_json = bool(options.get("as_json"))
        try:
            try:
                home()  # before anything is read or written, also by a command that does not use it
                return command(*arguments, **options)
            finally:
                output.finish()
        except output.Unwritten as error:
            output.show_error(error, as_json=False)
            raise typer.Exit(error.exit_code) from error
        except LerimError as error:
            output.show_error(error, as_json=as_json)
            raise typer.Exit(error.exit_code) from error
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:
            output.show_error(unusable_home(error) or unexpected(error), as_json=as_json)
            raise typer.Exit(1) from error

    return run


def unexpected(error: Exception) -> LerimError:
    """A fault of ours, said without the foreign text its message may quote; the places go to standard error."""
    sys.stderr.write("".join(traceback.format_tb(error.__traceback__)))
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return LerimError(
        f"An unexpected {type(error).__name__}.",
        where=f"{Path(frame.filename).name}:{frame.lineno}",
        todo="This is a fault in Lerim; please report it with the lines above.",
    )
