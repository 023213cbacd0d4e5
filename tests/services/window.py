"""An editor's window with a sidecar in it, spoken to as an editor does."""

from __future__ import annotations

import asyncio
import functools
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import psutil
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException  # noqa: TID251
from pygls.io_ import StdoutWriter, run_async  # noqa: TID251
from pygls.protocol import default_converter  # noqa: TID251
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from hang import HANG
from lerim.jobs import JobProcesses
from lerim.lsp.boundary import sidecar_server
from lerim.lsp.protocol import core
from lerim.lsp.server import create_server
from lerim.lsp.window.editor_models import make_jobs
from lerim.lsp.window.state import Sidecar
from lerim.memory.record import FOLDERS, Evidence, MemoryRecord, render_record
from lerim.paths import Home
from warm_python import warm_python

SERVER = Path(__file__).resolve().parents[2] / "server"
NOTIFICATIONS = (
    core.SYNC_PROGRESS,
    core.CANDIDATES_CHANGED,
    core.MEMORIES_CHANGED,
    core.WATCH_FOLDERS,
)

REFRESH = types.WORKSPACE_CODE_LENS_REFRESH

RECORD = MemoryRecord(
    id="20260801-keep-load-small",
    primitive="decision",
    title="Keep load small",
    created=datetime(2026, 8, 1, tzinfo=UTC),
    updated=datetime(2026, 8, 1, tzinfo=UTC),
    source="claude:11111111-2222-3333-4444-555555555555#0123456789ab",
    confidence=0.9,
    tags=("style",),
    body="`load` only reads; parsing is elsewhere.",
    references=("src/app.py#load",),
    evidence=(Evidence("keep load small please", "0123456789ab", "user"),),
)


def write_memory(repo: Path, **changes: Any) -> Path:
    """Writes a memory file as a person or another program would."""
    record = replace(RECORD, **changes)
    path = repo / ".lerim" / "memory" / FOLDERS[record.primitive] / f"{record.id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_record(record), encoding="utf-8")
    return path


@functools.cache
def _capabilities() -> types.ClientCapabilities:
    """What VS Code can do."""
    capabilities = client_capabilities("visual-studio-code")
    assert capabilities.workspace and capabilities.workspace.did_change_watched_files
    capabilities.workspace.did_change_watched_files.relative_pattern_support = True  # as since VS Code 1.66
    capabilities.workspace.text_document_content = types.TextDocumentContentClientCapabilities(
        dynamic_registration=True
    )
    capabilities.experimental = {"lerimCommands": True}  # as Lerim's extension says
    return capabilities


_make_converter = functools.cache(default_converter)
sidecar_server.make_converter = functools.cache(sidecar_server.make_converter)
"""What reads and writes messages of all clients, or all servers: each new one would compile its code again."""


def _make_client() -> LanguageClient:
    client = LanguageClient(converter_factory=_make_converter)
    register_lsp_features(client)
    return client


class Editor:
    """What the tests do with a server: the shortest words for each message."""

    def __init__(self, client: LanguageClient, repo: Path) -> None:
        self.client = client
        self.repo = repo
        self.told: dict[str, list[Any]] = {method: [] for method in (*NOTIFICATIONS, REFRESH)}
        self.watched: list[Any] = []
        self.registered: dict[str, Any] = {}
        self.home = Path.home()
        self.server: types.InitializeResult | None = None

    @property
    def server_pid(self) -> int:
        """The process of the server: the test's own, unless it has one to itself."""
        return self.client._server.pid if self.client._server else os.getpid()

    def jobs(self) -> list[psutil.Process]:
        """The job processes below the server."""
        try:
            below = psutil.Process(self.server_pid).children(recursive=True)
            return [child for child in below if child.status() != "zombie" and "worker" in child.cmdline()]
        except psutil.NoSuchProcess:
            return []

    async def start(
        self,
        options: object = None,
        *,
        root: Path | None = None,
        process_id: int | None = None,
        has_extension: bool = True,
    ) -> Any:
        folder = root or self.repo
        default = {"trusted": True, "settings": {"idleSeconds": 0}}
        params = types.InitializeParams(
            capabilities=_capabilities() if has_extension else attrs.evolve(_capabilities(), experimental=None),
            process_id=process_id or (os.getpid() if self.client._server else None),
            workspace_folders=[types.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)],
            initialization_options=default if options is None else options,
        )
        self.server = await self.client.initialize_session(params)
        return self.server

    def open(self, path: str, text: str | None = None, uri: str = "") -> str:
        file = self.repo / path
        found = file.read_text(encoding="utf-8") if text is None else text
        item = types.TextDocumentItem(uri or file.as_uri(), "python", 1, found)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return item.uri

    async def hover(self, uri: str, line: int, character: int) -> str | None:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        found = await self.client.text_document_hover_async(params)
        if found is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def lenses(self, uri: str) -> list[tuple[int, str]]:
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        found = await self.client.text_document_code_lens_async(params)
        return [(lens.range.start.line, lens.command.title) for lens in found or []]  # type: ignore[union-attr]

    def changed(self, *paths: Path) -> None:
        events = [types.FileEvent(path.as_uri(), types.FileChangeType.Changed) for path in paths]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    def look_around(self) -> None:
        """The window got the focus."""
        self.client.protocol.notify(core.LOOK_AROUND, {})

    def configure(self, **settings: Any) -> None:
        params = types.DidChangeConfigurationParams(settings={"settings": {"idleSeconds": 0, **settings}})
        self.client.workspace_did_change_configuration(params)

    def globs(self) -> list[Any]:
        """What the server asked to be told of: patterns, and (folder, pattern) for those bound to one."""
        globs = [watcher["globPattern"] for watcher in self.watched]
        return [glob if isinstance(glob, str) else (glob["baseUri"], glob["pattern"]) for glob in globs]

    def memories(self) -> int | None:
        """The number of memories the server told last."""
        told = [event.memories for event in self.told[core.MEMORIES_CHANGED] if event.root == self.root]
        return told[-1] if told else None

    @property
    def refreshes(self) -> int:
        """How often the server asked for new lenses."""
        return len(self.told[REFRESH])

    @property
    def root(self) -> str:
        return self.repo.as_uri()

    async def refused(self, method: str, params: object) -> JsonRpcException:
        """The error a request is answered with."""
        with pytest.raises(JsonRpcException) as caught:
            await self.ask(method, params)
        return caught.value

    async def ask(self, method: str, params: object) -> Any:
        return await self.client.protocol.send_request_async(method, params)  # type: ignore[no-untyped-call]

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Waits for messages until `condition` holds; fails after the deadline."""
        async with asyncio.timeout(HANG):
            while not (found := condition()):  # noqa: ASYNC110 - any condition, on messages or on disk
                await asyncio.sleep(0.01)
        return found


def server_environ() -> dict[str, str]:
    """The test's own environment, with the package to test on the module path."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(SERVER), os.environ.get("PYTHONPATH", "")]))}


def make_warm_jobs(sidecar: Sidecar) -> JobProcesses:
    """The job runner of a window, whose jobs start from a warm Python."""
    jobs = make_jobs(sidecar)
    jobs.executable = warm_python()
    return jobs


@asynccontextmanager
async def opened_in_thread(repo: Path, ahead: timedelta = timedelta(0)) -> AsyncIterator[Editor]:
    """An editor with a server in a thread of the test's process, which takes its home and keys from the environment
    as it is now; `start` it in the test. The server's clock is `ahead` of the machine's."""
    client = _make_client()
    (server_input, to_server), (from_server, server_output) = os.pipe(), os.pipe()
    sidecar = create_server(Home.from_environ(os.environ), server_environ())
    sidecar.clock = lambda: datetime.now(UTC) + ahead
    sidecar.make_jobs = make_warm_jobs

    def serve() -> None:
        with os.fdopen(server_input, "rb", 0) as source, os.fdopen(server_output, "wb") as output:
            sidecar.server.serve(source, output)
        sidecar.stop()

    thread = threading.Thread(target=serve, daemon=True, name="sidecar")
    thread.start()
    with os.fdopen(to_server, "wb") as requests:
        client.protocol.set_writer(StdoutWriter(requests))
        answers = asyncio.StreamReader()
        end, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(answers), os.fdopen(from_server, "rb", 0)
        )
        stop = threading.Event()
        listening = asyncio.create_task(run_async(stop, answers, client.protocol, None, client.report_server_error))
        yield _make_editor(client, repo)
        if client.capabilities is not None:
            await client.shutdown_async(None)
    await listening
    end.close()
    await asyncio.to_thread(thread.join, HANG)


@asynccontextmanager
async def opened(repo: Path, through: Sequence[str] = ()) -> AsyncIterator[Editor]:
    """An editor with a server process, for tests that are about the process; `start` it in the test. Its server is
    ended afterwards.

    `through` is a command that starts the server, such as one that takes rights from it.
    """
    client = _make_client()
    await client.start_io(*through, sys.executable, "-P", "-m", "lerim", "lsp", env=server_environ())
    yield _make_editor(client, repo)
    await client.shutdown_session()
    await client.stop()  # type: ignore[no-untyped-call]


def _make_editor(client: LanguageClient, repo: Path) -> Editor:
    editor = Editor(client, repo)
    for method in NOTIFICATIONS:
        client.feature(method)(functools.partial(editor.told[method].append))

    @client.feature(REFRESH)  # type: ignore[untyped-decorator]
    def refresh(params: Any) -> None:
        editor.told[REFRESH].append(params)

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
    def register(params: types.RegistrationParams) -> None:
        editor.registered |= {one.method: one.register_options for one in params.registrations}
        options: list[Any] = [one.register_options for one in params.registrations]
        editor.watched += [watcher for one in options for watcher in one.get("watchers", ())]

    return editor
