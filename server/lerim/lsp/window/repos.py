"""The repositories of the window: which one a file belongs to, and what its memories refer to."""

from __future__ import annotations

import asyncio
import functools
import gc
import linecache
import logging
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lerim.errors import HomeError, ProjectError
from lerim.lsp.boundary import from_path, to_path
from lerim.lsp.window.drift_state import RepoDrift
from lerim.memory import MemoryEntry, ReferenceMap, Store, Stored
from lerim.paths import Home
from lerim.project import Project, locate_project, read_small_file

if TYPE_CHECKING:
    from lerim.memory import MemorySearch

log = logging.getLogger("lerim.lsp")

CACHED = 128
"""Memories kept parsed; the rest is read again from its file when it is shown."""

QUICK = 0.001
"""Seconds to read a memory file up to which its folder counts as quick (a network drive is not)."""

ONE_BY_ONE = 10
"""Changed files up to which the index is told of each; of more, it looks at all by stat."""

HeadStamp = tuple[int, ...]


@dataclass(slots=True)
class Repo:
    """One repository and its references. `uris` is what the editor calls it: the window's folders in it, else the
    root. `reviewed`: what the candidates told last look like by stat, told by one at a time (`telling`). `quick`: its
    files are read so fast that a hover does so itself, where a thread would cost more. `unindexed`: files the index is
    told of by the next search (the folder: all), so that no hover waits for it. `changed`: memory files that are to be
    read again, in their `turn`."""

    project: Project
    uris: tuple[str, ...]
    references: ReferenceMap
    store: Store
    standings: RepoDrift = field(default_factory=RepoDrift)
    head: HeadStamp = ()
    reported: frozenset[str] = frozenset()
    reviewed: int = 0
    telling: asyncio.Lock = field(default_factory=asyncio.Lock)
    cache: OrderedDict[Path, Stored] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    generation: int = 0
    index: MemorySearch | None = None
    unindexed: set[Path] = field(default_factory=set)
    changed: set[Path] = field(default_factory=set)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    scans: bool = True
    quick: bool = True

    def keep(self, path: Path, stored: Stored, generation: int) -> None:
        """Remembers a memory that was read, unless files changed since the reading began at `generation`."""
        if generation != self.generation:
            return
        self.cache[path] = stored
        if len(self.cache) > CACHED:
            self.cache.popitem(last=False)


@dataclass(frozen=True, slots=True)
class FileLocation:
    """Where a file is: its repository and its path in it, with forward slashes."""

    repo: Repo
    path: str

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


class Repos:
    """Repositories by root, found when a file of theirs is first asked for. Disk work is done in `executor`."""

    def __init__(self, home: Home, executor: Executor) -> None:
        self._home = home
        self._executor = executor
        self._folders: dict[str, Path] = {}
        self._repos: dict[Path, Repo] = {}
        self._found: dict[str, asyncio.Task[tuple[Repo | None, str]]] = {}
        self._places: dict[str, FileLocation] = {}
        self._building = threading.Lock()
        self._personal: ReferenceMap | None = None

    def set_folders(self, uris: Iterable[str]) -> None:
        """The window's folders; what is known of other repositories is forgotten."""
        self._folders = {uri: Path(path) for uri in uris if (path := to_path(uri)) is not None}
        self._found.clear()
        self._places.clear()
        for repo in self._repos.values():
            repo.uris = self._uris(repo.project)

    @property
    def known(self) -> list[Repo]:
        """The repositories met so far."""
        return list(self._repos.values())

    async def load(self) -> list[Repo]:
        """The repositories of the window's folders, their memories read."""
        found = [await self._folder(path) for path in self._folders.values()]
        return list({id(repo): repo for repo, _ in found if repo is not None}.values())

    async def root(self, uri: str) -> Repo:
        """The repository of a workspace folder. Raises ProjectError."""
        path = to_path(uri)
        repo = (await self._folder(Path(path)))[0] if path is not None else None
        if repo is None:
            raise ProjectError("This folder is in no git repository.", where=uri[:300], todo="Run `git init` in it.")
        return repo

    async def place(self, uri: str) -> FileLocation | None:
        """The repository and path of a file; None outside any repository and for other schemes."""
        known = self._places.get(uri)
        if known is not None:
            return known
        path = to_path(uri)
        if path is None:
            return None
        repo, inner = await self._folder(Path(path.parent))
        if repo is None:
            return None
        place = self._places[uri] = FileLocation(repo, f"{inner}/{path.name}" if inner else path.name)
        return place

    def of_memory(self, path: Path) -> Repo | None:
        """The known repository in whose memory folder `path` lies; `path` must be real (no symlinks)."""
        return next((repo for repo in self.known if path.is_relative_to(repo.project.memory_dir)), None)

    def personal(self) -> list[MemoryEntry]:
        """The memories of the person's own folder, those files read that changed since the last call (in the
        executor)."""
        with self._building:
            if self._personal is None:
                self._personal = ReferenceMap(self._home.memory, self._home.root)
            self._personal.scan()
            return self._personal.entries

    def forget(self, uri: str) -> None:
        """A document was closed: where it was need not be remembered."""
        self._places.pop(uri, None)

    async def _folder(self, folder: Path) -> tuple[Repo | None, str]:
        key = str(folder)
        task = self._found.get(key)
        if task is None:
            task = self._found[key] = asyncio.create_task(self._look(folder))
            task.add_done_callback(functools.partial(self._forget_miss, key))
        return await asyncio.shield(task)

    def _forget_miss(self, key: str, task: asyncio.Task[tuple[Repo | None, str]]) -> None:
        """Where no repository was found one may be made: it is looked for again at the next request."""
        missed = task.cancelled() or task.exception() is not None or task.result()[0] is None
        if missed and self._found.get(key) is task:
            del self._found[key]

    async def _look(self, folder: Path) -> tuple[Repo | None, str]:
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._open, folder)

    def _open(self, folder: Path) -> tuple[Repo | None, str]:
        real = Path(os.path.realpath(folder))
        try:
            project = locate_project(real, self._home)
        except HomeError as error:  # the person is told when the window opens the folder
            log.warning("%s", error)
            return None, ""
        if project is None or not real.is_relative_to(project.root):
            return None, ""
        inner = real.relative_to(project.root).as_posix()
        with self._building:
            repo = self._repos.get(project.root)
            if repo is None:
                store = Store(project.memory_dir, self._home.project(project.key))
                repo = Repo(project, self._uris(project), ReferenceMap(project.memory_dir), store)
                linecache.clearcache()  # the source attrs generated for the protocol's classes: 0.6 MB nobody reads
                began = time.perf_counter()
                repo.references.scan()
                repo.quick = time.perf_counter() - began < QUICK * max(1, len(repo.references))
                repo.head = head_stamp(project.root)
                release_memory()
                gc.freeze()  # what was read stays: a hover would wait while all of it is searched for garbage
                self._repos[project.root] = repo
        return repo, "" if inner == "." else inner

    def _uris(self, project: Project) -> tuple[str, ...]:
        root = project.root
        inside = [uri for uri, folder in self._folders.items() if Path(os.path.realpath(folder)).is_relative_to(root)]
        return tuple(inside) or (from_path(root),)


def rescan_repo(repo: Repo, always: bool = False) -> bool:
    """Compares every memory file by stat if git's HEAD moved; True if anything changed (in the executor)."""
    stamp = head_stamp(repo.project.root)
    if stamp == repo.head and not always:
        return False
    repo.head = stamp
    with repo.lock:
        repo.generation += 1
        repo.cache.clear()
        changed = repo.references.scan()
        if changed and repo.index is not None:
            repo.unindexed.update([repo.project.memory_dir])
        return changed


def index_repo(repo: Repo) -> None:
    """Takes over into the index what changed since the last search; its lock is held (in the executor)."""
    paths, repo.unindexed = repo.unindexed, set()
    if repo.index is None:
        return
    if len(paths) > ONE_BY_ONE or repo.project.memory_dir in paths:
        repo.index.refresh()
        return
    for path in paths:
        repo.index.update_file(path)


def head_stamp(root: Path) -> HeadStamp:
    """Changes with every checkout, commit, merge and reset of the worktree at `root`."""
    git = root / ".git"
    pointer = read_small_file(git)
    folder = (root / pointer.removeprefix("gitdir:").strip()) if pointer.startswith("gitdir:") else git
    stamp: list[int] = []
    for name in ("HEAD", "logs/HEAD"):
        try:
            found = (folder / name).stat()
        except (OSError, ValueError):
            continue
        stamp += [found.st_mtime_ns, found.st_size, found.st_ino]
    return tuple(stamp)


def release_memory() -> None:
    """Gives what reading thousands of files left behind back to the system; glibc keeps it otherwise."""
    gc.collect()
    _call_libc("malloc_trim", 0)


def share_memory() -> None:
    """Lets all threads take memory from one place: glibc gives each its own, and what one left behind lies idle."""
    _call_libc("mallopt", -8, 1)  # M_ARENA_MAX


def _call_libc(name: str, *arguments: int) -> None:
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    call = getattr(ctypes.CDLL(None), name, None)
    if call is not None:
        call(*arguments)
