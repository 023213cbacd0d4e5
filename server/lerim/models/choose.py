"""Chooses the model to ask, if any. Nothing is sent unless the person's settings name a provider: a key that happens to
be in the environment is not consent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from lerim.config import (
    OTHER_KEY_VARIABLE,
    PROVIDERS,
    STORED_KEY_PREFIX,
    EditorModel,
    EditorState,
    Role,
    RoleName,
    find_address_fault,
    is_on_this_machine,
    is_same_service,
    read_editor_state,
)
from lerim.errors import ModelGoneError, ModelKeyError, Problem, SettingsError
from lerim.models.agents import AGENTS, find_program, missing_program_problem
from lerim.models.model import Model
from lerim.models.services import local_servers
from lerim.paths import Home

if TYPE_CHECKING:
    from lerim.config import Settings


AGENT_SECONDS = 300.0
"""The timeout in seconds for an agent's program if the settings do not change the default timeout."""
MOST_WINDOW_TOKENS = 100_000
"""The largest window for an agent's program, in o200k tokens: the program adds its own instructions."""


def choose_model(
    role_name: RoleName,
    settings: Settings,
    environ: Mapping[str, str],
    editor: EditorState | None,
    servers: Mapping[str, str] = local_servers.LOCAL_SERVERS,
) -> tuple[Model | None, list[Problem]]:
    """Returns the model the settings name for a role, with its key from the environment and its windows reduced to its
    limits.

    The model is None if the settings name none, if `auto` finds none, or if there is a problem, including any error
    in the role's settings.

    With `auto`, and with `ollama` without a model name, servers on this machine are asked for their models, for at
    most two seconds. `servers` are the names and base URLs `auto` tries; if it is empty, no server is asked
    and none is found. `editor` is the result of `read_editor_state`.
    """
    if faults := settings.faults[role_name]:
        return None, list(faults)
    role = settings.roles[role_name]
    where = f"roles.{role_name}" if settings.values[f"roles.{role_name}.provider"] else "roles.extract"
    chosen = _choose_for_role(role, where, environ, editor, servers)
    if isinstance(chosen, Problem):
        return None, [chosen]
    if chosen is None:
        return None, []
    return _fit_windows(replace(chosen, role=role_name), settings.home, editor), []


def find_extraction_model(settings: Settings, environ: Mapping[str, str]) -> Model:
    """Returns the extraction model of these settings. Raises SettingsError, ModelKeyError or ModelGoneError if there is
    none to ask."""
    model, problems = choose_model("extract", settings, environ, read_editor_state(environ)[0])
    if model is not None:
        return model
    todo = "Choose one with `lerim model use`; `lerim model list` shows the available models."
    if not problems:
        raise SettingsError("No model is chosen, or none was found.", where="roles.extract", todo=todo)
    error_type = {"model-key": ModelKeyError, "model-gone": ModelGoneError}.get(problems[0].code, SettingsError)
    raise error_type(problems[0].message, where=problems[0].path, todo=todo)


def key_variables(provider: str, base_url: str = "") -> tuple[str, ...]:
    """Returns the environment variables that may contain the key for a provider at a valid address; "" is the
    provider's default address.

    A provider's key is used for its own host only: whoever changes the address in the settings must not receive the
    key.
    """
    provider_entry = PROVIDERS[provider]
    if not base_url or (provider_entry.base_url and is_same_service(base_url, provider_entry.base_url)):
        return provider_entry.key_variables
    return (
        () if base_url in local_servers.LOCAL_SERVERS.values() else (OTHER_KEY_VARIABLE,)
    )  # the well-known local servers need no key


def find_key(provider: str, environ: Mapping[str, str], base_url: str = "") -> tuple[str, str]:
    """Returns the key for a provider at an address from the environment, or "", and the name of the variable for it."""
    variables = key_variables(provider, base_url)
    for variable in variables:
        for name in (variable, STORED_KEY_PREFIX + variable):
            if key := environ.get(name, "").strip():
                return key, variable
    return "", variables[0] if variables else ""


def _choose_for_role(
    role: Role, where: str, environ: Mapping[str, str], editor: EditorState | None, servers: Mapping[str, str]
) -> Model | Problem | None:
    base_url = (role.base_url or "").rstrip("/")
    if base_url and (fault := find_address_fault(base_url)):
        return Problem("settings", f"{where}.base_url", f"The address of the model {fault}. No model was used.")
    match role.provider:
        case "none":
            return None
        case "auto":
            return _choose_automatically(role, where, base_url, environ, editor, servers)
        case "editor":
            return _choose_editor_model(role, where, editor)
        case "command":
            return _choose_command(role, where)
        case provider if provider in AGENTS:
            return _choose_agent(role, where, environ)
    if role.provider == "ollama" and not role.model:
        return _choose_ollama(role, base_url or PROVIDERS["ollama"].base_url) if servers else None
    return _choose_service(role, where, base_url, environ)


def _choose_automatically(
    role: Role,
    where: str,
    base_url: str,
    environ: Mapping[str, str],
    editor: EditorState | None,
    servers: Mapping[str, str],
) -> Model | Problem | None:
    """Returns the first model available: from a provider whose key is set, from the editor if the person allowed it, or
    from a server on this machine. If the settings name an address, only the server there is tried."""
    if not base_url:
        for provider in PROVIDERS:
            key, variable = find_key(provider, environ)
            if key:
                chosen = _choose_service(replace(role, provider=provider), where, "", environ)
                return replace(chosen, why=f"{variable} is set") if isinstance(chosen, Model) else chosen
        if editor and (
            editor_model := _match_editor_model(role.model, [model for model in editor.models if model.allowed])
        ):
            return replace(_make_model(role, "editor", editor_model.id), why="the editor offers it and you allowed it")
    if base_url and not is_on_this_machine(base_url):
        message = (
            "With provider auto, the address must be on this machine. Name the provider, or leave the address out."
        )
        return Problem("settings", f"{where}.base_url", message)
    names = {address: name for name, address in servers.items()}
    addresses = [base_url] if base_url and servers else list(servers.values())
    for server in local_servers.find_local_servers(addresses):
        offered = [name for name in server.models if role.model in ("", name)]
        if offered:
            why = f"{names.get(server.base_url, 'a server')} answers at {server.base_url}"
            provider = "ollama" if server.base_url == PROVIDERS["ollama"].base_url else "openai"
            return replace(_make_model(role, provider, offered[0], server.base_url), why=why)
    return None


def _choose_service(role: Role, where: str, base_url: str, environ: Mapping[str, str]) -> Model | Problem:
    provider = PROVIDERS[role.provider]
    base_url = base_url or provider.base_url
    key, variable = find_key(role.provider, environ, base_url)
    if not key and not is_on_this_machine(base_url):
        key_owner = base_url if variable == OTHER_KEY_VARIABLE else role.provider
        todo = f'Set {variable} in the environment, or {where}.provider to "none".'
        return Problem("model-key", variable, f"There is no key for {key_owner}, so no model was used. {todo}")
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        message = f"The value of {variable} cannot be a key, so no model was used. Set it again."
        return Problem("model-key", variable, message)
    model = _make_model(role, role.provider, role.model or provider.default_model, base_url)
    return replace(model, key=key, key_variable=variable)


def _choose_ollama(role: Role, base_url: str) -> Model | Problem:
    servers = local_servers.find_local_servers([base_url])
    if not servers:
        message = f"Ollama does not answer at {base_url}, so no model was used. Start it, or name its model."
        return Problem("model-silent", base_url, message)
    if not servers[0].models:
        message = "Ollama has no model. Download one with `ollama pull NAME`."
        return Problem("model-gone", base_url, message)
    return replace(_make_model(role, "ollama", servers[0].models[0], base_url), why="it is the first that Ollama lists")


def _choose_editor_model(role: Role, where: str, editor: EditorState | None) -> Model | Problem:
    if editor is None:
        message = "The editor's model can be used only from the editor: the sessions wait for a sync there."
        return Problem("model-gone", where, message)
    if not editor.models:
        message = "The editor offers no model. Sign in to GitHub Copilot or install another extension that offers one."
        return Problem("model-gone", where, message)
    editor_model = _match_editor_model(role.model, [model for model in editor.models if model.allowed is not False])
    if editor_model is not None:
        return _make_model(role, "editor", editor_model.id)
    if _match_editor_model(role.model, editor.models):
        message = "The editor does not let Lerim use its model. Run “Lerim: Choose Model” to allow it."
        return Problem("model-key", where, message)
    message = (
        f"The editor offers no model {role.model!r}; it has {', '.join(model.id for model in editor.models[:20])}."
    )
    return Problem("model-gone", f"{where}.model", message)


def _match_editor_model(wanted: str, models: list[EditorModel] | tuple[EditorModel, ...]) -> EditorModel | None:
    """Returns the model that a setting names by id, or else by family or name; if the setting is empty, the first
    model. Models that the person allowed come before models they were not asked about."""
    models = sorted(models, key=lambda model: model.allowed is not True)
    for field_ in ("id", "family", "name"):
        for model in models:
            if wanted in ("", getattr(model, field_)):
                return model
    return None


def _choose_command(role: Role, where: str) -> Model | Problem:
    if not role.command:
        message = 'No command is set. Set it as a list, such as ["claude", "-p"].'
        return Problem("settings", f"{where}.command", message)
    model = _make_model(role, "command", role.model or PurePath(role.command[0]).name)
    return replace(model, command=role.command, why="the settings name it")


def _choose_agent(role: Role, where: str, environ: Mapping[str, str]) -> Model | Problem:
    program = find_program(role.provider, environ)
    if program is None:
        return missing_program_problem(role.provider, where)
    agent = AGENTS[role.provider]
    model = _make_model(role, role.provider, role.model or agent.model)
    window = min(model.max_window_tokens, MOST_WINDOW_TOKENS)
    overlap = min(model.window_overlap_tokens, window // 4)
    why = model.why if role.model else f"it is {agent.name}'s default"
    seconds = AGENT_SECONDS if role.timeout == Role().timeout else role.timeout
    return replace(
        model, command=(program,), timeout=seconds, max_window_tokens=window, window_overlap_tokens=overlap, why=why
    )


def _make_model(role: Role, provider: str, name: str, base_url: str = "") -> Model:
    return Model(
        provider=provider,
        name=name,
        base_url=base_url,
        key_variable="",
        timeout=role.timeout,
        max_window_tokens=role.max_window_tokens,
        window_overlap_tokens=role.window_overlap_tokens,
        key="",
        wire=PROVIDERS[provider].wire,
        fallbacks=tuple(other for other in role.fallback_models if other != name),
        why="the settings name it" if role.model else "it is the provider's default",
    )


def _fit_windows(model: Model, home: Home, editor: EditorState | None) -> Model:
    from lerim.models import limits
    from lerim.models.money import consent

    known_limits = [consent.load_known_models(home)[0].limits.get(model.label, 0)]
    if model.wire == "editor" and editor is not None:
        known_limits += [
            editor_model.max_input_tokens for editor_model in editor.models if editor_model.id == model.name
        ]
    smallest_limit = min((tokens for tokens in known_limits if tokens > 0), default=None)
    window = limits.choose_window_tokens(model, smallest_limit)
    if window == model.max_window_tokens:
        return model
    return replace(model, max_window_tokens=window, window_overlap_tokens=min(model.window_overlap_tokens, window // 4))
