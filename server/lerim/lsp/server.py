"""The server: maps each message to its handler. The handlers' modules are imported on first use.

Before `initialize` is answered, only pygls and the light modules of this package are imported.
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
    uri_to_path,
)
from lerim.lsp.protocol import Params, agent_tools, agents, core, exporting, journal, memories, models, sessions
from lerim.lsp.window import Sidecar, editor_models, parse_options
from lerim.paths import Home
from lerim.project import check_home_outside_repository

log = logging.getLogger("lerim.lsp")

LAZY_HANDLERS: set[tuple[str, str]] = set()
"""Every (module, function) that handlers import on first use; a test imports them all."""

Handler = Callable[[Sidecar, Any], Awaitable[Any]]


class RequestHandler(NamedTuple):
    """One of our own requests: its parameters, and the function of `lerim.lsp.<module>` that answers it.

    `is_user_action`: the request shows that the person is active.
    """

    method: str
    params: type[Params]
    module: str
    function: str
    is_user_action: bool = True


REQUESTS = (
    RequestHandler(core.SYNC, core.SyncParams, "features.syncing", "sync_root"),
    # The panel also lists by itself whenever a sync finds something, so it is no user action.
    RequestHandler(core.REVIEW_LIST, core.RootParams, "features.reviews", "list_review", is_user_action=False),
    RequestHandler(core.REVIEW_ACT, core.ActParams, "features.reviews", "act_on_candidate"),
    RequestHandler(core.REVIEW_ACT_ON_MANY, core.ActOnManyParams, "features.reviews", "act_on_many"),
    # The panel also asks whenever it shows another candidate.
    RequestHandler(
        core.REVIEW_REFERENCES,
        core.CandidateReferencesParams,
        "features.reviews",
        "check_candidate_references",
        is_user_action=False,
    ),
    # The comments on a file refresh by themselves.
    RequestHandler(
        core.REVIEW_FOR_FILE,
        core.FileParams,
        "features.review_comments",
        "list_file_comments",
        is_user_action=False,
    ),
    RequestHandler(core.REVIEW_LEFT_OUT, core.LeftOutParams, "features.reviews", "list_left_out"),
    RequestHandler(core.REVIEW_PROPOSE, core.ProposeParams, "features.reviews", "propose_left_out"),
    RequestHandler(core.REVIEW_UNDO, core.UndoParams, "features.reviews", "undo_action"),
    RequestHandler(core.MEMORY_SEARCH, core.SearchParams, "features.memories.loading", "search_memories"),
    RequestHandler(core.MEMORY_TITLES, core.TitlesParams, "features.memories.loading", "list_titles"),
    RequestHandler(core.MEMORY_SHOW, core.ShowParams, "features.memories.loading", "show_memory"),
    RequestHandler(
        core.MEMORY_FOR_FILE, core.FileMemoriesParams, "features.memories.editor_requests", "list_file_memories"
    ),
    # The views refresh by themselves.
    RequestHandler(
        core.MEMORY_TREE, memories.TreeParams, "features.memories.tree", "list_tree_rows", is_user_action=False
    ),
    RequestHandler(core.MEMORY_ACT, memories.MemoryActParams, "features.memories.acts", "act_on_memory"),
    RequestHandler(core.MEMORY_MERGE, memories.MergeParams, "features.memories.acts", "merge_memory"),
    RequestHandler(core.MEMORY_ADD, agent_tools.AddMemoryParams, "features.agent_tools", "add_memory"),
    RequestHandler(core.MEMORY_CONTEXT, agent_tools.MemoryContextParams, "features.agent_tools", "copy_memories"),
    # An agent asks by itself.
    RequestHandler(
        core.AGENT_TOOL, agent_tools.AgentToolParams, "features.agent_tools", "call_tool", is_user_action=False
    ),
    RequestHandler(core.MAINTAIN, memories.MaintainParams, "features.maintaining", "maintain_memories"),
    RequestHandler(core.ASK, memories.AskParams, "features.asking", "ask_question"),
    RequestHandler(core.BENEFIT, core.RootParams, "features.benefits", "compute_benefit"),
    RequestHandler(core.CHECK, core.RootParams, "features.checking.project_checks", "check_memories"),
    RequestHandler(core.JOURNAL, journal.JournalParams, "features.journal", "open_journal_page"),
    RequestHandler(core.TURN, core.TurnParams, "features.sessions.transcripts", "find_turn"),
    # The views refresh by themselves after each sync.
    RequestHandler(
        core.SESSIONS_DAYS, sessions.DaysParams, "features.sessions.listing", "list_days", is_user_action=False
    ),
    RequestHandler(
        core.SESSIONS_LIST, sessions.SessionsParams, "features.sessions.listing", "list_sessions", is_user_action=False
    ),
    RequestHandler(core.SESSIONS_ELSEWHERE, core.RootParams, "features.sessions.elsewhere", "list_other_folders"),
    RequestHandler(core.SESSIONS_USE, sessions.UseSessionsParams, "features.sessions.elsewhere", "use_sessions"),
    RequestHandler(core.SESSIONS_SEARCH, sessions.SessionSearchParams, "features.sessions.search", "search_sessions"),
    RequestHandler(
        core.SESSION_OPEN, sessions.OpenParams, "features.sessions.transcripts", "session_outline", is_user_action=False
    ),
    RequestHandler(
        core.SESSION_TURNS, sessions.TurnsParams, "features.sessions.transcripts", "list_turns", is_user_action=False
    ),
    RequestHandler(core.SESSION_EDITS, sessions.EditsParams, "features.sessions.call_edits", "read_call_edits"),
    RequestHandler(core.SESSION_FIND, sessions.FindParams, "features.sessions.transcripts", "find_text"),
    RequestHandler(
        core.AGENTS, sessions.AgentsParams, "features.sessions.agent_stores", "list_agents", is_user_action=False
    ),
    RequestHandler(core.CONNECT, sessions.ConnectParams, "features.sessions.agent_stores", "connect_agent"),
    RequestHandler(
        core.AGENT_CONNECTIONS,
        agents.ConnectionsParams,
        "features.agent_setup",
        "list_connections",
        is_user_action=False,
    ),
    RequestHandler(core.AGENT_PLAN, agents.AgentPlanParams, "features.agent_setup", "plan_change"),
    RequestHandler(core.AGENT_APPLY, agents.AgentApplyParams, "features.agent_setup", "apply_change"),
    RequestHandler(core.AGENT_UNDO, agents.AgentUndoParams, "features.agent_setup", "undo_change"),
    RequestHandler(core.QUEUE_ACT, sessions.QueueParams, "features.sessions.agent_stores", "act_on_job"),
    # The status bar refreshes by itself, too.
    RequestHandler(core.MODEL_STATUS, core.RootParams, "features.models", "model_status", is_user_action=False),
    RequestHandler(core.MODEL_ALLOW, models.AllowParams, "features.models", "allow_model"),
    RequestHandler(core.MODEL_CHOICES, core.NoParams, "features.models", "list_choices"),
    RequestHandler(core.MODEL_TEST, core.NoParams, "features.models", "try_model"),
    RequestHandler(core.MODEL_TRY, core.RootParams, "features.models", "try_model_on_session"),
    RequestHandler(core.EXPORT_PLAN, exporting.ExportParams, "features.rules_files", "plan_agent_files"),
    RequestHandler(core.EXPORT_APPLY, exporting.ExportApplyParams, "features.rules_files", "write_agent_files"),
    RequestHandler(core.EXPORT_UNDO, exporting.ExportUndoParams, "features.rules_files", "undo_agent_files"),
    RequestHandler(core.EXPORT_KEEP, exporting.ExportKeepParams, "features.rules_files", "keep_agent_files"),
    RequestHandler(core.IMPORT_PLAN, core.RootParams, "features.importing", "plan_rules_import"),
    RequestHandler(core.IMPORT_APPLY, core.RootParams, "features.importing", "import_rules"),
    RequestHandler(core.DEBUG, core.NoParams, "features.debug", "collect_debug_information"),
)


def create_server(
    home: Home, environ: Mapping[str, str], *, handler: EditorHandler | None = None, started_at: float | None = None
) -> Sidecar:
    """Makes a sidecar with all handlers registered, not yet serving. `started_at` is the monotonic time at which the
    process started."""
    sidecar = Sidecar(make_server("lerim", __version__), home, environ, make_jobs=editor_models.make_jobs)
    if started_at is not None:
        sidecar.started_at = started_at
    _register_lifecycle(sidecar, handler)
    _register_document_handlers(sidecar)
    _register_requests(sidecar)
    return sidecar


def create_failing_server(error: LerimError) -> SidecarServer:
    """Makes a server that only answers `initialize` with an error, which the editor shows."""
    server = make_server("lerim", __version__)

    @server.feature(types.INITIALIZE)
    def initialize(_params: types.InitializeParams) -> None:
        raise make_rpc_error(error)

    return server


def _register_lifecycle(sidecar: Sidecar, handler: EditorHandler | None) -> None:
    server = sidecar.server

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        sidecar.options, problems = parse_options(params.initialization_options)
        sidecar.folder_uris = [folder.uri for folder in params.workspace_folders or ()]
        if not params.workspace_folders and params.root_uri:
            sidecar.folder_uris = [params.root_uri]
        _check_home_location(sidecar)
        if params.process_id:
            parent.watch_parent(params.process_id, functools.partial(_exit_process, sidecar, 1))
        _register_language_features(sidecar, later=False)
        sidecar.start_ms = round((time.monotonic() - sidecar.started_at) * 1000)
        for problem in problems:
            sidecar.warn(problem)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        loop = asyncio.get_running_loop()
        if handler is not None:
            handler.connect(loop, _make_log_sender(sidecar))
        from lerim.lsp.features import watching

        if registrations := _register_language_features(sidecar, later=True):
            sidecar.spawn("Registering the language of memory files", _send_registrations(server, registrations))
        await watching.start_watching(sidecar)

    @server.feature(types.EXIT)
    def exit_server(_params: Any) -> None:
        _exit_process(sidecar, 0 if server.protocol._shutdown else 1)


async def _send_registrations(server: SidecarServer, registrations: list[types.Registration]) -> None:
    await server.client_register_capability_async(types.RegistrationParams(registrations))


def _check_home_location(sidecar: Sidecar) -> None:
    """Raises a JSON-RPC error if Lerim's home is inside a repository of the window."""
    for path in filter(None, map(uri_to_path, sidecar.folder_uris)):
        try:
            check_home_outside_repository(sidecar.home, Path(path))
        except HomeError as error:
            raise make_rpc_error(error) from None


def _exit_process(sidecar: Sidecar, code: int) -> None:
    """Ends the process at once: a thread stuck in a system call must not keep it alive."""
    try:
        sidecar.stop()
    finally:
        os._exit(code)


def _make_log_sender(sidecar: Sidecar) -> Callable[[int, str], None]:
    def send(level: int, line: str) -> None:
        sidecar.server.window_log_message(types.LogMessageParams(types.MessageType(level), line))

    return send


def _register_handler(
    sidecar: Sidecar, method: str, handler: Handler, options: object = None, *, is_user_action: bool = False
) -> None:
    """Registers a handler whose parameters are not ours. `is_user_action`: it shows that the person is active."""

    async def call(params: Any) -> Any:
        if is_user_action:
            sidecar.note_activity()
        return await guard_request(method, handler(sidecar, params))

    sidecar.server.feature(method, options)(call)


def _register_language_features(sidecar: Sidecar, *, later: bool) -> list[types.Registration]:
    """Registers the handlers of requests about memory files: at `initialize` those that the editor must know then,
    `later` the others. Returns the registrations to send to the editor."""
    from lerim.lsp.features import language

    capabilities = sidecar.server.client_capabilities
    features = [one for one in language.LANGUAGE_FEATURES if language.can_register_later(capabilities, one) is later]
    for one in features:
        handler = _lazy_handler(f"features.{one.package}.{one.module}", one.function)
        _register_handler(sidecar, one.method, handler, None if later else one.options, is_user_action=True)
    return language.make_registrations(capabilities, features, sidecar.home) if later else []


def _register_document_handlers(sidecar: Sidecar) -> None:
    register = functools.partial(_register_handler, sidecar)

    register(types.TEXT_DOCUMENT_DID_OPEN, _handle_opened_document, is_user_action=True)
    register(types.TEXT_DOCUMENT_DID_CHANGE, _handle_changed_document, is_user_action=True)
    register(
        types.TEXT_DOCUMENT_DID_SAVE,
        _handle_opened_document,
        types.SaveOptions(include_text=False),
        is_user_action=True,
    )
    register(types.TEXT_DOCUMENT_DID_CLOSE, _handle_closed_document, is_user_action=True)
    register(
        types.TEXT_DOCUMENT_HOVER,
        _lazy_handler("features.language.hovers", "hover_at_position"),
        is_user_action=True,
    )
    register(
        types.TEXT_DOCUMENT_REFERENCES,
        _lazy_handler("features.language.references", "find_references"),
        is_user_action=True,
    )
    register(
        types.WORKSPACE_SYMBOL,
        _lazy_handler("features.language.symbols", "list_workspace_symbols"),
        is_user_action=True,
    )
    register(
        types.WORKSPACE_WILL_RENAME_FILES,
        _lazy_handler("features.language.file_renames", "edit_before_renames"),
        types.FileOperationRegistrationOptions(
            [types.FileOperationFilter(types.FileOperationPattern("**/*"), scheme="file")]
        ),
        is_user_action=True,
    )
    register(
        types.WORKSPACE_DID_RENAME_FILES,
        _lazy_handler("features.language.file_renames", "keep_quotes"),
        types.FileOperationRegistrationOptions(
            [types.FileOperationFilter(types.FileOperationPattern("**/memory/**/*.md"), scheme="file")]
        ),
    )
    register(
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT,
        _lazy_handler("features.language.transcripts", "provide_transcript"),
    )
    # The editor asks for lenses by itself, also after our own refresh, so it is no user action.
    register(
        types.TEXT_DOCUMENT_CODE_LENS,
        _lazy_handler("features.memories.editor_requests", "list_code_lenses"),
        types.CodeLensOptions(resolve_provider=False),
    )
    register(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _lazy_handler("features.watching", "handle_changed_files"))
    register(
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
        _lazy_handler("features.watching", "handle_changed_folders"),
        is_user_action=True,
    )
    register(
        types.WORKSPACE_DID_CHANGE_CONFIGURATION,
        _lazy_handler("features.watching", "handle_configuration"),
        is_user_action=True,
    )
    register(core.LOOK_AROUND, _check_for_changes, is_user_action=True)
    register(core.EDITOR_MODELS, _lazy_handler("window.editor_models", "set_editor_models"))
    register(core.MODEL_PART, _lazy_handler("window.editor_models", "receive_part"))


def _register_requests(sidecar: Sidecar) -> None:
    def register(request: RequestHandler) -> None:
        lazy = _lazy_handler(request.module, request.function)

        async def call(params: Any) -> object:
            if request.is_user_action:
                sidecar.note_activity()
            return await lazy(sidecar, params)

        register_request(sidecar.server, request.method, request.params, call, sidecar.run_in_thread)

    for request in REQUESTS:
        register(request)


def _lazy_handler(module: str, name: str) -> Handler:
    """Wraps the function `name` of `lerim.lsp.<module>`, which is imported at its first call."""
    LAZY_HANDLERS.add((module, name))

    async def call(sidecar: Sidecar, params: Any) -> Any:
        import importlib

        handler: Handler = getattr(importlib.import_module(f"lerim.lsp.{module}"), name)
        return await handler(sidecar, params)

    return call


async def _check_for_changes(sidecar: Sidecar, _params: object) -> None:

    from lerim.lsp.window import reload

    await reload.check_for_changes(sidecar)


async def _handle_opened_document(
    sidecar: Sidecar, params: types.DidOpenTextDocumentParams | types.DidSaveTextDocumentParams
) -> None:
    from lerim.lsp.features import watching

    await watching.handle_opened_file(sidecar, params.text_document.uri)
    if params.text_document.uri.endswith(".md"):
        from lerim.lsp.features import checking

        checking.schedule_check(sidecar, params.text_document.uri, with_rules=True)


async def _handle_closed_document(sidecar: Sidecar, params: types.DidCloseTextDocumentParams) -> None:
    sidecar.repos.forget_file(params.text_document.uri)
    if params.text_document.uri in sidecar.checked_uris:
        from lerim.lsp.features import checking

        await checking.stop_checking(sidecar, params.text_document.uri)


async def _handle_changed_document(sidecar: Sidecar, params: types.DidChangeTextDocumentParams) -> None:
    if params.text_document.uri.endswith(".md"):
        from lerim.lsp.features import checking

        checking.schedule_check(sidecar, params.text_document.uri)
