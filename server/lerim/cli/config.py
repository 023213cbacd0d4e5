"""`lerim config show`."""

from __future__ import annotations

import json
import os

import typer

from lerim.cli.terminal import (
    CURRENT_FOLDER,
    JsonOption,
    RepoOption,
    find_home,
    get_from_server,
    output,
    resolve_folder,
    with_error_exit,
)
from lerim.config import SettingValue
from lerim.project import locate_project
from lerim.views import ConfigOutput, load_configuration

config_app = typer.Typer(help="Show settings and where they come from.", no_args_is_help=True)


@config_app.command("show")
@with_error_exit
def show_command(repo: RepoOption = CURRENT_FOLDER, as_json: JsonOption = False) -> None:
    """Print every setting with its value and where it comes from."""
    home = find_home()
    project = locate_project(resolve_folder(repo), home)
    shown = get_from_server(home, ["configuration"], ConfigOutput, project=project) or load_configuration(
        home, os.environ, project
    )
    if as_json:
        output.show_json(shown)
        return
    output.show_table(
        ("setting", "value", "from"), ((v.name, _format_value(v.value), v.origin) for v in shown.settings)
    )
    output.print_problems(shown.problems)


def _format_value(value: SettingValue) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


@config_app.callback()
def _config_group() -> None:
    """Shows settings and where they come from."""
