"""The repositories that Lerim knows."""

from __future__ import annotations

import msgspec

from lerim.errors import Problem
from lerim.paths import Home
from lerim.project import Project, list_projects


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
