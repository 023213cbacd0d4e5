"""An editor's window with a real sidecar process in it, spoken to as an editor does."""

from __future__ import annotations

import asyncio
import functools
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException  # noqa: TID251
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from hang import HANG
from lerim.lsp.protocol import core
from lerim.memory.record import FOLDERS, Evidence, MemoryRecord, render_record

SERVER = Path(__file__).resolve().parents[1] / "server"
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


class Editor:
    """What the tests do with a server: the shortest words for each message."""

    def __init__(self, client: LanguageClient, repo: Path) -> None:
        self.client = client
        self.repo = repo
        self.told: dict[str, list[Any]] = {method: [] for method in (*NOTIFICATIONS, REFRESH)}
        self.watched: list[Any] = []

    async def start(self, options: object = None, *, root: Path | None = None, process_id: int | None = None) -> Any:
        folder = root or self.repo
        default = {"trusted": True, "settings": {"idleSeconds": 0}}
        capabilities = client_capabilities("visual-studio-code")
        assert capabilities.workspace and capabilities.workspace.did_change_watched_files
        capabilities.workspace.did_change_watched_files.relative_pattern_support = True  # as since VS Code 1.66
        params = types.InitializeParams(
            capabilities=capabilities,
            process_id=process_id if process_id is not None else os.getpid(),
            workspace_folders=[types.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)],
            initialization_options=default if options is None else options,
        )
        return await self.client.initialize_session(params)

    def open(self, path: str, text: str | None = None, uri: str = "") -> str:
        file = self.repo / path
        found = file.read_text(encoding="utf-8") if text is None else text
        item = types.TextDocumentItem(uri or file.as_uri(), "python", 1, found)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return item.uri

    async def hover(self, uri: str, line: int, character: int) -> str | None:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        found = await self.client.text_document_hover_async(params)
        return None if found is None else found.contents.value

    async def lenses(self, uri: str) -> list[tuple[int, str]]:
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        found = await self.client.text_document_code_lens_async(params)
        return [(lens.range.start.line, lens.command.title) for lens in found or []]

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
        return await self.client.protocol.send_request_async(method, params)

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Waits for messages until `condition` holds; fails after the deadline."""
        async with asyncio.timeout(HANG):
            while not (found := condition()):  # noqa: ASYNC110 - any condition, on messages or on disk
                await asyncio.sleep(0.01)
        return found


class Visitor(Editor):
    """An editor that opens its repository as a further folder of a window that is there already."""

    def __init__(self, window: Editor, repo: Path) -> None:
        super().__init__(window.client, repo)
        self.told = window.told
        for events in self.told.values():
            events.clear()

    async def start(self, options: object = None, *, root: Path | None = None, process_id: int | None = None) -> Any:
        assert (options, root, process_id) == (None, None, None), "what is set at the start needs a server of its own"
        self._change_folders(types.WorkspaceFoldersChangeEvent([types.WorkspaceFolder(self.root, "repo")], []))
        await self.until(lambda: self.memories() is not None)

    def leave(self) -> None:
        self._change_folders(types.WorkspaceFoldersChangeEvent([], [types.WorkspaceFolder(self.root, "repo")]))

    def _change_folders(self, event: types.WorkspaceFoldersChangeEvent) -> None:
        self.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))


def server_environ() -> dict[str, str]:
    """The test's own environment, with the package to test on the module path."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(SERVER), os.environ.get("PYTHONPATH", "")]))}


@asynccontextmanager
async def opened(repo: Path, through: Sequence[str] = ()) -> AsyncIterator[Editor]:
    """An editor with a server started; `start` it in the test. Its server is ended afterwards.

    `through` is a command that starts the server, such as one that takes rights from it.
    """
    command = [*through, sys.executable, "-P", "-m", "lerim", "lsp"]
    config = ClientServerConfig(command, server_env=server_environ())
    client = await config.start()
    assert isinstance(client, LanguageClient)
    editor = Editor(client, repo)
    for method in NOTIFICATIONS:
        client.feature(method)(functools.partial(editor.told[method].append))

    @client.feature(REFRESH)
    def refresh(params: Any) -> None:
        editor.told[REFRESH].append(params)

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        editor.watched += [watcher for one in params.registrations for watcher in one.register_options["watchers"]]

    yield editor
    await client.shutdown_session()
    await client.stop()
