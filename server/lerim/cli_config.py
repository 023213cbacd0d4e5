"""`lerim config show`."""

from __future__ import annotations

import json
import os

import msgspec
import typer

from lerim import config, output
from lerim.cli_place import HERE, Json, Repo, guarded, home, there
from lerim.errors import Problem
from lerim.project import locate
from lerim.setting import Value

config_app = typer.Typer(help="Settings and where each comes from.", no_args_is_help=True)


class SettingView(msgspec.Struct, frozen=True):
    """One setting: its dotted name, value, and the file it comes from or `default`."""

    name: str
    value: Value
    origin: str


class ConfigView(msgspec.Struct, frozen=True):
    """What `config show --json` prints."""

    settings: list[SettingView]
    problems: list[Problem]


@config_app.command("show")
@guarded
def show(repo: Repo = HERE, as_json: Json = False) -> None:
    """Print every setting with its value and where it comes from."""
    mine = home()
    project = locate(there(repo), mine)
    settings, problems = config.load(os.environ, mine, project.root if project else None)
    views = [SettingView(name, value, settings.origins[name]) for name, value in settings.values.items()]
    if as_json:
        output.show_json(ConfigView(views, problems))
        return
    output.show_table(("setting", "value", "from"), ((v.name, _shown(v.value), v.origin) for v in views))
    output.warn(problems)


def _shown(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) or value == "" else str(value)


@config_app.callback()
def _group() -> None:
    """Settings and where each comes from."""
