"""A project is a git repository with all its worktrees; submodules and nested repositories are projects of their own.

Which project a turn belongs to is decided by its working folder and git's files on disk; if that folder is gone, by the
person's aliases and the repository around it.
"""

from __future__ import annotations

import hashlib
import ntpath
import os
import posixpath
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lerim import process_shell
from lerim.errors import HomeError, Problem, ProjectError
from lerim.paths import Home
from lerim.project import registry
from lerim.project.home import check_outside, is_root, same_place
from lerim.project.repository import (
    RepositoryLayout,
    can_be_folder,
    find_innermost_layout,
    read_config,
    real_path,
    remote_address,
    worktree_folders,
)

PERSONAL_KEY = "global"
"""The key for what belongs to no repository; it cannot collide with a repository's key."""
_WINDOWS = re.compile(r"^(?:[A-Za-z]:[\\/]|\\\\)")


@dataclass(frozen=True, slots=True)
class Project:
    """One repository, seen from one of its worktrees.

    `key` identifies what is stored for it; a moved repository may keep the key of its old place. `root` is this
    worktree, `main` the main one (None for a bare repository, or if its `.lerim` is Lerim's home), `common_dir` the git
    folder they share, `remote` its address without credentials ('' if none), `aliases` the folders it had on other
    machines or in the past. `private` replaces the worktree's `.lerim` if that is Lerim's home.
    """

    key: str
    root: Path
    main: Path | None
    common_dir: Path
    remote: str
    name: str
    aliases: tuple[str, ...] = ()
    private: Path | None = None

    @property
    def is_personal(self) -> bool:
        """Whether these are the person's own memories, which belong to no repository."""
        return self.key == PERSONAL_KEY

    @property
    def lerim(self) -> Path:
        """`.lerim` of the open worktree, committed with its branch; for the personal project, Lerim's home itself."""
        if self.private is not None:
            return self.private
        return self.root if self.is_personal else self.root / ".lerim"

    @property
    def memory_dir(self) -> Path:
        """The folder of accepted memories in the open worktree."""
        return self.lerim / "memory"

    @property
    def folders(self) -> tuple[str, ...]:
        """Other folders its sessions ran in: the aliases, and the worktrees git knows, including deleted ones."""
        if self.is_personal:
            return ()
        return (*self.aliases, *(str(folder) for folder in worktree_folders(self.common_dir)))

    def state_dir(self, home: Home) -> Path:
        """Returns the folder for data of the project rather than a branch (review, workspace, index); private for a
        bare one."""
        return self.main / ".lerim" if self.main else home.project(self.key)


def personal_project(home: Home) -> Project:
    """Returns the personal project, which belongs to no repository: `home.memory` and `projects/global`."""
    return Project(PERSONAL_KEY, home.root, None, home.root, "", "global")


def place_key(common_dir: Path) -> str:
    """Returns the key of a place: 16 hex digits of SHA-256 over the real path of a common git dir."""
    spelled = os.path.normcase(str(common_dir))
    return hashlib.sha256(spelled.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def project_key(common_dir: Path, keys: Mapping[str, str]) -> str:
    """Returns the key of the project at a place: the one `keys` has for the place, or else the place's own key. If that
    key belongs to a project that has moved away, a key is derived from it."""
    key = place_key(common_dir)
    known = keys.get(key)
    taken = set(keys.values()) if known is None else set()
    while key in taken:
        key = hashlib.sha256(key.encode()).hexdigest()[:16]
    return known or key


def _keys(known: Iterable[tuple[Path, str]]) -> dict[str, str]:
    """Returns place -> project key for (common dir, key) pairs. If two share a place, the one that was moved there
    wins."""
    pairs = [(place_key(common_dir), key) for common_dir, key in known]
    return dict(sorted(pairs, key=lambda pair: pair[0] != pair[1]))


def locate_project(path: Path, home: Home) -> Project | None:
    """Returns the project of the innermost repository around `path`, with its aliases, or None. Starts no process.

    Raises HomeError if the home folder is inside that repository.
    """
    layout = find_innermost_layout(path)
    if layout is None:
        return None
    check_outside(home, layout)
    # A broken entry is reported by `list_projects`; here it must not hide the repository.
    entries, _ = registry.list_entries(home)
    project = _project(layout, _entry_keys(entries), home)
    aliases = next((entry.aliases for entry in entries if entry.key == project.key), ())
    return replace(project, aliases=aliases)


def _entry_keys(entries: Iterable[registry.ProjectEntry]) -> dict[str, str]:
    return _keys((Path(entry.common_dir), entry.key) for entry in entries)


def _project(layout: RepositoryLayout, keys: Mapping[str, str], home: Home) -> Project:
    named_by = layout.main or (layout.common_dir if layout.common_dir != layout.root / ".bare" else layout.root)
    key = project_key(layout.common_dir, keys)
    # If Lerim's home is the repository's `.lerim` (a home folder kept in git), the repository's data goes into a
    # private folder inside it.
    return Project(
        key=key,
        root=layout.root,
        main=None if layout.main is not None and is_home(home, layout.main) else layout.main,
        common_dir=layout.common_dir,
        remote=remote_address(read_config(layout.common_dir)),
        name=named_by.name.removesuffix(".git") or layout.root.name,
        private=home.project(key) if is_home(home, layout.root) else None,
    )


def is_home(home: Home, worktree: Path) -> bool:
    """Returns whether the `.lerim` of a worktree is Lerim's home, but not through a link that comes with a
    repository."""
    lerim = worktree / ".lerim"
    return same_place(lerim, home.root) and (is_root(home, worktree) or not lerim.is_symlink())


def add_project(project: Project, home: Home) -> Project:
    """Registers the project, or updates it and keeps its aliases. Raises ProjectError."""
    entry = registry.read_entry(home, project.key)
    aliases = dict.fromkeys((*(entry.aliases if entry else ()), *project.aliases))
    kept = replace(project, aliases=tuple(aliases))
    registry.write_entry(
        home,
        registry.ProjectEntry(
            key=kept.key,
            name=kept.name,
            root=str(kept.main or kept.root),
            common_dir=str(kept.common_dir),
            remote=kept.remote,
            aliases=kept.aliases,
        ),
    )
    return kept


def add_alias(project: Project, old: str) -> Project:
    """Returns the project with one more alias: an absolute folder, POSIX or Windows, on this or another machine.

    Raises ProjectError for a folder that is not absolute, is a whole disk, or exists and belongs to another repository,
    because that repository keeps its sessions.
    """
    if len(_parts(old)) < 2:
        todo = "Give the absolute folder the sessions ran in, such as /home/me/old-place or C:\\work\\old-place."
        raise ProjectError(f"{old!r} cannot be an alias of a project.", where=old, todo=todo)
    path = Path(old)
    other = find_innermost_layout(path) if path.is_absolute() and _exists(path) else None
    if other is not None and place_key(other.common_dir) != place_key(project.common_dir):
        sync = process_shell.format_command_line("lerim", "sync", "--repo", other.root)
        todo = f"Use `{sync}` for them, or move that repository away first."
        raise ProjectError(
            ("This folder is in another repository, and its sessions belong to that one."), where=old, todo=todo
        )
    return replace(project, aliases=(*project.aliases, old))


def remove_project(project: Project, home: Home) -> bool:
    """Removes the project and its aliases from the registry, not its memories; returns False if it was not
    registered."""
    return registry.remove_entry(home, project.key)


def without_moves(project: Project) -> Project:
    """Returns the project with the key it would have if no project had been moved to its place, and without aliases."""
    return replace(project, key=place_key(project.common_dir), aliases=())


def find_gone_project(old: str, home: Home) -> registry.ProjectEntry | None:
    """Returns the registered project that used to be in this folder and is no longer there, or None."""
    spelled = {_parts(old), _parts(str(real_path(Path(old))))}
    for entry in registry.list_entries(home)[0]:
        if {_parts(entry.root), _parts(entry.common_dir)} & spelled and _layout(entry) is None:
            return entry
    return None


def _layout(entry: registry.ProjectEntry) -> RepositoryLayout | None:
    """Returns the repository of an entry if it is still where it was registered, or None."""
    layout = find_innermost_layout(Path(entry.root))
    return layout if layout and place_key(layout.common_dir) == place_key(Path(entry.common_dir)) else None


def list_projects(home: Home) -> tuple[list[Project], list[Problem]]:
    """Returns the registered projects. If the folder of one is gone or another repository now, the stored data is
    returned with a problem. A project whose repository contains the home folder is left out."""
    entries, problems = registry.list_entries(home)
    keys = _entry_keys(entries)
    projects: list[Project] = []
    for entry in entries:
        if keys[place_key(Path(entry.common_dir))] != entry.key:
            continue  # a project that was moved here replaces it
        layout = _layout(entry)
        try:
            check_outside(home, layout)
        except HomeError as error:
            problems.append(Problem(error.code, entry.root, error.explanation))
            continue
        if layout is None:
            moved = process_shell.format_command_line("lerim", "project", "alias", entry.root, "--repo", "NEW_PLACE")
            forget = process_shell.format_command_line("lerim", "project", "remove", "--repo", entry.root)
            message = f"The repository no longer exists. If it was moved, `{moved}` keeps its sessions and review"
            problems.append(Problem("project-gone", entry.root, f"{message}; if not, forget it with `{forget}`."))
            root = Path(entry.root)
            found = Project(entry.key, root, root, Path(entry.common_dir), entry.remote, entry.name)
        else:
            found = _project(layout, keys, home)
        projects.append(replace(found, aliases=entry.aliases))
    return projects, problems


class FolderOwners:
    """Looks up which project a working folder belongs to. Answers are cached, so create one per run.

    `folders` are the known folders of the projects. Sessions in an existing folder of this machine outside any
    repository are personal (`PERSONAL_KEY`); a folder that is gone, or from another machine, may have been in a
    repository. Sessions in `home` or below belong to nobody: there the person's own command answers Lerim's questions,
    and if that command is an agent, it writes sessions that must not be learned from.
    """

    def __init__(
        self, projects: Iterable[Project] = (), platform: str = sys.platform, *, home: Home | None = None
    ) -> None:
        self._homes = {_parts(str(path)) for path in (home.root, real_path(home.root))} if home else set()
        self._windows = platform == "win32"
        self._known: dict[str, str] = {}
        projects = [project for project in projects if not project.is_personal]
        self._keys = _keys((project.common_dir, project.key) for project in projects)
        named = [(folder, project) for project in projects for folder in project.folders]
        self.folders = [*(str(project.root) for project in projects), *(folder for folder, _ in named)]
        aliases = [(_parts(folder), project.key) for folder, project in named]
        self._aliases = sorted(aliases, key=lambda pair: len(pair[0]), reverse=True)

    def find_owner(self, cwd: str) -> str:
        """Returns the project key of a working folder as written by an agent; '' for none.

        Without a `home` nothing is personal, because sessions of Lerim's own command could not be told apart.
        """
        if not can_be_folder(cwd):
            return ""  # not cached either: every turn may name a different one
        known = self._known.get(cwd)
        if known is None:
            known = self._known[cwd] = self._find(cwd)
        return known

    def _find(self, cwd: str) -> str:
        """Existing folders belong to their repository regardless of aliases: an alias cannot take over another
        repository. For a folder that is gone, the longer one of alias and surrounding repository decides."""
        parts = _parts(cwd)
        if not parts or self._at_home(parts):
            return ""
        alias, key = next(((a, k) for a, k in self._aliases if parts[: len(a)] == a), ((), ""))
        if bool(_WINDOWS.match(cwd)) != self._windows:
            return key
        path = Path(cwd)
        if self._homes and self._at_home(_parts(str(real_path(path)))):
            return ""
        layout = find_innermost_layout(path)
        if layout is None:
            return key or (PERSONAL_KEY if self._homes and _exists(path) else "")
        if key and not _exists(path) and len(alias) > len(layout.root.parts):
            return key
        return project_key(layout.common_dir, self._keys)

    def _at_home(self, parts: tuple[str, ...]) -> bool:
        return any(parts[: len(home)] == home for home in self._homes if home)


def is_below(folder: str, other: str) -> bool:
    """Returns whether a folder, as written by an agent, is `other` or inside it; both absolute, POSIX or Windows."""
    parts = _parts(other)
    return bool(parts) and _parts(folder)[: len(parts)] == parts


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _parts(folder: str) -> tuple[str, ...]:
    """Returns the normalized components of an absolute folder, Windows ones in lower case; () if it is not absolute."""
    if _WINDOWS.match(folder):
        drive, rest = ntpath.splitdrive(ntpath.normpath(folder))
        return (drive.casefold(), *(part.casefold() for part in rest.split("\\") if part))
    if folder.startswith("/"):
        return ("/", *(part for part in posixpath.normpath(folder).split("/") if part))
    return ()
