"""Keeping the files of agents up to date after each accept, in projects for which the person chose that."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime

import msgspec

from lerim import files
from lerim.errors import LerimError, Problem
from lerim.export.export import plan_project_export, write_export
from lerim.files import FileEdit
from lerim.paths import Home
from lerim.project import Project
from lerim.review import ReviewPaths

MAX_BYTES = 4_096


class _AgentSettings(msgspec.Struct, frozen=True):
    """The content of `agents.json` in a project's private folder, which no repository can bring."""

    keep_rules: bool = False


def keeps_rules(project: Project, home: Home) -> bool:
    """Returns whether the person chose to keep the files of this project's agents up to date."""
    path = home.project(project.key) / "agents.json"
    try:
        return msgspec.json.decode(files.read_text(path, MAX_BYTES), type=_AgentSettings).keep_rules
    except (LerimError, msgspec.MsgspecError):
        return False


def set_keeping_rules(project: Project, home: Home, keep: bool) -> None:
    """Stores whether to keep the files of this project's agents up to date. Raises MemoryError_."""
    paths = ReviewPaths(project, home)
    paths.make_private_folder()
    text = msgspec.json.encode(_AgentSettings(keep)).decode()
    files.replace_file(paths.private / "agents.json", f"{text}\n", 0o600)


def refresh_rules(project: Project, home: Home) -> tuple[list[FileEdit], list[Problem]]:
    """Brings the files that Lerim has written up to date, if the person chose that for this project; creates none, and
    leaves those that a person edited. Returns the edits made and what failed."""
    if project.is_personal or not keeps_rules(project, home):
        return [], []
    try:
        export = plan_project_export(project, home, os.environ)
        kept = export.plan.without_new_files()
        made = write_export(project, home, replace(export, plan=kept), datetime.now(UTC)).made
    except LerimError as error:
        return [], [error.problem()]
    return list(made), list(kept.problems)
