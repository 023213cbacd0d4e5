"""The parts that all commands share: common options, the repository they act on, and error handling."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal, ParamSpec, TypeVar

import typer

from lerim import views
from lerim.cli.terminal import output
from lerim.errors import LerimError, OrgError, ProjectError, ServerError
from lerim.jobs import explain_unusable_home, with_alias
from lerim.paths import Home
from lerim.project import Project, check_home_outside_repository, locate_project, make_personal_project
from lerim.review import ReviewPaths
from lerim.times import parse_time
from lerim.views import ProjectContext, load_context

RepoOption = Annotated[
    Path, typer.Option("--repo", metavar="PATH", help="A folder in the repository.", show_default="here")
]
OnlyRepoOption = Annotated[
    Path | None, typer.Option("--repo", metavar="PATH", help="Only the repository of this folder.", show_default="all")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object (see docs/PROTOCOL.md).")]
AliasOption = Annotated[
    list[str],
    typer.Option(
        "--alias",
        metavar="OLD_PATH",
        help="Also read sessions recorded when the repository was in this folder. Can be repeated.",
    ),
]
GlobalOption = Annotated[
    bool, typer.Option("--global", help="Use your personal memories, which belong to no repository.")
]
ModelChoice = Literal["auto", "none"]
"""Whether a command uses the model of the settings, if there is one, or none."""
CURRENT_FOLDER = Path()
_EXTRAS: dict[str, tuple[str, type[LerimError], tuple[str, ...]]] = {
    "serve": ("The server", ServerError, ("jinja2", "starlette", "uvicorn", "watchfiles")),
    "org": ("`lerim org`", OrgError, ("procrastinate", "psycopg")),
}
"""The packages that some commands need in addition to those of every installation, with the name of what needs them
and its error."""

P = ParamSpec("P")
R = TypeVar("R")


def find_home() -> Home:
    """Returns Lerim's home folder. Raises HomeError if it is unusable or in the current repository."""
    home = Home.from_environ(os.environ)
    try:
        here = Path.cwd()
    except OSError:  # a current folder that was removed is in no repository
        return home
    check_home_outside_repository(home, here)
    return home


def open_command_context(repo: Path, aliases: Sequence[str] = (), *, personal: bool = False) -> ProjectContext:
    """Opens the repository that contains `repo`, with `aliases` added for this run, or the `personal` memories, which
    belong to no repository; prints problems with settings.

    Raises HomeError, and ProjectError outside a repository or for an invalid alias.
    """
    home = find_home()
    project = make_personal_project(home) if personal else find_project(repo, home)
    for alias in aliases:
        project = with_alias(project, alias, home)
    context = load_context(project, home, os.environ)
    output.print_problems(context.problems)
    return context


def find_project(repo: Path, home: Home) -> Project:
    """Returns the repository that contains a folder. Raises ProjectError if there is none."""
    folder = resolve_folder(repo)
    project = locate_project(folder, home)
    if project is None:
        todo = "Run `git init` there, or name a repository with --repo."
        raise ProjectError("This folder is not in a git repository.", where=str(folder), todo=todo)
    return project


def find_review_paths(repo: Path, personal: bool) -> ReviewPaths:
    """Returns the paths of the repository's memories, or of the personal ones. Raises ProjectError."""
    return open_command_context(repo, personal=personal).review_paths


def resolve_folder(repo: Path) -> Path:
    """Returns the absolute path of a folder. Raises ProjectError if it is not one: a typing error must not select the
    repository around it."""
    folder, message = repo, "This folder does not exist."
    with suppress(OSError, RuntimeError):  # the current folder was removed, the name is too long, ~name is nobody's
        folder = repo.expanduser().absolute()
        if folder.is_dir():
            return folder
        if folder.exists():
            message = "This is a file, not a folder."
    raise ProjectError(message, where=str(folder), todo="Use --repo to name a folder in a repository.")


def parse_time_option(text: str, option: str) -> datetime | None:
    """Parses the value of a time option; None if it is empty. Raises typer.BadParameter."""
    if not text:
        return None
    try:
        return parse_time(text, datetime.now(UTC))
    except ValueError as error:
        raise typer.BadParameter(f"{error}.", param_hint=option) from error


def parse_day_option(text: str, option: str, now: datetime) -> date:
    """Parses the value of an option that names a day. Raises typer.BadParameter."""
    from lerim.journal import parse_day

    try:
        return parse_day(text, now)
    except ValueError as error:
        raise typer.BadParameter(f"{error}.", param_hint=option) from error


def with_error_exit(command: Callable[P, R]) -> Callable[P, R]:
    """Wraps a command so that its errors are printed, as JSON if `as_json` or `format` asks for it, and become the
    exit code."""

    @functools.wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> R:
        as_json = bool(options.get("as_json")) or options.get("format") == "json"
        try:
            try:
                find_home()  # checked first, even for a command that does not use it
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
    """Returns an error for a bug, without its message, which may quote untrusted text; the traceback goes to standard
    error."""
    sys.stderr.write("".join(traceback.format_tb(error.__traceback__)))
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return LerimError(
        f"An unexpected {type(error).__name__}.",
        where=f"{Path(frame.filename).name}:{frame.lineno}",
        todo="This is a bug in Lerim; please report it with the lines above.",
    )


def refresh_agent_files(project: Project, home: Home) -> None:
    """Updates everything that agents are given: the files that Lerim has written, if the person chose that for this
    project, which is reported on standard error; and, in the background, the index of the hooks, if there is one."""
    made, problems = views.refresh_agent_files(project, home)
    for edit in made:
        output.print_note(output.escape_controls(f"note: {edit.path.relative_to(project.root)} was brought up to date"))
    output.print_problems(problems)


def require_extra(extra: Literal["serve", "org"]) -> None:
    """Raises ServerError or OrgError if packages that belong to this extra are not installed."""
    what, error, modules = _EXTRAS[extra]
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        todo = f"Install them: `pip install 'lerim[{extra}]'`."
        raise error(f"{what} needs packages that are not installed: {', '.join(missing)}.", todo=todo)
