"""`lerim config show`."""

from __future__ import annotations

import json
import os

import msgspec
import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    JsonOption,
    RepoOption,
    find_home,
    output,
    resolve_folder,
    with_error_exit,
)
from lerim.config import SettingValue, load
from lerim.errors import Problem
from lerim.project import locate_project

config_app = typer.Typer(help="Show settings and where they come from.", no_args_is_help=True)


class SettingView(msgspec.Struct, frozen=True):
    """A setting: its dotted name, its value, and the file that sets it, or `default`."""

    name: str
    value: SettingValue
    origin: str


class ConfigOutput(msgspec.Struct, frozen=True):
    """What `config show --json` prints."""

    settings: list[SettingView]
    problems: list[Problem]


@config_app.command("show")
@with_error_exit
def show_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Print every setting with its value and where it comes from."""
    home = find_home()
    project = locate_project(resolve_folder(repo), home)
    settings, problems = load.load_settings(os.environ, home, project.root if project else None)
    views = [SettingView(name, value, settings.origins[name]) for name, value in settings.values.items()]
    if as_json:
        output.show_json(ConfigOutput(views, problems))
        return
    output.show_table(("setting", "value", "from"), ((v.name, _format_value(v.value), v.origin) for v in views))
    output.print_problems(problems)


def _format_value(value: SettingValue) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) or value == "" else str(value)


@config_app.callback()
def _config_group() -> None:
    """Show settings and where they come from."""
