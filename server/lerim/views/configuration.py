"""The settings, and where each comes from."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from lerim.config import SettingValue, load
from lerim.errors import Problem
from lerim.paths import Home
from lerim.project import Project


class SettingView(msgspec.Struct, frozen=True):
    """A setting: its dotted name, its value, and the file that sets it, or `default`."""

    name: str
    value: SettingValue
    origin: str


class ConfigOutput(msgspec.Struct, frozen=True):
    """What `config show --json` prints."""

    settings: list[SettingView]
    problems: list[Problem]


def load_configuration(home: Home, environ: Mapping[str, str], project: Project | None) -> ConfigOutput:
    """Returns every setting in force for a project or, without one, for the person. Raises SettingsError."""
    settings, problems = load.load_settings(environ, home, project.root if project else None)
    views = [SettingView(name, value, settings.origins[name]) for name, value in settings.values.items()]
    return ConfigOutput(views, problems)
