"""What the sidecar holds while it lives: the window's repositories, settings, jobs, idle clock. No handlers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lsprotocol import types

from lerim.errors import ProjectError
from lerim.lsp.boundary import SidecarServer, UntrustedError, error_location
from lerim.lsp.protocol import to_wire
from lerim.lsp.window.glance import HoverGlance
from lerim.lsp.window.handles import HandleTable
from lerim.lsp.window.settings import EditorOptions
from lerim.paths import Home

if TYPE_CHECKING:
    import msgspec

    from lerim.config import EditorModel
    from lerim.lsp.window.idle import IdleClock, StoreSnapshot
    from lerim.lsp.window.jobs import Jobs
    from lerim.lsp.window.repos import Repo, Repos

log = logging.getLogger("lerim.lsp")
R = TypeVar("R")

WORKERS = 3
"""Threads for files and SQLite; never pygls' own, which its reader of stdin shares."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class Sidecar:
    """One window's server. What costs an import (`repos`, `jobs`) is made after `initialize` was answered."""

    server: SidecarServer
    home: Home
    environ: Mapping[str, str]
    clock: Callable[[], datetime] = _now
    options: EditorOptions = field(default_factory=EditorOptions)
    began: float = field(default_factory=time.monotonic)
    start_ms: int = 0
    folders: list[str] = field(default_factory=list)
    handles: HandleTable = field(default_factory=HandleTable)
    glance: HoverGlance = field(default_factory=HoverGlance)
    executor: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(WORKERS, thread_name_prefix="lerim")
    )
    idle: IdleClock | None = None
    rest: IdleClock | None = None
    looked: StoreSnapshot | None = None
    watched: set[str] = field(default_factory=set)
    models: tuple[EditorModel, ...] = ()
    hearing: dict[str, Callable[[str], None]] = field(default_factory=dict)
    """Who hears the parts of an answer of the editor's model, by the token of its question."""
    open_jobs: Callable[[Sidecar], Jobs] | None = None
    _repos: Repos | None = None
    _jobs: Jobs | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def repos(self) -> Repos:
        """The repositories of the window."""
        if self._repos is None:
            from lerim.lsp.window.repos import Repos

            self._repos = Repos(self.home, self.executor)
            self._repos.set_folders(self.folders)
        return self._repos

    @property
    def jobs(self) -> Jobs:
        """The jobs that run."""
        if self._jobs is None:
            assert self.open_jobs is not None
            self._jobs = self.open_jobs(self)
        return self._jobs

    async def run(self, work: Callable[..., R], *arguments: object) -> R:
        """Runs blocking work in our own threads."""
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *arguments)

    def spawn(self, name: str, work: Awaitable[None]) -> None:
        """Runs a task nobody waits for; its failure is logged."""

        async def owned() -> None:
            try:
                await work
            except asyncio.CancelledError:
                raise
            except Exception as error:
                log.error("%s failed: %s at %s.", name, type(error).__name__, error_location(error))

        task = asyncio.get_running_loop().create_task(owned())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def touch(self) -> None:
        """The person did something: the idle clocks start anew, and a hover is no longer looked at."""
        self.glance.over()
        for clock in filter(None, (self.idle, self.rest)):
            clock.touch()

    def trust(self, what: str) -> None:
        """Raises UntrustedError in Restricted Mode."""
        if not self.options.trusted:
            raise UntrustedError(
                f"{what} is off in Restricted Mode.", todo="Trust this workspace (Workspaces: Manage Workspace Trust)."
            )

    def notify(self, repo: Repo, method: str, params: Callable[[str], msgspec.Struct]) -> None:
        """Sends a notification for every folder the window has of a repository; `params` makes it from the folder's
        URI."""
        for root in repo.uris:
            self.server.protocol.notify(method, to_wire(params(root)))

    def warn(self, message: str) -> None:
        """Shows a message the person must act on."""
        self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    async def repo(self, uri: str | None) -> Repo:
        """The repository of a workspace folder, or of the first one. Raises ProjectError."""
        if uri is None:
            loaded = await self.repos.load()
            if not loaded:
                raise ProjectError("No folder of this window is in a git repository.", todo="Run `git init` in one.")
            return loaded[0]
        return await self.repos.root(uri)

    def stop(self) -> None:
        """Ends everything that would outlive the window."""
        for clock in filter(None, (self.idle, self.rest)):
            clock.stop()
        if self._jobs is not None:
            self._jobs.kill_all()
        self.executor.shutdown(wait=False, cancel_futures=True)


def resident_mb() -> float:
    """This process's resident memory in MB; 0 where the system does not say cheaply."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return round(pages * 4096 / 2**20, 1)
