"""Sessions of other folders that look like a repository: what to offer where a sync finds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lerim.paths import Home
from lerim.project import FolderOwners, Project, find_gone_project, is_inside_folder, list_projects
from lerim.sessions import Catalog

MAX_FOLDERS = 20
"""How many folders are offered, those with the most sessions first."""


@dataclass(frozen=True, slots=True)
class OtherFolder:
    """A folder in which sessions ran that belong to no repository of this machine. `reason`: a repository with the same
    remote was there, or the folder has this repository's name."""

    path: str
    sessions: int
    reason: Literal["remote", "name"]


def find_other_folders(project: Project, home: Home) -> list[OtherFolder]:
    """Returns the folders whose sessions could be those of this project before it was moved, renamed or cloned anew.

    A folder of a repository that exists keeps its sessions. Raises CatalogError, ProjectError.
    """
    projects = list_projects(home)[0]
    owners = FolderOwners([one for one in projects if one.key == project.key or one.root.is_dir()], home=home)
    former = [
        str(one.root)
        for one in projects
        if one.key != project.key and one.remote and one.remote == project.remote
        if find_gone_project(str(one.root), home) is not None
    ]
    names = {name.casefold() for name in (project.name, project.root.name) if name}
    with Catalog.open(home) as catalog:
        folders = [folder for folder in catalog.list_folders() if not owners.find_owner(folder)]
        reasons: dict[str, Literal["remote", "name"]] = {
            **dict.fromkeys(_find_named(folders, names), "name"),
            **dict.fromkeys(former, "remote"),
        }
        found = [
            OtherFolder(path, count, reason)
            for path, reason in reasons.items()
            if (count := catalog.count_folder_sessions([one for one in folders if is_inside_folder(one, path)]))
        ]
    return sorted(found, key=lambda one: (-one.sessions, one.path))[:MAX_FOLDERS]


def _find_named(folders: Iterable[str], names: set[str]) -> Iterable[str]:
    """Yields the part of each folder up to the last component that has one of the names."""
    for folder in folders:
        matches = [match for match in re.finditer(r"[^\\/]+", folder) if match[0].casefold() in names]
        if matches:
            yield folder[: matches[-1].end()]
