"""Keeps the files that agents read up to date, after a command that changed memories."""

from __future__ import annotations

from lerim import views
from lerim.cli.terminal import output
from lerim.paths import Home
from lerim.project import Project


def refresh_agent_files(project: Project, home: Home) -> None:
    """Brings what agents are given up to date: the files that Lerim has written, if the person chose that for this
    project, which it says on standard error; and in the background the index of the hooks, if there is one."""
    made, problems = views.refresh_agent_files(project, home)
    for edit in made:
        output.print_note(output.escape_controls(f"note: {edit.path.relative_to(project.root)} was brought up to date"))
    output.print_problems(problems)
