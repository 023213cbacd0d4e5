"""The server: which handler answers what. Handlers are async; what they do is in the modules they name.

Nothing but pygls and this folder's light modules is imported before `initialize` is answered.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types

from lerim import __version__
from lerim.errors import HomeError, LerimError
from lerim.home import check_around
from lerim.lsp import editor, parent, protocol
from lerim.lsp import lives_protocol as lives
from lerim.lsp import model_protocol as models
from lerim.lsp import session_protocol as sessions
from lerim.lsp.boundary import Server, guarded, make_server, refusal, request
from lerim.lsp.logs import EditorHandler
from lerim.lsp.protocol import Params
from lerim.lsp.settings import read
from lerim.lsp.sidecar import Sidecar
from lerim.lsp.uris import to_path
from lerim.paths import Home

log = logging.getLogger("lerim.lsp")

LATE: set[tuple[str, str]] = set()
"""Every (module, function) that handlers import late; a test imports them all."""

Handler = Callable[[Sidecar, Any], Awaitable[Any]]


class RequestHandler(NamedTuple):
    """A request of ours: its parameters, and the function of `lerim.lsp.<module>` that answers it. `person`: it shows
    that somebody is at work."""

    method: str
    params: type[Params]
    module: str
    function: str
    person: bool = True


REQUESTS = (
    RequestHandler(protocol.SYNC, protocol.SyncParams, "syncing", "sync"),
    # The panel lists again whenever a sync found something: no sign of a person either.
    RequestHandler(protocol.REVIEW_LIST, protocol.RootParams, "reviews", "listed", person=False),
    RequestHandler(protocol.REVIEW_ACT, protocol.ActParams, "reviews", "act"),
    RequestHandler(protocol.REVIEW_LEFT_OUT, protocol.LeftOutParams, "reviews", "left_out"),
    RequestHandler(protocol.REVIEW_PROPOSE, protocol.ProposeParams, "reviews", "propose"),
    RequestHandler(protocol.REVIEW_UNDO, protocol.UndoParams, "reviews", "undo"),
    RequestHandler(protocol.MEMORY_SEARCH, protocol.SearchParams, "memories", "search"),
    RequestHandler(protocol.MEMORY_TITLES, protocol.TitlesParams, "titles", "titles"),
    RequestHandler(protocol.MEMORY_SHOW, protocol.ShowParams, "memories", "show"),
    RequestHandler(protocol.MEMORY_FOR_FILE, protocol.FileParams, "memories", "for_file"),
    # The views list again by themselves.
    RequestHandler(protocol.MEMORY_TREE, lives.TreeParams, "tree", "tree", person=False),
    RequestHandler(protocol.MEMORY_ACT, lives.MemoryActParams, "acts", "act"),
    RequestHandler(protocol.MEMORY_MERGE, lives.MergeParams, "acts", "merge"),
    RequestHandler(protocol.MAINTAIN, lives.MaintainParams, "maintaining", "maintain"),
    RequestHandler(protocol.ASK, lives.AskParams, "asking", "ask"),
    RequestHandler(protocol.TURN, protocol.TurnParams, "transcripts", "turn"),
    # The views ask again by themselves whenever a sync has ended.
    RequestHandler(protocol.SESSIONS_DAYS, sessions.DaysParams, "sessions", "days", person=False),
    RequestHandler(protocol.SESSIONS_LIST, sessions.SessionsParams, "sessions", "listed", person=False),
    RequestHandler(protocol.SESSIONS_SEARCH, sessions.SessionSearchParams, "session_search", "search"),
    RequestHandler(protocol.SESSION_OPEN, sessions.OpenParams, "transcripts", "outline", person=False),
    RequestHandler(protocol.SESSION_TURNS, sessions.TurnsParams, "transcripts", "page", person=False),
    RequestHandler(protocol.SESSION_FIND, sessions.FindParams, "transcripts", "find"),
    RequestHandler(protocol.AGENTS, sessions.AgentsParams, "agents", "agents", person=False),
    RequestHandler(protocol.CONNECT, sessions.ConnectParams, "agents", "connect"),
    RequestHandler(protocol.QUEUE_ACT, sessions.QueueParams, "agents", "act"),
    # The status bar asks by itself, too.
    RequestHandler(protocol.MODEL_STATUS, protocol.RootParams, "models", "status", person=False),
    RequestHandler(protocol.MODEL_ALLOW, models.AllowParams, "models", "allow"),
    RequestHandler(protocol.MODEL_CHOICES, protocol.NoParams, "choices", "listed"),
    RequestHandler(protocol.MODEL_TEST, protocol.NoParams, "trials", "tried"),
    RequestHandler(protocol.MODEL_TRY, protocol.RootParams, "trials", "tried_on_session"),
    RequestHandler(protocol.DEBUG, protocol.NoParams, "debug", "debug"),
)


def create_server(
    home: Home, environ: Mapping[str, str], *, handler: EditorHandler | None = None, began: float | None = None
) -> Sidecar:
    """A sidecar with every handler registered, not yet serving. `began` (monotonic) is when the process started."""
    sidecar = Sidecar(make_server("lerim", __version__), home, environ, open_jobs=editor.open_jobs)
    if began is not None:
        sidecar.began = began
    _life(sidecar, handler)
    _documents(sidecar)
    _requests(sidecar)
    return sidecar


def refuse_all(error: LerimError) -> Server:
    """A server that answers `initialize` with an error, which the editor shows, and does nothing else."""
    server = make_server("lerim", __version__)

    @server.feature(types.INITIALIZE)
    def initialize(_params: types.InitializeParams) -> None:
        raise refusal(error)

    return server


def _life(sidecar: Sidecar, handler: EditorHandler | None) -> None:
    server = sidecar.server

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        sidecar.options, problems = read(params.initialization_options)
        sidecar.folders = [folder.uri for folder in params.workspace_folders or ()]
        if not params.workspace_folders and params.root_uri:
            sidecar.folders = [params.root_uri]
        _check_home(sidecar)
        if params.process_id:
            parent.watch(params.process_id, functools.partial(_end, sidecar, 1))
        sidecar.start_ms = round((time.monotonic() - sidecar.began) * 1000)
        for problem in problems:
            sidecar.warn(problem)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        loop = asyncio.get_running_loop()
        if handler is not None:
            handler.connect(loop, _log_to(sidecar))
        from lerim.lsp import watching

        await watching.begin(sidecar)

    @server.feature(types.EXIT)
    def leave(_params: Any) -> None:
        _end(sidecar, 0 if server.protocol._shutdown else 1)


def _check_home(sidecar: Sidecar) -> None:
    """Raises the protocol's error where the home lies in a repository of the window."""
    for path in filter(None, map(to_path, sidecar.folders)):
        try:
            check_around(sidecar.home, Path(path))
        except HomeError as error:
            raise refusal(error) from None


def _end(sidecar: Sidecar, code: int) -> None:
    """Leaves at once: a thread that is stuck in a system call must not keep the process alive."""
    try:
        sidecar.stop()
    finally:
        os._exit(code)


def _log_to(sidecar: Sidecar) -> Callable[[int, str], None]:
    def send(level: int, line: str) -> None:
        sidecar.server.window_log_message(types.LogMessageParams(types.MessageType(level), line))

    return send


def _documents(sidecar: Sidecar) -> None:
    server = sidecar.server

    def on(method: str, handler: Handler, options: object = None, *, person: bool = False) -> None:
        """Registers a message without parameters of our own; `person`: it shows that somebody is at work."""

        async def call(params: Any) -> Any:
            if person:
                sidecar.touch()
            return await guarded(method, handler(sidecar, params))

        server.feature(method, options)(call)

    on(types.TEXT_DOCUMENT_DID_OPEN, _opened, person=True)
    on(types.TEXT_DOCUMENT_DID_CHANGE, _nothing, person=True)
    on(types.TEXT_DOCUMENT_DID_SAVE, _opened, types.SaveOptions(include_text=False), person=True)
    on(types.TEXT_DOCUMENT_DID_CLOSE, _closed, person=True)
    on(types.TEXT_DOCUMENT_HOVER, _lazy("reading", "hover"), person=True)
    # The editor asks for lenses by itself, also after our own refresh: no sign of a person.
    on(types.TEXT_DOCUMENT_CODE_LENS, _lazy("reading", "lenses"), types.CodeLensOptions(resolve_provider=False))
    on(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _lazy("watching", "changed"))
    on(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, _lazy("watching", "folders"), person=True)
    on(types.WORKSPACE_DID_CHANGE_CONFIGURATION, _lazy("watching", "configured"), person=True)
    on(protocol.LOOK_AROUND, _look_around, person=True)
    on(protocol.EDITOR_MODELS, _lazy("editor", "offered"))
    on(protocol.MODEL_PART, _lazy("editor", "heard"))


def _requests(sidecar: Sidecar) -> None:
    def register(one: RequestHandler) -> None:
        lazy = _lazy(one.module, one.function)

        async def call(params: Any) -> object:
            if one.person:
                sidecar.touch()
            return await lazy(sidecar, params)

        request(sidecar.server, one.method, one.params, call, sidecar.run)

    for one in REQUESTS:
        register(one)


def _lazy(module: str, name: str) -> Handler:
    """The function `name` of `lerim.lsp.<module>`, imported at its first call."""
    LATE.add((module, name))

    async def call(sidecar: Sidecar, params: Any) -> Any:
        import importlib

        handler: Handler = getattr(importlib.import_module(f"lerim.lsp.{module}"), name)
        return await handler(sidecar, params)

    return call


async def _look_around(sidecar: Sidecar, _params: object) -> None:

    from lerim.lsp import checkouts

    await checkouts.look_around(sidecar)


async def _opened(sidecar: Sidecar, params: types.DidOpenTextDocumentParams | types.DidSaveTextDocumentParams) -> None:
    from lerim.lsp import watching

    await watching.opened(sidecar, params.text_document.uri)


async def _closed(sidecar: Sidecar, params: types.DidCloseTextDocumentParams) -> None:
    sidecar.repos.forget(params.text_document.uri)


async def _nothing(_sidecar: Sidecar, _params: object) -> None:
    pass
