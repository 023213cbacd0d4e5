"""The repositories that Lerim knows, and the settings in force for one or for the person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lerim.config import SettingValue, load
from lerim.errors import Problem, UnknownProjectError
from lerim.paths import Home
from lerim.project import PERSONAL_KEY, Project, list_projects, make_personal_project
from lerim.review import ReviewPaths


@dataclass(frozen=True, slots=True)
class ProjectContext:
    """A repository (or the personal memories), Lerim's home folder, the settings in force and the environment."""

    project: Project
    home: Home
    settings: load.Settings
    problems: list[Problem]
    """Problems with the settings files."""
    environ: Mapping[str, str]

    @property
    def review_paths(self) -> ReviewPaths:
        """The same project and home, as the review and the store take them."""
        return ReviewPaths(self.project, self.home)


def load_context(project: Project, home: Home, environ: Mapping[str, str]) -> ProjectContext:
    """Returns the context of a project. Raises SettingsError if its settings cannot be used."""
    root = None if project.is_personal else project.root
    settings, problems = load.load_settings(environ, home, root)
    return ProjectContext(project, home, settings, problems, environ)


def find_project_by_key(key: str, home: Home) -> Project:
    """Returns a registered project, or the personal one for its key. Raises UnknownProjectError."""
    if key == PERSONAL_KEY:
        return make_personal_project(home)
    found = next((known for known in list_projects(home)[0] if known.key == key), None)
    if found is None:
        todo = "`lerim project list` shows the keys; `lerim project add` adds a repository."
        raise UnknownProjectError("There is no project with this key.", where=key[:80], todo=todo)
    return found


def find_gone_problems(project: Project, home: Home) -> list[Problem]:
    """Returns why a registered project is not where it was registered; nothing if it is."""
    return [one for one in list_projects(home)[1] if one.code == "project-gone" and Path(one.path) == project.root]


class ProjectView(msgspec.Struct, frozen=True):
    """One known repository."""

    key: str
    name: str
    root: str
    remote: str
    aliases: list[str]


class ProjectListOutput(msgspec.Struct, frozen=True):
    """What `project list --json` prints."""

    projects: list[ProjectView]
    problems: list[Problem]


def make_project_view(known: Project) -> ProjectView:
    """Returns the JSON view of a project; `root` is the main worktree if there is one."""
    return ProjectView(known.key, known.name, str(known.main_worktree or known.root), known.remote, list(known.aliases))


def load_project_list(home: Home) -> ProjectListOutput:
    """Returns all known repositories."""
    projects, problems = list_projects(home)
    return ProjectListOutput([make_project_view(known) for known in projects], problems)


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
