"""A project is a git repository: all its worktrees are one, a submodule or a nested repository is its own.

Which project a turn belongs to is decided by its working folder, from what git left on disk; where that folder is
gone, from the person's aliases and from the repository around it.
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
"""The key of what belongs to no repository; none of a repository looks like it."""
_WINDOWS = re.compile(r"^(?:[A-Za-z]:[\\/]|\\\\)")


@dataclass(frozen=True, slots=True)
class Project:
    """One repository, seen from one of its worktrees.

    `key` names what is kept of it; one that was moved may have that of its old place. `root` is that worktree, `main`
    the main one (None for a bare repository, and where its `.lerim` is the person's home), `common_dir` the git dir
    they share, `remote` its address without credentials ('' none), `aliases` the folders it was known under elsewhere
    or before. `private` is the folder used in place of the worktree's `.lerim` where that is the person's home.
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
        """Whether these are the person's own memories, of no repository."""
        return self.key == PERSONAL_KEY

    @property
    def lerim(self) -> Path:
        """`.lerim` of the open worktree, committed with its branch; the home itself for the person's own."""
        if self.private is not None:
            return self.private
        return self.root if self.is_personal else self.root / ".lerim"

    @property
    def memory_dir(self) -> Path:
        """The accepted memories of the open worktree."""
        return self.lerim / "memory"

    @property
    def folders(self) -> tuple[str, ...]:
        """Where else its sessions ran: the aliases, and the worktrees git knows, deleted ones included."""
        if self.is_personal:
            return ()
        return (*self.aliases, *(str(folder) for folder in worktree_folders(self.common_dir)))

    def state_dir(self, home: Home) -> Path:
        """What belongs to the project and not to a branch (review, workspace, index); private for a bare one."""
        return self.main / ".lerim" if self.main else home.project(self.key)


def personal_project(home: Home) -> Project:
    """What belongs to the person and to no repository, seen as a project: `home.memory` and `projects/global`."""
    return Project(PERSONAL_KEY, home.root, None, home.root, "", "global")


def place_key(common_dir: Path) -> str:
    """The key of a place: 16 hex digits of SHA-256 over the real path of a common git dir."""
    spelled = os.path.normcase(str(common_dir))
    return hashlib.sha256(spelled.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def project_key(common_dir: Path, keys: Mapping[str, str]) -> str:
    """The key of the project there: the one `keys` has for the place, else the place's own, unless the project that had
    it lives elsewhere now; then one made from it."""
    key = place_key(common_dir)
    known = keys.get(key)
    taken = set(keys.values()) if known is None else set()
    while key in taken:
        key = hashlib.sha256(key.encode()).hexdigest()[:16]
    return known or key


def _keys(known: Iterable[tuple[Path, str]]) -> dict[str, str]:
    """Place -> project for known ones (common dir, key). Of two in one place the one that was moved there counts."""
    pairs = [(place_key(common_dir), key) for common_dir, key in known]
    return dict(sorted(pairs, key=lambda pair: pair[0] != pair[1]))


def locate_project(path: Path, home: Home) -> Project | None:
    """The project of the innermost repository `path` lies in, with its aliases; None outside any. Starts no process.

    Raises HomeError where the home lies in that repository.
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
    # A home folder kept in git: its `.lerim` is the person's own, so what is the repository's lies in a folder of that.
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
    """Whether the `.lerim` of a worktree is the person's home: never through a link that a repository brings along."""
    lerim = worktree / ".lerim"
    return same_place(lerim, home.root) and (is_root(home, worktree) or not lerim.is_symlink())


def add_project(project: Project, home: Home) -> Project:
    """Remembers the project (again), keeping the aliases it had. Raises ProjectError."""
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
    """The project with one more alias: an absolute folder, POSIX or Windows, here or elsewhere.

    Raises ProjectError for a folder that is not absolute or is a whole disk, and for one that is there and belongs to
    another repository: that one's sessions stay its own.
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
    """Forgets the project and its aliases, not its memories; False where it was not known."""
    return registry.remove_entry(home, project.key)


def without_moves(project: Project) -> Project:
    """The project as it would be known if none had been moved to its place, without aliases."""
    return replace(project, key=place_key(project.common_dir), aliases=())


def find_gone_project(old: str, home: Home) -> registry.ProjectEntry | None:
    """The known project that was at this folder and is not there any more; None where there was none."""
    spelled = {_parts(old), _parts(str(real_path(Path(old))))}
    for entry in registry.list_entries(home)[0]:
        if {_parts(entry.root), _parts(entry.common_dir)} & spelled and _layout(entry) is None:
            return entry
    return None


def _layout(entry: registry.ProjectEntry) -> RepositoryLayout | None:
    """The repository of an entry where it was when it was remembered; None if it is not there any more."""
    layout = find_innermost_layout(Path(entry.root))
    return layout if layout and place_key(layout.common_dir) == place_key(Path(entry.common_dir)) else None


def list_projects(home: Home) -> tuple[list[Project], list[Problem]]:
    """The remembered projects; one whose folder is gone or is another repository now is listed as it was, with a
    problem. One that holds the home is not listed."""
    entries, problems = registry.list_entries(home)
    keys = _entry_keys(entries)
    projects: list[Project] = []
    for entry in entries:
        if keys[place_key(Path(entry.common_dir))] != entry.key:
            continue  # a project that was moved here has taken its place
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
    """Which project each working folder belongs to. Answers are kept for its life: make one for each run. `folders` are
    those the projects are known to have.

    What ran in a folder of this machine outside any repository is the person's own (`PERSONAL_KEY`); a folder that is
    gone, or was never here, may have been in one. What ran in `home` or below it is nobody's: there a person's own
    command answers Lerim's questions, and if that is an agent it writes sessions of its own, which must not be learned
    from.
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

    def owner(self, cwd: str) -> str:
        """The project key of a working folder as an agent wrote it; '' for none.

        Without a `home` nothing is the person's own: nobody can tell then what Lerim's own command ran in."""
        if not can_be_folder(cwd):
            return ""  # nor is it kept: every turn may name another one
        known = self._known.get(cwd)
        if known is None:
            known = self._known[cwd] = self._find(cwd)
        return known

    def _find(self, cwd: str) -> str:
        """A folder that is there belongs to its repository, whatever an alias says: no alias takes over another
        repository. For one that is gone, the longer of alias and surrounding repository decides."""
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
    """Whether a folder, as an agent wrote it, is another or lies in it; both absolute, of either system."""
    parts = _parts(other)
    return bool(parts) and _parts(folder)[: len(parts)] == parts


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _parts(folder: str) -> tuple[str, ...]:
    """The components of an absolute folder, normalised; Windows ones without case. () where it is not absolute."""
    if _WINDOWS.match(folder):
        drive, rest = ntpath.splitdrive(ntpath.normpath(folder))
        return (drive.casefold(), *(part.casefold() for part in rest.split("\\") if part))
    if folder.startswith("/"):
        return ("/", *(part for part in posixpath.normpath(folder).split("/") if part))
    return ()
