"""A project is a git repository with all its worktrees; submodules and nested repositories are projects of their own.

Which project a turn belongs to is decided by its working folder and git's files on disk; if that folder is gone, by the
person's aliases and the repository around it.
"""

from __future__ import annotations

import hashlib
import ntpath
import os
import posixpath
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lerim import process
from lerim.errors import HomeError, Problem, ProjectError
from lerim.files import path_exists
from lerim.paths import Home
from lerim.project import registry
from lerim.project.home import check_home_outside_layout, is_home_worktree, is_same_place
from lerim.project.repository import (
    WINDOWS_PATH,
    RepositoryLayout,
    can_be_folder,
    find_innermost_layout,
    find_remote_address,
    list_worktree_folders,
    read_config,
    resolve_path,
)

PERSONAL_KEY = "global"
"""The key for what belongs to no repository; it cannot collide with a repository's key."""


@dataclass(frozen=True, slots=True)
class Project:
    """One repository, seen from one of its worktrees.

    `key` identifies the data stored for it; a moved repository may keep the key of its old place. `root` is this
    worktree, `main_worktree` the main one (None for a bare repository, or if its `.lerim` is Lerim's home),
    `common_dir` the git folder they share, `remote` its address without credentials ('' if none), `aliases` the
    folders it had on other machines or in the past. `private_dir` replaces the worktree's `.lerim` if that is
    Lerim's home.
    """

    key: str
    root: Path
    main_worktree: Path | None
    common_dir: Path
    remote: str
    name: str
    aliases: tuple[str, ...] = ()
    private_dir: Path | None = None

    @property
    def is_personal(self) -> bool:
        """Whether these are the person's own memories, which belong to no repository."""
        return self.key == PERSONAL_KEY

    @property
    def lerim_dir(self) -> Path:
        """`.lerim` of the open worktree, committed with its branch; for the personal project, Lerim's home itself."""
        if self.private_dir is not None:
            return self.private_dir
        return self.root if self.is_personal else self.root / ".lerim"

    @property
    def memory_dir(self) -> Path:
        """The folder of accepted memories in the open worktree."""
        return self.lerim_dir / "memory"

    @property
    def memory_folder(self) -> str:
        """The folder of accepted memories as git names it, in the repository."""
        return ".lerim/memory"

    @property
    def folders(self) -> tuple[str, ...]:
        """Other folders its sessions ran in: the aliases, and the worktrees git knows, including deleted ones."""
        if self.is_personal:
            return ()
        return (*self.aliases, *(str(folder) for folder in list_worktree_folders(self.common_dir)))

    @property
    def all_folders(self) -> tuple[str, ...]:
        """All folders its sessions ran in: the open worktree, the main one and `folders`."""
        main = (str(self.main_worktree),) if self.main_worktree else ()
        return (str(self.root), *main, *self.folders)

    def state_dir(self, home: Home) -> Path:
        """Returns the folder for data of the project rather than a branch (review, workspace, index); private for a
        bare one."""
        return self.main_worktree / ".lerim" if self.main_worktree else home.project(self.key)


def make_personal_project(home: Home) -> Project:
    """Returns the personal project, which belongs to no repository: `home.memory` and `projects/global`."""
    return Project(PERSONAL_KEY, home.root, None, home.root, "", "global")


def make_place_key(common_dir: Path) -> str:
    """Returns the key of a place: 16 hex digits of SHA-256 over the real path of a common git dir."""
    place = os.path.normcase(str(common_dir))
    return hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def find_project_key(common_dir: Path, keys: Mapping[str, str]) -> str:
    """Returns the key of the project at a place: the key that `keys` has for it, or else the place's own key. If the
    place's own key is used by a project that has moved away, a new key is derived from it."""
    key = make_place_key(common_dir)
    existing_key = keys.get(key)
    used_keys = set(keys.values()) if existing_key is None else set()
    while key in used_keys:
        key = hashlib.sha256(key.encode()).hexdigest()[:16]
    return existing_key or key


def _map_places_to_keys(known: Iterable[Project | registry.ProjectEntry]) -> dict[str, str]:
    """Returns the project keys by place. If two projects share a place, the one that was moved there wins."""
    pairs = [(make_place_key(Path(one.common_dir)), one.key) for one in known]
    return dict(sorted(pairs, key=lambda pair: pair[0] != pair[1]))


def locate_project(path: Path, home: Home) -> Project | None:
    """Returns the project of the innermost repository around `path`, with its aliases, or None. Starts no process.

    Raises HomeError if the home folder is inside that repository.
    """
    layout = find_innermost_layout(path)
    if layout is None:
        return None
    check_home_outside_layout(home, layout)
    # A broken entry is reported by `list_projects`; here it must not hide the repository.
    entries, _ = registry.list_entries(home)
    project = _make_project(layout, _map_places_to_keys(entries), home)
    aliases = next((entry.aliases for entry in entries if entry.key == project.key), ())
    return replace(project, aliases=aliases)


def _make_project(layout: RepositoryLayout, keys: Mapping[str, str], home: Home) -> Project:
    common_dir = layout.common_dir
    naming_folder = layout.main_worktree or (common_dir.parent if common_dir.name in (".bare", ".git") else common_dir)
    key = find_project_key(layout.common_dir, keys)
    # If Lerim's home is the repository's `.lerim` (a home folder kept in git), the repository's data goes into a
    # private folder inside it.
    return Project(
        key=key,
        root=layout.root,
        main_worktree=None
        if layout.main_worktree is not None and is_lerim_home(home, layout.main_worktree)
        else layout.main_worktree,
        common_dir=layout.common_dir,
        remote=find_remote_address(read_config(layout.common_dir)),
        name=naming_folder.name.removesuffix(".git") or layout.root.name,
        private_dir=home.project(key) if is_lerim_home(home, layout.root) else None,
    )


def is_lerim_home(home: Home, worktree: Path) -> bool:
    """Returns whether the `.lerim` of a worktree is Lerim's home, but not through a link that comes with a
    repository."""
    lerim = worktree / ".lerim"
    return is_same_place(lerim, home.root) and (is_home_worktree(home, worktree) or not lerim.is_symlink())


def add_project(project: Project, home: Home) -> Project:
    """Registers the project, or updates it and keeps its aliases. Raises ProjectError."""
    entry = registry.read_entry(home, project.key)
    aliases = dict.fromkeys((*(entry.aliases if entry else ()), *project.aliases))
    registered = replace(project, aliases=tuple(aliases))
    registry.write_entry(
        home,
        registry.ProjectEntry(
            key=registered.key,
            name=registered.name,
            root=str(registered.main_worktree or registered.root),
            common_dir=str(registered.common_dir),
            remote=registered.remote,
            aliases=registered.aliases,
            first_commit=entry.first_commit if entry else "",
        ),
    )
    return registered


def add_alias(project: Project, old: str) -> Project:
    """Returns the project with one more alias: an absolute folder, POSIX or Windows, on this or another machine.

    Raises ProjectError for a folder that is not absolute, is a whole disk, or exists and belongs to another repository,
    because that repository keeps its sessions.
    """
    if len(_split_folder(old)) < 2:
        todo = "Give the absolute folder the sessions ran in, such as /home/me/old-place or C:\\work\\old-place."
        raise ProjectError(f"{old!r} cannot be an alias of a project.", where=old, todo=todo)
    path = Path(old)
    other = find_innermost_layout(path) if path.is_absolute() and path_exists(path) else None
    if other is not None and make_place_key(other.common_dir) != make_place_key(project.common_dir):
        sync = process.format_command_line("lerim", "sync", "--repo", other.root)
        todo = f"Use `{sync}` for them, or move that repository away first."
        message = "This folder is in another repository, and its sessions belong to that one."
        raise ProjectError(message, where=old, todo=todo)
    return replace(project, aliases=(*project.aliases, old))


def without_aliases(project: Project) -> Project:
    """Returns the project with the key it would have if no project had been moved to its place, and without aliases."""
    return replace(project, key=make_place_key(project.common_dir), aliases=())


def find_gone_project(old: str, home: Home) -> registry.ProjectEntry | None:
    """Returns the registered project that used to be in this folder and is no longer there, or None."""
    places = {_split_folder(old), _split_folder(str(resolve_path(Path(old))))}
    for entry in registry.list_entries(home)[0]:
        if {_split_folder(entry.root), _split_folder(entry.common_dir)} & places and _find_entry_layout(entry) is None:
            return entry
    return None


def _find_entry_layout(entry: registry.ProjectEntry) -> RepositoryLayout | None:
    """Returns the repository of an entry if it is still where it was registered, or None."""
    layout = find_innermost_layout(Path(entry.root))
    return layout if layout and make_place_key(layout.common_dir) == make_place_key(Path(entry.common_dir)) else None


def list_projects(home: Home) -> tuple[list[Project], list[Problem]]:
    """Returns the registered projects. If the folder of one is gone or another repository now, the stored data is
    returned with a problem. A project whose repository contains the home folder is left out."""
    entries, problems = registry.list_entries(home)
    keys = _map_places_to_keys(entries)
    projects: list[Project] = []
    for entry in entries:
        if keys[make_place_key(Path(entry.common_dir))] != entry.key:
            continue  # a project that was moved here replaces it
        layout = _find_entry_layout(entry)
        try:
            check_home_outside_layout(home, layout)
        except HomeError as error:
            problems.append(Problem(error.code, entry.root, error.explanation))
            continue
        if layout is None:
            moved = process.format_command_line("lerim", "project", "alias", entry.root, "--repo", "NEW_PLACE")
            forget = process.format_command_line("lerim", "project", "remove", "--repo", entry.root)
            message = f"The repository no longer exists. If it was moved, `{moved}` keeps its sessions and review"
            problems.append(Problem("project-gone", entry.root, f"{message}; if not, forget it with `{forget}`."))
            root = Path(entry.root)
            found = Project(entry.key, root, root, Path(entry.common_dir), entry.remote, entry.name)
        else:
            found = _make_project(layout, keys, home)
        projects.append(replace(found, aliases=entry.aliases))
    return projects, problems


class FolderOwners:
    """A lookup of the project that a working folder belongs to. Answers are cached, so create one per run.

    `folders` are the known folders of the projects. Sessions in an existing folder of this machine outside any
    repository are personal (`PERSONAL_KEY`); a folder that is gone, or from another machine, may have been in a
    repository. Sessions in `home` or below belong to nobody: there the person's own command answers Lerim's
    questions, and if that command is an agent, it writes sessions that must not be learned from.
    """

    def __init__(
        self, projects: Iterable[Project] = (), platform: str = sys.platform, *, home: Home | None = None
    ) -> None:
        self._homes = {_split_folder(str(path)) for path in (home.root, resolve_path(home.root))} if home else set()
        self._windows = platform == "win32"
        self._keys_by_folder: dict[str, str] = {}
        projects = [project for project in projects if not project.is_personal]
        self._project_keys = _map_places_to_keys(projects)
        former_folders = [(folder, project) for project in projects for folder in project.folders]
        self.folders = [*(str(project.root) for project in projects), *(folder for folder, _ in former_folders)]
        aliases = [(_split_folder(folder), project.key) for folder, project in former_folders]
        self._aliases = sorted(aliases, key=lambda pair: len(pair[0]), reverse=True)

    def find_owner(self, cwd: str) -> str:
        """Returns the project key of a working folder as written by an agent; '' for none.

        Without a `home` nothing is personal, because sessions of Lerim's own command could not be told apart.
        """
        if not can_be_folder(cwd):
            return ""  # not cached either: every turn may name a different one
        key = self._keys_by_folder.get(cwd)
        if key is None:
            key = self._keys_by_folder[cwd] = self._find_owner(cwd)
        return key

    def _find_owner(self, cwd: str) -> str:
        """Returns the project key of a folder that is not in the cache. An existing folder belongs to its repository
        regardless of aliases: an alias cannot take over another repository. For a folder that is gone, its alias or
        the repository around it decides, whichever is the longer path."""
        parts = _split_folder(cwd)
        if not parts or self._is_at_home(parts):
            return ""
        alias, key = next(((a, k) for a, k in self._aliases if parts[: len(a)] == a), ((), ""))
        if bool(WINDOWS_PATH.match(cwd)) != self._windows:
            return key
        path = Path(cwd)
        if self._homes and self._is_at_home(_split_folder(str(resolve_path(path)))):
            return ""
        layout = find_innermost_layout(path)
        if layout is None:
            return key or (PERSONAL_KEY if self._homes and path_exists(path) else "")
        if key and not path_exists(path) and len(alias) > len(layout.root.parts):
            return key
        return find_project_key(layout.common_dir, self._project_keys)

    def _is_at_home(self, parts: tuple[str, ...]) -> bool:
        return any(parts[: len(home)] == home for home in self._homes if home)


def is_inside_folder(folder: str, other: str) -> bool:
    """Returns whether a folder, as written by an agent, is `other` or inside it; both absolute, POSIX or Windows."""
    parts = _split_folder(other)
    return bool(parts) and _split_folder(folder)[: len(parts)] == parts


def _split_folder(folder: str) -> tuple[str, ...]:
    """Returns the normalized components of an absolute folder, Windows ones in lower case; () if it is not absolute."""
    if WINDOWS_PATH.match(folder):
        drive, rest = ntpath.splitdrive(ntpath.normpath(folder))
        return (drive.casefold(), *(part.casefold() for part in rest.split("\\") if part))
    if folder.startswith("/"):
        return ("/", *(part for part in posixpath.normpath(folder).split("/") if part))
    return ()
