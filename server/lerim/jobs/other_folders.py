"""Sessions of other folders that look like a repository: what to offer where a sync finds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from lerim.paths import Home
from lerim.project import (
    FolderOwners,
    Project,
    find_gone_project,
    is_inside_folder,
    list_projects,
    open_git,
    read_head_commit,
    registry,
)
from lerim.sessions import Catalog

MAX_FOLDERS = 20
"""How many folders are offered, those with the most sessions first."""


Reason = Literal["remote", "commit", "name"]


@dataclass(frozen=True, slots=True)
class OtherFolder:
    """A folder in which sessions ran that belong to no repository of this machine. `reason`: a repository with the same
    remote or the same first commit was there, or the folder has this repository's name."""

    path: str
    sessions: int
    reason: Reason


def find_other_folders(project: Project, home: Home) -> list[OtherFolder]:
    """Returns the folders whose sessions could be those of this project before it was moved, renamed or cloned anew.

    A folder of a repository that exists keeps its sessions. Raises CatalogError, ProjectError.
    """
    projects = list_projects(home)[0]
    owners = FolderOwners([one for one in projects if one.key == project.key or one.root.is_dir()], home=home)
    names = {name.casefold() for name in (project.name, project.root.name) if name}
    with Catalog.open(home) as catalog:
        folders = [folder for folder in catalog.list_folders() if not owners.find_owner(folder)]
        reasons: dict[str, Reason] = dict.fromkeys(_find_named(folders, names), "name")
        reasons.update(_find_former_places(project, home))
        found = [
            OtherFolder(path, count, reason)
            for path, reason in reasons.items()
            if (count := catalog.count_folder_sessions([one for one in folders if is_inside_folder(one, path)]))
        ]
    return sorted(found, key=lambda one: (-one.sessions, one.path))[:MAX_FOLDERS]


def remember_first_commit(project: Project, home: Home, environ: Mapping[str, str]) -> None:
    """Records the first commit of a registered project, once: if the repository is gone one day, another clone is
    recognized by it. Git walks the whole history to find it, so a repository in which it does not find one in time
    is not asked again. Raises ProjectError."""
    entry = registry.read_entry(home, project.key)
    if entry is None or entry.first_commit or not read_head_commit(project.root, project.common_dir):
        return
    git = open_git(project.root, environ)
    if git is None:
        return
    first = git.find_first_commit() or registry.NO_COMMIT
    entry = registry.read_entry(home, project.key)  # git took its time: another process may have added an alias
    if entry is not None:
        registry.write_entry(home, replace(entry, first_commit=first))


def _find_former_places(project: Project, home: Home) -> Iterator[tuple[str, Reason]]:
    entries = registry.list_entries(home)[0]
    first = next((one.first_commit for one in entries if one.key == project.key), "")
    for one in entries:
        same_remote = one.remote != "" and one.remote == project.remote
        same_commit = one.first_commit not in ("", registry.NO_COMMIT) and one.first_commit == first
        if one.key == project.key or not (same_remote or same_commit):
            continue
        if find_gone_project(one.root, home) is not None:
            yield one.root, "remote" if same_remote else "commit"


def _find_named(folders: Iterable[str], names: set[str]) -> Iterable[str]:
    for folder in folders:
        matches = [match for match in re.finditer(r"[^\\/]+", folder) if match[0].casefold() in names]
        if matches:
            yield folder[: matches[-1].end()]
