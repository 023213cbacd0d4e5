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
from lerim.lsp.boundary import (
    EditorHandler,
    SidecarServer,
    guard_request,
    make_rpc_error,
    make_server,
    parent,
    register_request,
    to_path,
)
from lerim.lsp.protocol import Params, core, models, sessions
from lerim.lsp.protocol import memories as lives
from lerim.lsp.window import Sidecar, editor, parse_options
from lerim.paths import Home
from lerim.project import check_home_outside_repository

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
    RequestHandler(core.SYNC, core.SyncParams, "features.syncing", "sync_root"),
    # The panel lists again whenever a sync found something: no sign of a person either.
    RequestHandler(core.REVIEW_LIST, core.RootParams, "features.reviews", "list_review", person=False),
    RequestHandler(core.REVIEW_ACT, core.ActParams, "features.reviews", "act_on_candidate"),
    RequestHandler(core.REVIEW_LEFT_OUT, core.LeftOutParams, "features.reviews", "list_left_out"),
    RequestHandler(core.REVIEW_PROPOSE, core.ProposeParams, "features.reviews", "propose_left_out"),
    RequestHandler(core.REVIEW_UNDO, core.UndoParams, "features.reviews", "undo_action"),
    RequestHandler(core.MEMORY_SEARCH, core.SearchParams, "features.memories.views", "search_memories"),
    RequestHandler(core.MEMORY_TITLES, core.TitlesParams, "features.memories.titles", "list_titles"),
    RequestHandler(core.MEMORY_SHOW, core.ShowParams, "features.memories.views", "show_memory"),
    RequestHandler(core.MEMORY_FOR_FILE, core.FileParams, "features.memories.views", "list_file_memories"),
    # The views list again by themselves.
    RequestHandler(core.MEMORY_TREE, lives.TreeParams, "features.memories.tree", "list_tree_rows", person=False),
    RequestHandler(core.MEMORY_ACT, lives.MemoryActParams, "features.memories.acts", "act_on_memory"),
    RequestHandler(core.MEMORY_MERGE, lives.MergeParams, "features.memories.acts", "merge_memory"),
    RequestHandler(core.MAINTAIN, lives.MaintainParams, "features.maintaining", "maintain_memories"),
    RequestHandler(core.ASK, lives.AskParams, "features.asking", "ask_question"),
    RequestHandler(core.TURN, core.TurnParams, "features.sessions.transcripts", "find_turn"),
    # The views ask again by themselves whenever a sync has ended.
    RequestHandler(core.SESSIONS_DAYS, sessions.DaysParams, "features.sessions.views", "list_days", person=False),
    RequestHandler(
        core.SESSIONS_LIST, sessions.SessionsParams, "features.sessions.views", "list_sessions", person=False
    ),
    RequestHandler(core.SESSIONS_SEARCH, sessions.SessionSearchParams, "features.sessions.search", "search_sessions"),
    RequestHandler(
        core.SESSION_OPEN, sessions.OpenParams, "features.sessions.transcripts", "session_outline", person=False
    ),
    RequestHandler(
        core.SESSION_TURNS, sessions.TurnsParams, "features.sessions.transcripts", "list_turns", person=False
    ),
    RequestHandler(core.SESSION_FIND, sessions.FindParams, "features.sessions.transcripts", "find_text"),
    RequestHandler(core.AGENTS, sessions.AgentsParams, "features.sessions.agents", "list_agents", person=False),
    RequestHandler(core.CONNECT, sessions.ConnectParams, "features.sessions.agents", "connect_agent"),
    RequestHandler(core.QUEUE_ACT, sessions.QueueParams, "features.sessions.agents", "act_on_job"),
    # The status bar asks by itself, too.
    RequestHandler(core.MODEL_STATUS, core.RootParams, "features.models.views", "model_status", person=False),
    RequestHandler(core.MODEL_ALLOW, models.AllowParams, "features.models.views", "allow_model"),
    RequestHandler(core.MODEL_CHOICES, core.NoParams, "features.models.choices", "list_choices"),
    RequestHandler(core.MODEL_TEST, core.NoParams, "features.models.model_test", "try_model"),
    RequestHandler(core.MODEL_TRY, core.RootParams, "features.models.model_test", "try_model_on_session"),
    RequestHandler(core.DEBUG, core.NoParams, "features.debug", "collect_debug_information"),
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


def refuse_all(error: LerimError) -> SidecarServer:
    """A server that answers `initialize` with an error, which the editor shows, and does nothing else."""
    server = make_server("lerim", __version__)

    @server.feature(types.INITIALIZE)
    def initialize(_params: types.InitializeParams) -> None:
        raise make_rpc_error(error)

    return server


def _life(sidecar: Sidecar, handler: EditorHandler | None) -> None:
    server = sidecar.server

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        sidecar.options, problems = parse_options(params.initialization_options)
        sidecar.folders = [folder.uri for folder in params.workspace_folders or ()]
        if not params.workspace_folders and params.root_uri:
            sidecar.folders = [params.root_uri]
        _check_home(sidecar)
        if params.process_id:
            parent.watch_parent(params.process_id, functools.partial(_end, sidecar, 1))
        sidecar.start_ms = round((time.monotonic() - sidecar.began) * 1000)
        for problem in problems:
            sidecar.warn(problem)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        loop = asyncio.get_running_loop()
        if handler is not None:
            handler.connect(loop, _log_to(sidecar))
        from lerim.lsp.features import watching

        await watching.start_watching(sidecar)

    @server.feature(types.EXIT)
    def leave(_params: Any) -> None:
        _end(sidecar, 0 if server.protocol._shutdown else 1)


def _check_home(sidecar: Sidecar) -> None:
    """Raises the protocol's error where the home lies in a repository of the window."""
    for path in filter(None, map(to_path, sidecar.folders)):
        try:
            check_home_outside_repository(sidecar.home, Path(path))
        except HomeError as error:
            raise make_rpc_error(error) from None


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
            return await guard_request(method, handler(sidecar, params))

        server.feature(method, options)(call)

    on(types.TEXT_DOCUMENT_DID_OPEN, _opened, person=True)
    on(types.TEXT_DOCUMENT_DID_CHANGE, _nothing, person=True)
    on(types.TEXT_DOCUMENT_DID_SAVE, _opened, types.SaveOptions(include_text=False), person=True)
    on(types.TEXT_DOCUMENT_DID_CLOSE, _closed, person=True)
    on(types.TEXT_DOCUMENT_HOVER, _lazy("features.memories.reading", "hover_at_position"), person=True)
    # The editor asks for lenses by itself, also after our own refresh: no sign of a person.
    on(
        types.TEXT_DOCUMENT_CODE_LENS,
        _lazy("features.memories.reading", "list_code_lenses"),
        types.CodeLensOptions(resolve_provider=False),
    )
    on(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _lazy("features.watching", "handle_changed_files"))
    on(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, _lazy("features.watching", "handle_changed_folders"), person=True)
    on(types.WORKSPACE_DID_CHANGE_CONFIGURATION, _lazy("features.watching", "handle_configuration"), person=True)
    on(core.LOOK_AROUND, _look_around, person=True)
    on(core.EDITOR_MODELS, _lazy("window.editor", "set_editor_models"))
    on(core.MODEL_PART, _lazy("window.editor", "receive_part"))


def _requests(sidecar: Sidecar) -> None:
    def register(one: RequestHandler) -> None:
        lazy = _lazy(one.module, one.function)

        async def call(params: Any) -> object:
            if one.person:
                sidecar.touch()
            return await lazy(sidecar, params)

        register_request(sidecar.server, one.method, one.params, call, sidecar.run)

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

    from lerim.lsp.window import checkouts

    await checkouts.look_around(sidecar)


async def _opened(sidecar: Sidecar, params: types.DidOpenTextDocumentParams | types.DidSaveTextDocumentParams) -> None:
    from lerim.lsp.features import watching

    await watching.handle_opened_file(sidecar, params.text_document.uri)


async def _closed(sidecar: Sidecar, params: types.DidCloseTextDocumentParams) -> None:
    sidecar.repos.forget(params.text_document.uri)


async def _nothing(_sidecar: Sidecar, _params: object) -> None:
    pass
