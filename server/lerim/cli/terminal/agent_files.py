"""Keeps the files that agents read up to date, after a command that changed memories."""

from __future__ import annotations

from lerim.cli.terminal import output
from lerim.paths import Home
from lerim.project import Project


def refresh_agent_files(project: Project, home: Home) -> None:
    """Brings the files that Lerim has written up to date, if the person chose that for this project, and says so on
    standard error."""
    from lerim.export import refresh_rules

    made, problems = refresh_rules(project, home)
    for edit in made:
        output.print_note(output.escape_controls(f"note: {edit.path.relative_to(project.root)} was brought up to date"))
    output.print_problems(problems)
