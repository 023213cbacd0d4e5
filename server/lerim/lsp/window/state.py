"""The state of the sidecar: the window's repositories, settings, jobs and idle clocks. It has no handlers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from lsprotocol import types

from lerim.errors import Problem, ProjectError, error_location
from lerim.lsp.boundary import SidecarServer, UntrustedError
from lerim.lsp.protocol import to_wire
from lerim.lsp.window.handles import HandleTable
from lerim.lsp.window.settings import EditorOptions
from lerim.paths import Home

if TYPE_CHECKING:
    import msgspec

    from lerim.agents import AppliedPlan
    from lerim.config import EditorModel
    from lerim.files import FileUpdate
    from lerim.jobs import JobProcesses, StoreSnapshot
    from lerim.lsp.window.meaning_search import MeaningSearch
    from lerim.lsp.window.repos import Repo, Repos
    from lerim.lsp.window.timers import IdleClock, LookTimer

log = logging.getLogger("lerim.lsp")
R = TypeVar("R")

MAX_WORKERS = 3
"""Threads for files and SQLite. The thread pool of pygls is not used."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class LastHover:
    """The last hover, until it counts as read or the person does something else."""

    timer: asyncio.TimerHandle | None = None
    logged_problems: set[Problem] = field(default_factory=set)

    def cancel(self) -> None:
        """Does not count the hover as read, because the person did something else."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


@dataclass(slots=True)
class Sidecar:
    """The server of one window. `repos` and `jobs`, which are slow to import, are made after `initialize`."""

    server: SidecarServer
    home: Home
    environ: Mapping[str, str]
    clock: Callable[[], datetime] = _now
    options: EditorOptions = field(default_factory=EditorOptions)
    started_at: float = field(default_factory=time.monotonic)
    start_ms: int = 0
    folder_uris: list[str] = field(default_factory=list)
    handles: HandleTable = field(default_factory=HandleTable)
    last_hover: LastHover = field(default_factory=LastHover)
    executor: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(MAX_WORKERS, thread_name_prefix="lerim")
    )
    idle_clock: IdleClock | None = None
    maintenance_clock: IdleClock | None = None
    look_timer: LookTimer | None = None
    """Comes back when a session settles, or a while after an agent wrote to its store."""
    store_folders: tuple[str, ...] = ()
    """The watched folders of agents' stores, each with a separator at its end."""
    last_snapshot: StoreSnapshot | None = None
    watched_globs: set[str] = field(default_factory=set)
    editor_models: tuple[EditorModel, ...] = ()
    part_listeners: dict[str, Callable[[str], None]] = field(default_factory=dict)
    """Callbacks for the parts of an answer from the editor's model, by the token of its question."""
    made_exports: dict[str, tuple[FileUpdate, ...]] = field(default_factory=dict)
    """The edits of agents' files that can be undone, by the token of `lerim/export/undo`."""
    agent_changes: dict[str, AppliedPlan] = field(default_factory=dict)
    """Changes of agents' files that can be taken back, by the token that the editor has for them."""
    make_jobs: Callable[[Sidecar], JobProcesses] | None = None
    recheck_memories: Callable[[Repo], None] | None = None
    """Called when memories of a repository changed: what is wrong in others may have changed with them."""
    checked_uris: set[str] = field(default_factory=set)
    """The open memory files whose diagnostics come from a check of their text."""
    id_rename: tuple[Path, Path] | None = None
    """The file of a memory before and after the last rename of its id, until the editor asks for edits that belong to
    it: there are none, since the rename changes all links itself."""
    running_checks: dict[str, Literal["", "text", "rules"]] = field(default_factory=dict)
    """Documents that are being checked, and what has to be checked again after that."""
    _meaning_search: MeaningSearch | None = None
    _repos: Repos | None = None
    _jobs: JobProcesses | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def repos(self) -> Repos:
        """The repositories of the window."""
        if self._repos is None:
            from lerim.lsp.window.repos import Repos

            self._repos = Repos(self.home, self.executor)
            self._repos.set_folders(self.folder_uris)
        return self._repos

    @property
    def jobs(self) -> JobProcesses:
        """The job runner."""
        if self._jobs is None:
            assert self.make_jobs is not None
            self._jobs = self.make_jobs(self)
        return self._jobs

    def apply_options(self, options: EditorOptions) -> None:
        """Applies changed settings. Without a Python for it, the process of the search by meaning ends."""
        self.options = options
        if self._meaning_search is not None and not options.settings.meaning_python:
            self.executor.submit(self._meaning_search.stop)

    @property
    def meaning_search(self) -> MeaningSearch:
        """The search by meaning, whose process is started when it is first asked."""
        if self._meaning_search is None:
            from lerim.lsp.window.meaning_search import MeaningSearch

            self._meaning_search = MeaningSearch(self.environ)
        return self._meaning_search

    async def run_in_thread(self, work: Callable[..., R], *arguments: object) -> R:
        """Runs blocking work in the sidecar's thread pool."""
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *arguments)

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Starts a task that nobody waits for. If it fails, the failure is logged under `name`."""

        def log_failure(done: asyncio.Task[None]) -> None:
            self._tasks.discard(done)
            if not done.cancelled() and (error := done.exception()) is not None:
                log.error("%s failed: %s at %s.", name, type(error).__name__, error_location(error))

        # The task is made of `work` itself: one that is cancelled before its first step then closes it.
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(log_failure)

    def note_activity(self) -> None:
        """Restarts the idle clocks, and stops counting the last hover as read, because the person was active."""
        self.last_hover.cancel()
        for clock in filter(None, (self.idle_clock, self.maintenance_clock)):
            clock.touch()

    def capability(self, *names: str) -> Any:
        """Returns what the editor says about one of its capabilities, such as `workspace`, `code_lens`; None if
        nothing."""
        found: Any = self.server.client_capabilities
        for name in names:
            found = getattr(found, name, None)
        return found

    @property
    def has_extension(self) -> bool:
        """Whether Lerim's extension is at the other end, which runs the commands in links and code actions."""
        said = self.capability("experimental")
        return isinstance(said, Mapping) and said.get("lerimCommands") is True

    def require_trust(self, feature: str) -> None:
        """Raises UntrustedError in Restricted Mode."""
        if not self.options.trusted:
            raise UntrustedError(
                f"{feature} is off in Restricted Mode.",
                todo="Trust this workspace (Workspaces: Manage Workspace Trust).",
            )

    def notify(self, repo: Repo, method: str, params: Callable[[str], msgspec.Struct]) -> None:
        """Sends a notification for every folder of the window that belongs to a repository.

        `params` makes the parameters from the folder's URI.
        """
        for root in repo.uris:
            self.server.protocol.notify(method, to_wire(params(root)))

    def warn(self, message: str) -> None:
        """Shows a warning the person should act on."""
        self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    async def find_repo(self, uri: str | None) -> Repo:
        """Returns the repository of a workspace folder, or of the first one if `uri` is None. Raises ProjectError."""
        repo = await self.find_repo_if_any(uri)
        if repo is None:
            raise ProjectError("No folder of this window is in a git repository.", todo="Run `git init` in one.")
        return repo

    async def find_trusted_repo(self, uri: str | None, feature: str) -> Repo:
        """Returns the same, for a feature that is off in Restricted Mode. Raises UntrustedError, ProjectError."""
        self.require_trust(feature)
        return await self.find_repo(uri)

    async def find_repo_if_any(self, uri: str | None) -> Repo | None:
        """Returns the same, but None if `uri` is None and no folder of the window is in a repository."""
        return next(iter(await self.repos.load()), None) if uri is None else await self.repos.find_by_folder(uri)

    def stop(self) -> None:
        """Stops clocks, jobs and threads when the window closes."""
        for clock in filter(None, (self.idle_clock, self.maintenance_clock)):
            clock.stop()
        if self.look_timer is not None:
            self.look_timer.stop()
        if self._jobs is not None:
            self._jobs.kill_all()
        if self._meaning_search is not None:
            self._meaning_search.stop()
        self.executor.shutdown(wait=False, cancel_futures=True)


def resident_mb() -> float:
    """This process's resident memory in MB; 0 where the system has no `/proc`."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return round(pages * 4096 / 2**20, 1)
