"""Projects and their state."""

from __future__ import annotations

import msgspec

from lerim.errors import ProjectError
from lerim.views import (
    ConfigOutput,
    LastStatus,
    ProjectListOutput,
    StatusOutput,
    load_configuration,
    load_project_list,
    load_status,
)
from lerim.web.api.operations import Call, Operation


def list_projects(call: Call) -> ProjectListOutput:
    """Returns the repositories that Lerim knows."""
    return load_project_list(call.home)


def show_status(call: Call) -> StatusOutput:
    """Returns the state of a project. Raises ProjectError for the personal memories, which are not a repository."""
    context = call.context()
    if context.project.is_personal:
        raise ProjectError("Personal memories are not a repository.", where="global", todo="Name a repository.")
    with call.use_search(context.review_paths) as search:
        last = call.served.statuses.setdefault(search, LastStatus())
        view = load_status(context, call.served.clock(), search, last)
    return msgspec.structs.replace(view, problems=[*context.problems, *view.problems])


def show_project_configuration(call: Call) -> ConfigOutput:
    """Returns the settings in force for a project."""
    project = call.context().project
    return load_configuration(call.home, call.served.environ, None if project.is_personal else project)


def show_configuration(call: Call) -> ConfigOutput:
    """Returns your own settings."""
    return load_configuration(call.home, call.served.environ, None)


operations = [
    Operation("GET", "/projects", "List the repositories that Lerim knows", list_projects),
    Operation("GET", "/projects/{project}/status", "Show the state of a repository", show_status),
    Operation("GET", "/projects/{project}/configuration", "Show a project's settings", show_project_configuration),
    Operation("GET", "/configuration", "Show your settings", show_configuration),
]
