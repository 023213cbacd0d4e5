"""The server: maps each message to its handler. The handlers' modules are imported on first use.

Before `initialize` is answered, only pygls and the light modules of this package are imported.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
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
from lerim.lsp.protocol import Params, agents, core, exporting, memories, models, sessions
from lerim.lsp.window import Sidecar, editor_models, parse_options
from lerim.paths import Home
from lerim.project import check_home_outside_repository

LAZY_HANDLERS: set[tuple[str, str]] = set()
"""Every (module, function) that handlers import on first use; a test imports them all."""


class RequestHandler(NamedTuple):
    """One of our own requests: its parameters, and the function of `lerim.lsp.<module>` that answers it."""

    method: str
    params: type[Params]
    module: str
    function: str


class EditorMessage(NamedTuple):
    """A request or notification whose parameters are not checked by us, and the function of `lerim.lsp.<module>` that
    handles it. `options` are sent to the editor at `initialize`."""

    method: str
    module: str
    function: str
    options: object = None


REQUESTS = (
    RequestHandler(core.SYNC, core.RootParams, "features.syncing", "sync_root"),
    RequestHandler(core.REVIEW_LIST, core.RootParams, "features.reviews", "list_review"),
    RequestHandler(core.REVIEW_ACT, core.ActParams, "features.reviews", "act_on_candidate"),
    RequestHandler(core.REVIEW_ACT_ON_MANY, core.ActOnManyParams, "features.reviews", "act_on_many"),
    RequestHandler(core.REVIEW_REFERENCES, core.ItemParams, "features.reviews", "check_candidate_references"),
    RequestHandler(core.REVIEW_COMPLETE, core.CompleteParams, "features.reviews", "complete_field"),
    RequestHandler(core.REVIEW_FOR_FILE, core.FileParams, "features.review_comments", "list_file_comments"),
    RequestHandler(core.REVIEW_LEFT_OUT, core.LeftOutParams, "features.reviews", "list_left_out"),
    RequestHandler(core.REVIEW_PROPOSE, core.ItemParams, "features.reviews", "propose_left_out"),
    RequestHandler(core.REVIEW_UNDO, core.UndoParams, "features.reviews", "undo_action"),
    RequestHandler(core.REVIEW_QUOTES, core.QuotesParams, "features.reviews", "choose_quotes"),
    RequestHandler(core.MEMORY_SEARCH, core.SearchParams, "features.memories.loading", "search_memories"),
    RequestHandler(core.MEMORY_TITLES, core.TitlesParams, "features.memories.loading", "list_titles"),
    RequestHandler(core.MEMORY_SHOW, core.ShowParams, "features.memories.loading", "show_memory"),
    RequestHandler(
        core.MEMORY_FOR_FILE, core.FileMemoriesParams, "features.memories.editor_requests", "list_file_memories"
    ),
    RequestHandler(core.SYMBOL, core.SymbolParams, "features.language.symbol_places", "find_symbol_around"),
    RequestHandler(core.MEMORY_TREE, memories.TreeParams, "features.memories.tree", "list_tree_rows"),
    RequestHandler(core.MEMORY_ACT, memories.MemoryActParams, "features.memories.acts", "act_on_memory"),
    RequestHandler(core.MEMORY_MERGE, memories.MergeParams, "features.memories.acts", "merge_memory"),
    RequestHandler(core.MEMORY_ADD, agents.AddMemoryParams, "features.agent_tools", "add_memory"),
    RequestHandler(core.MEMORY_CONTEXT, agents.MemoryContextParams, "features.agent_tools", "copy_memories"),
    RequestHandler(core.AGENT_TOOL, agents.AgentToolParams, "features.agent_tools", "call_tool"),
    RequestHandler(core.MAINTAIN, core.RootParams, "features.maintaining", "maintain_memories"),
    RequestHandler(core.ASK, memories.AskParams, "features.asking", "ask_question"),
    RequestHandler(core.BENEFIT, core.RootParams, "features.job_results", "compute_benefit"),
    RequestHandler(core.CHECK, core.RootParams, "features.checking.diagnostics", "check_memories"),
    RequestHandler(core.JOURNAL, memories.JournalParams, "features.job_results", "open_journal_page"),
    RequestHandler(core.TURN, core.TurnParams, "features.sessions.transcripts", "find_turn"),
    RequestHandler(core.SESSIONS_DAYS, sessions.DaysParams, "features.sessions.listing", "list_days"),
    RequestHandler(core.SESSIONS_LIST, sessions.SessionsParams, "features.sessions.listing", "list_sessions"),
    RequestHandler(core.SESSIONS_ELSEWHERE, core.RootParams, "features.sessions.elsewhere", "list_other_folders"),
    RequestHandler(core.SESSIONS_USE, sessions.UseSessionsParams, "features.sessions.elsewhere", "use_sessions"),
    RequestHandler(core.SESSIONS_SEARCH, sessions.SessionSearchParams, "features.sessions.search", "search_sessions"),
    RequestHandler(core.SESSION_OPEN, sessions.OpenParams, "features.sessions.transcripts", "session_outline"),
    RequestHandler(core.SESSION_TURNS, sessions.TurnsParams, "features.sessions.transcripts", "list_turns"),
    RequestHandler(core.SESSION_CALL, sessions.CallParams, "features.job_results", "read_call"),
    RequestHandler(core.SESSION_FIND, sessions.FindParams, "features.sessions.transcripts", "find_text"),
    RequestHandler(core.AGENTS, sessions.AgentsParams, "features.sessions.agent_stores", "list_agents"),
    RequestHandler(core.CONNECT, sessions.ConnectParams, "features.sessions.agent_stores", "connect_agent"),
    RequestHandler(core.AGENT_CONNECTIONS, sessions.AgentsParams, "features.agent_setup", "list_connections"),
    RequestHandler(core.AGENT_PLAN, agents.AgentPlanParams, "features.agent_setup", "plan_change"),
    RequestHandler(core.AGENT_APPLY, agents.AgentApplyParams, "features.agent_setup", "apply_change"),
    RequestHandler(core.AGENT_UNDO, agents.AgentUndoParams, "features.agent_setup", "undo_change"),
    RequestHandler(core.QUEUE_ACT, sessions.QueueParams, "features.sessions.agent_stores", "act_on_job"),
    RequestHandler(core.MODEL_STATUS, core.RootParams, "features.models", "model_status"),
    RequestHandler(core.MODEL_ALLOW, models.AllowParams, "features.models", "allow_model"),
    RequestHandler(core.MODEL_CHOICES, core.NoParams, "features.models", "list_choices"),
    RequestHandler(core.MODEL_TEST, core.NoParams, "features.models", "try_model"),
    RequestHandler(core.MODEL_TRY, core.RootParams, "features.models", "try_model_on_session"),
    RequestHandler(core.EXPORT_PLAN, exporting.ExportParams, "features.rules_files", "plan_agent_files"),
    RequestHandler(core.EXPORT_APPLY, exporting.ExportApplyParams, "features.rules_files", "write_agent_files"),
    RequestHandler(core.EXPORT_UNDO, exporting.ExportUndoParams, "features.rules_files", "undo_agent_files"),
    RequestHandler(core.EXPORT_KEEP, exporting.ExportKeepParams, "features.rules_files", "keep_agent_files"),
    RequestHandler(core.IMPORT_PLAN, core.RootParams, "features.rules_files", "plan_rules_import"),
    RequestHandler(core.IMPORT_APPLY, core.RootParams, "features.rules_files", "import_rules"),
    RequestHandler(core.DEBUG, core.NoParams, "features.debug", "collect_debug_information"),
)


def _match_files(pattern: str) -> types.FileOperationRegistrationOptions:
    return types.FileOperationRegistrationOptions(
        [types.FileOperationFilter(types.FileOperationPattern(pattern), scheme="file")]
    )


EDITOR_MESSAGES = (
    EditorMessage(types.TEXT_DOCUMENT_DID_OPEN, "features.documents", "handle_opened_document"),
    EditorMessage(types.TEXT_DOCUMENT_DID_CHANGE, "features.documents", "handle_changed_document"),
    EditorMessage(
        types.TEXT_DOCUMENT_DID_SAVE,
        "features.documents",
        "handle_opened_document",
        types.SaveOptions(include_text=False),
    ),
    EditorMessage(types.TEXT_DOCUMENT_DID_CLOSE, "features.documents", "handle_closed_document"),
    EditorMessage(types.TEXT_DOCUMENT_HOVER, "features.language.hovers_in_documents", "hover_at_position"),
    EditorMessage(types.TEXT_DOCUMENT_REFERENCES, "features.language.references", "find_references"),
    EditorMessage(
        types.TEXT_DOCUMENT_CODE_LENS,
        "features.memories.editor_requests",
        "list_code_lenses",
        types.CodeLensOptions(resolve_provider=False),
    ),
    EditorMessage(types.WORKSPACE_SYMBOL, "features.language.symbols", "list_workspace_symbols"),
    EditorMessage(
        types.WORKSPACE_WILL_RENAME_FILES, "features.language.file_renames", "edit_before_renames", _match_files("**/*")
    ),
    EditorMessage(
        types.WORKSPACE_DID_RENAME_FILES,
        "features.language.file_renames",
        "keep_quotes",
        _match_files("**/memory/**/*.md"),
    ),
    EditorMessage(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, "features.language.transcripts", "provide_transcript"),
    EditorMessage(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, "features.watching", "handle_changed_files"),
    EditorMessage(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, "features.watching", "handle_changed_folders"),
    EditorMessage(types.WORKSPACE_DID_CHANGE_CONFIGURATION, "features.watching", "handle_configuration"),
    EditorMessage(core.LOOK_AROUND, "features.watching", "look_around"),
    EditorMessage(core.EDITOR_MODELS, "window.editor_models", "set_editor_models"),
    EditorMessage(core.MODEL_PART, "window.editor_models", "receive_part"),
)
MEMORY_COMMANDS = (
    core.VERIFY_MEMORY,
    core.ARCHIVE_MEMORY,
    memories.GLOBALIZE_MEMORY,
    memories.MOVE_MEMORY,
    memories.MERGE_MEMORY,
)
"""The commands of code actions that the sidecar runs for editors without Lerim's extension."""
AUTOMATIC = frozenset(
    (
        core.REVIEW_LIST,
        core.REVIEW_REFERENCES,
        core.REVIEW_FOR_FILE,
        core.MEMORY_TREE,
        core.AGENT_TOOL,
        core.SESSIONS_DAYS,
        core.SESSIONS_LIST,
        core.SESSION_OPEN,
        core.SESSION_TURNS,
        core.AGENTS,
        core.AGENT_CONNECTIONS,
        core.MODEL_STATUS,
        types.TEXT_DOCUMENT_CODE_LENS,
        types.WORKSPACE_DID_RENAME_FILES,
        types.WORKSPACE_TEXT_DOCUMENT_CONTENT,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        core.EDITOR_MODELS,
        core.MODEL_PART,
    )
)
"""What views, agents and the editor also send by themselves, so that it does not show that the person is active."""


def create_server(
    home: Home, environ: Mapping[str, str], *, handler: EditorHandler | None = None, started_at: float | None = None
) -> Sidecar:
    """Makes a sidecar with all handlers registered, not yet serving. `started_at` is the monotonic time at which the
    process started."""
    sidecar = Sidecar(make_server("lerim", __version__), home, environ, make_jobs=editor_models.make_jobs)
    if started_at is not None:
        sidecar.started_at = started_at
    _register_lifecycle(sidecar, handler)
    for message in EDITOR_MESSAGES:
        _register_handler(sidecar, message)
    for request in REQUESTS:
        handle = _make_handler(sidecar, request.method, request.module, request.function)
        register_request(sidecar.server, request.method, request.params, handle, sidecar.run_in_thread)
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
        if not sidecar.has_extension:  # which has these commands itself
            for name in MEMORY_COMMANDS:
                _register_command(sidecar, name)
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


def _register_handler(sidecar: Sidecar, message: EditorMessage) -> None:
    handle = _make_handler(sidecar, message.method, message.module, message.function)

    async def call(params: Any) -> Any:
        return await guard_request(message.method, handle(params))

    sidecar.server.feature(message.method, message.options)(call)


def _register_command(sidecar: Sidecar, name: str) -> None:
    method = types.WORKSPACE_EXECUTE_COMMAND
    handle = _make_handler(sidecar, method, "features.checking.commands", "run_command")

    @sidecar.server.command(name)
    async def call(*arguments: Any) -> Any:
        return await guard_request(method, handle(types.ExecuteCommandParams(name, arguments)))


def _register_language_features(sidecar: Sidecar, *, later: bool) -> list[types.Registration]:
    """Registers the handlers of requests about memory files: at `initialize` those that the editor must know then,
    `later` the others. Returns the registrations to send to the editor."""
    from lerim.lsp.features import language

    features = [one for one in language.LANGUAGE_FEATURES if language.can_register_later(sidecar, one) is later]
    for one in features:
        module = f"features.{one.package}.{one.module}"
        _register_handler(sidecar, EditorMessage(one.method, module, one.function, None if later else one.options))
    return language.make_registrations(sidecar, features) if later else []


def _make_handler(sidecar: Sidecar, method: str, module: str, name: str) -> Callable[[Any], Awaitable[Any]]:
    """Wraps the function `name` of `lerim.lsp.<module>`, which is imported at its first call."""
    LAZY_HANDLERS.add((module, name))

    async def call(params: Any) -> Any:
        if method not in AUTOMATIC:
            sidecar.note_activity()
        return await getattr(importlib.import_module(f"lerim.lsp.{module}"), name)(sidecar, params)

    return call
