"""Keeps what agents are given up to date, after memories have changed."""

from __future__ import annotations

from lerim.errors import Problem
from lerim.export import refresh_rules
from lerim.files import FileEdit
from lerim.hook import start_refresh_if_used
from lerim.paths import Home
from lerim.project import Project


def refresh_agent_files(project: Project, home: Home) -> tuple[list[FileEdit], list[Problem]]:
    """Brings the files that Lerim has written up to date, if the person chose that for this project, and in the
    background the index of the hooks, if there is one. Returns the changes that were made, and problems."""
    start_refresh_if_used(project.root, home)
    made, problems = refresh_rules(project, home)
    return list(made), list(problems)
