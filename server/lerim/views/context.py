"""The project that a command or request is about, with the settings in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lerim.config import load
from lerim.errors import NotFoundError, Problem
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
    """Returns a registered project, or the personal one for its key. Raises NotFoundError."""
    if key == PERSONAL_KEY:
        return make_personal_project(home)
    found = next((known for known in list_projects(home)[0] if known.key == key), None)
    if found is None:
        todo = "`lerim project list` shows the keys; `lerim project add` adds a repository."
        raise NotFoundError("There is no project with this key.", where=key[:80], todo=todo)
    return found
