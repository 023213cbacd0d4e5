"""The repositories of the window: which repository a file belongs to, and what its memories refer to."""

from __future__ import annotations

import asyncio
import functools
import linecache
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lerim.errors import HomeError, ProjectError
from lerim.heap import settle_heap
from lerim.lsp.boundary import path_to_uri, uri_to_path
from lerim.lsp.window.repo_state import RepoChecks, RepoDrift
from lerim.memory import MemoryEntry, ReferenceMap, Store, StoredMemory
from lerim.paths import Home
from lerim.project import Project, find_git_dir, locate_project

if TYPE_CHECKING:
    from lerim.memory import MemorySearch

log = logging.getLogger("lerim.lsp")

MAX_CACHED = 128
"""Most memories kept parsed; others are read from their files when they are shown."""

FAST_READ_SECONDS = 0.001
"""A folder counts as fast if reading a memory file takes at most this long (a network drive is slower)."""

MAX_SINGLE_UPDATES = 10
"""Up to this many changed files are updated in the index one by one; for more, it checks all files by stat."""

HeadStamp = tuple[int, ...]


@dataclass(slots=True)
class Repo:
    """One repository and its references.

    `uris` are its URIs in the editor: the window's folders inside it, or else its root. `announced_stamp` identifies
    the candidates announced last; `announce_lock` allows one announcement at a time, `agent_files_lock` one update of
    agents' files. If `is_fast_to_read`, a hover reads files itself, since switching to a thread would take longer.
    `unindexed_paths` are indexed by the next search, so that no hover waits for it (the memory folder stands for all
    files). `changed_files` are memory files to be read again under `reread_lock`. `generation` changes whenever
    memories are reread. `hook_refresh_is_due`: a refresh of the hooks' index starts soon. `unwanted`: what the person
    has called memories, by id, if that is wrong or outdated; `own_memories`: the ids of those that were made on this
    machine, and not by a teammate.
    """

    project: Project
    uris: tuple[str, ...]
    references: ReferenceMap
    store: Store
    drift: RepoDrift = field(default_factory=RepoDrift)
    checks: RepoChecks = field(default_factory=RepoChecks)
    head: HeadStamp = ()
    reported_uris: frozenset[str] = frozenset()
    announced_stamp: int = 0
    announce_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    agent_files_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    cache: OrderedDict[Path, StoredMemory] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    generation: int = 0
    index: MemorySearch | None = None
    unindexed_paths: set[Path] = field(default_factory=set)
    changed_files: set[Path] = field(default_factory=set)
    reread_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    searches_by_scan: bool = True
    is_fast_to_read: bool = True
    hook_refresh_is_due: bool = False
    unwanted: Mapping[str, str] = field(default_factory=dict)
    own_memories: frozenset[str] = frozenset()

    def cache_memory(self, path: Path, stored: StoredMemory, generation: int) -> None:
        """Caches a memory, unless files changed since reading it began at `generation`."""
        if generation != self.generation:
            return
        self.cache[path] = stored
        if len(self.cache) > MAX_CACHED:
            self.cache.popitem(last=False)


@dataclass(frozen=True, slots=True)
class FileLocation:
    """The location of a file: its repository, and its path inside with forward slashes."""

    repo: Repo
    path: str

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


class Repos:
    """Repositories by root, opened when one of their files is first requested. `executor` does the disk work."""

    def __init__(self, home: Home, executor: Executor) -> None:
        self._home = home
        self._executor = executor
        self._folders: dict[str, Path] = {}
        self._repos: dict[Path, Repo] = {}
        self._lookups: dict[str, asyncio.Task[tuple[Repo | None, str]]] = {}
        self._locations: dict[str, FileLocation] = {}
        self._build_lock = threading.Lock()
        self._personal_references: ReferenceMap | None = None

    def set_folders(self, uris: Iterable[str]) -> None:
        """Sets the window's folders and clears the cached locations of files."""
        self._folders = {uri: Path(path) for uri in uris if (path := uri_to_path(uri)) is not None}
        self._lookups.clear()
        self._locations.clear()
        for repo in self.known:  # a copy: a thread may be opening one
            repo.uris = self._folder_uris(repo.project)

    @property
    def known(self) -> list[Repo]:
        """The repositories opened so far."""
        return list(self._repos.values())

    @property
    def first(self) -> Repo | None:
        """The repository of the window's first folder that is in one, once it is open."""
        repo_by_uri = {uri: repo for repo in self.known for uri in repo.uris}
        return next((repo_by_uri[uri] for uri in self._folders if uri in repo_by_uri), None)

    async def load(self) -> list[Repo]:
        """Opens the repositories of the window's folders and reads their memories."""
        found = [await self._find_repo(path) for path in self._folders.values()]
        return list({id(repo): repo for repo, _ in found if repo is not None}.values())

    async def wait_for_openings(self) -> None:
        """Waits until the repositories that are being opened are known. A change of a memory file could otherwise be
        missed: its folder may have been listed before the change, while no repository that contains it is known yet."""
        if opening := [task for task in self._lookups.values() if not task.done()]:
            await asyncio.wait(opening)

    async def find_by_folder(self, uri: str) -> Repo:
        """Returns the repository of a workspace folder. Raises ProjectError."""
        path = uri_to_path(uri)
        repo = (await self._find_repo(Path(path)))[0] if path is not None else None
        if repo is None:
            where = str(path or uri)[:300]
            raise ProjectError("This folder is not in a git repository.", where=where, todo="Run `git init` in it.")
        return repo

    async def locate_file(self, uri: str) -> FileLocation | None:
        """Returns the repository and path of a file; None outside any repository and for URIs that are not `file:`."""
        known = self._locations.get(uri)
        if known is not None:
            return known
        path = uri_to_path(uri)
        if path is None:
            return None
        repo, inner_path = await self._find_repo(Path(path.parent))
        if repo is None:
            return None
        place = self._locations[uri] = FileLocation(repo, f"{inner_path}/{path.name}" if inner_path else path.name)
        return place

    def find_by_memory(self, path: Path) -> Repo | None:
        """Returns the opened repository whose memory folder contains `path`, which must have no symlinks."""
        return next((repo for repo in self.known if path.is_relative_to(repo.project.memory_dir)), None)

    def list_personal_memories(self) -> Sequence[MemoryEntry]:
        """Returns the personal memories, newest first, after rereading files that changed since the last call
        (blocking)."""
        return self.scan_personal_memories().entries

    def scan_personal_memories(self) -> ReferenceMap:
        """Returns the map of the personal memories after rereading files that changed since the last call
        (blocking)."""
        with self._build_lock:
            if self._personal_references is None:
                self._personal_references = ReferenceMap(self._home.memory, self._home.root)
            self._personal_references.scan()
            return self._personal_references

    def forget_file(self, uri: str) -> None:
        """Forgets the location of a closed document."""
        self._locations.pop(uri, None)

    async def _find_repo(self, folder: Path) -> tuple[Repo | None, str]:
        key = str(folder)
        task = self._lookups.get(key)
        if task is None:
            task = self._lookups[key] = asyncio.create_task(self._open_in_thread(folder))
            task.add_done_callback(functools.partial(self._forget_miss, key))
        return await asyncio.shield(task)

    def _forget_miss(self, key: str, task: asyncio.Task[tuple[Repo | None, str]]) -> None:
        """Drops an unsuccessful lookup, so that a repository created later is found by the next request."""
        not_found = task.cancelled() or task.exception() is not None or task.result()[0] is None
        if not_found and self._lookups.get(key) is task:
            del self._lookups[key]

    async def _open_in_thread(self, folder: Path) -> tuple[Repo | None, str]:
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._open_repo, folder)

    def _open_repo(self, folder: Path) -> tuple[Repo | None, str]:
        real = Path(os.path.realpath(folder))
        try:
            project = locate_project(real, self._home)
        except HomeError as error:  # shown to the person when the window opens the folder
            log.warning("%s", error)
            return None, ""
        if project is None or not real.is_relative_to(project.root):
            return None, ""
        inner_path = real.relative_to(project.root).as_posix()
        with self._build_lock:
            repo = self._repos.get(project.root)
            if repo is None:
                store = Store(project.memory_dir, self._home.project(project.key))
                repo = Repo(project, self._folder_uris(project), ReferenceMap(project.memory_dir), store)
                linecache.clearcache()  # frees 0.6 MB of source that attrs generated for the protocol's classes
                scan_start = time.perf_counter()
                repo.references.scan()
                repo.is_fast_to_read = time.perf_counter() - scan_start < FAST_READ_SECONDS * max(
                    1, len(repo.references)
                )
                repo.head = head_stamp(project.root)
                settle_heap()
                self._repos[project.root] = repo
        return repo, "" if inner_path == "." else inner_path

    def _folder_uris(self, project: Project) -> tuple[str, ...]:
        root = project.root
        folders_inside = [
            uri for uri, folder in self._folders.items() if Path(os.path.realpath(folder)).is_relative_to(root)
        ]
        return tuple(folders_inside) or (path_to_uri(root),)


def rescan_repo(repo: Repo, always: bool = False) -> bool:
    """Rescans memory files by stat if git's HEAD moved, or `always` (blocking). Returns True if anything changed."""
    stamp = head_stamp(repo.project.root)
    if stamp == repo.head and not always:
        return False
    repo.head = stamp
    with repo.lock:
        repo.generation += 1
        repo.cache.clear()
        changed = repo.references.scan()
        if changed and repo.index is not None:
            repo.unindexed_paths.update([repo.project.memory_dir])
        return changed


def index_repo(repo: Repo) -> None:
    """Updates the index with what changed since the last search (blocking). The caller holds `repo.lock`."""
    paths, repo.unindexed_paths = repo.unindexed_paths, set()
    if repo.index is None:
        return
    if len(paths) > MAX_SINGLE_UPDATES or repo.project.memory_dir in paths:
        repo.index.refresh()
        return
    for path in paths:
        repo.index.update_file(path)


def head_stamp(root: Path) -> HeadStamp:
    """Returns a stamp that changes with every checkout, commit, merge and reset of the worktree at `root`."""
    folder = find_git_dir(root)
    stamp: list[int] = []
    for name in ("HEAD", "logs/HEAD"):
        try:
            found = (folder / name).stat()
        except (OSError, ValueError):
            continue
        stamp += [found.st_mtime_ns, found.st_size, found.st_ino]
    return tuple(stamp)
