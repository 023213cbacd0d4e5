"""The models to choose from, the status of the chosen one, the person's consent to pay for it, and tests of it with one
tiny question or one session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from lerim.config import EDITOR_VARIABLE, PROVIDERS, Role, load
from lerim.jobs import JobError, SessionTrial, TrialProposal
from lerim.lsp.protocol import (
    AllowParams,
    ChoicesView,
    ModelTestView,
    NoParams,
    OptionView,
    OutcomeView,
    RootParams,
)
from lerim.lsp.window import editor_models
from lerim.models import (
    ModelsView,
    ModelTrial,
    ModelView,
    RoleView,
    Usage,
    consent,
    key_variables,
    list_models,
    load_model_view,
    summarize_steps,
)
from lerim.paths import Home
from lerim.project import Project

if TYPE_CHECKING:
    from lerim.lsp.window import Sidecar

MAX_SERVER_MODELS = 30
"""Most models listed for one server."""


class SessionTrialView(ModelTestView, frozen=True):
    """What the rules and the chosen model find in one session. If not `ok`, `code` and `message` describe the error;
    `code` is "not-found" if no session waits for a model. `again` is the number of other sessions that wait."""

    session: str = ""
    rules: list[TrialProposal] = msgspec.field(default_factory=list)
    found: list[TrialProposal] = msgspec.field(default_factory=list)
    again: int = 0


async def list_choices(sidecar: Sidecar, _params: NoParams) -> ChoicesView:
    """Lists all models that can be chosen. Local servers are asked for their models, on loopback only.

    Raises SettingsError if LERIM_CONFIG names no file.
    """
    sidecar.require_trust("Choosing a model")
    environ, now = editor_models.make_job_environ(sidecar), sidecar.clock().astimezone()
    return await sidecar.run_in_thread(_load_choices, sidecar.home, environ, now)


def _load_choices(home: Home, environ: Mapping[str, str], now: datetime) -> ChoicesView:
    view = list_models(home, environ, now)
    role = load.load_settings(environ, home)[0].roles["extract"]
    role_without_editor = load.load_settings(
        {name: value for name, value in environ.items() if name != EDITOR_VARIABLE}, home
    )[0].roles["extract"]
    current_role = next(one for one in view.roles if one.role == "extract")
    return ChoicesView(
        model=current_role.model,
        provider=current_role.provider,
        billed=current_role.billed,
        budget_usd=view.budget,
        options=list(list_options(view, role, role_without_editor, current_role)),
        problems=[*view.problems, *current_role.problems],
    )


def list_options(view: ModelsView, role: Role, role_without_editor: Role, current: RoleView) -> Iterator[OptionView]:
    """Yields one option for each possible choice, in display order.

    `role` is the configured role, `role_without_editor` the one without the editor's settings, and `current` the model
    that `role` resolves to.
    """
    yield OptionView("none", "none", chosen=role.provider == "none")
    yield OptionView(
        "auto", "auto", name=current.model if role.provider == "auto" else "", chosen=role.provider == "auto"
    )
    address = _find_address(role)
    yield from _list_agents(view, role)
    yield from _list_editor_models(view, role, current)
    yield from _list_server_models(view, role, address, current)
    yield from _list_services(view, role, address, role_without_editor)
    yield from _list_other_address(view, role, address, current)
    if role.command:
        name = PurePath(role.command[0]).name
        yield OptionView("command", "command", name=name, chosen=role.provider == "command")


def _find_address(role: Role) -> str:
    """Returns the address that the configured model is called at; "" if none is."""
    provider = PROVIDERS.get(role.provider)
    if provider is None or provider.wire not in ("chat", "anthropic"):
        return ""
    return role.base_url.rstrip("/") or provider.base_url


def _list_agents(view: ModelsView, role: Role) -> Iterator[OptionView]:
    for agent in view.agents:
        if agent.program:
            chosen = role.provider == agent.provider
            model = role.model if chosen else ""
            yield OptionView("agent", agent.provider, model, name=agent.name, detail=agent.price, chosen=chosen)


def _list_editor_models(view: ModelsView, role: Role, current: RoleView) -> Iterator[OptionView]:
    for one in view.editor:
        chosen = role.provider == "editor" and current.model == f"editor:{one.id}"
        yield OptionView("editor", "editor", one.id, name=one.name or one.id, detail=one.vendor, chosen=chosen)


def _list_server_models(view: ModelsView, role: Role, address: str, current: RoleView) -> Iterator[OptionView]:
    for server in view.servers:
        is_role_server = server.base_url == address
        provider = role.provider if is_role_server else "ollama" if server.name == "Ollama" else "openai"
        for name in server.models[:MAX_SERVER_MODELS]:
            chosen = is_role_server and current.model == f"{provider}:{name}"
            detail = server.name or server.base_url
            yield OptionView("server", provider, name, server.base_url, name=name, detail=detail, chosen=chosen)


def _list_services(view: ModelsView, role: Role, address: str, role_without_editor: Role) -> Iterator[OptionView]:
    for provider in view.providers:
        chosen = role.provider == provider.name and address == provider.base_url
        # Without an explicit address, the one that lower-priority settings give for this provider would still apply.
        has_other_address = role_without_editor.provider == provider.name and role_without_editor.base_url
        yield OptionView(
            "key" if provider.key else "no-key",
            provider.name,
            role.model or provider.model if chosen else provider.model,
            provider.base_url if has_other_address else "",
            name=PROVIDERS[provider.name].title or provider.name,
            variables=provider.key_variables,
            billed=True,
            chosen=chosen,
        )


def _list_other_address(view: ModelsView, role: Role, address: str, current: RoleView) -> Iterator[OptionView]:
    """Yields the configured address if it is neither the provider's own nor that of a server on this machine."""
    known = ("", *(server.base_url for server in view.servers))
    if address in known or address == PROVIDERS[role.provider].base_url:
        return
    yield OptionView(
        "address",
        role.provider,
        role.model,
        address,
        name=address,
        variables=list(key_variables(role.provider, address)),
        billed=current.billed,
        chosen=True,
    )


async def model_status(sidecar: Sidecar, params: RootParams) -> ModelView:
    """Returns the model of a root, the sessions that wait for it and today's cost. No server is asked."""
    repo = await sidecar.find_trusted_repo(params.root, "Asking a model")
    environ, now = editor_models.make_job_environ(sidecar), sidecar.clock().astimezone()
    return await sidecar.run_in_thread(_load_view, repo.project, sidecar.home, environ, now)


async def allow_model(sidecar: Sidecar, params: AllowParams) -> OutcomeView:
    """Stores the person's permanent consent to a paid model. Raises SettingsError if it cannot be stored."""
    sidecar.require_trust("Asking a model")
    await sidecar.run_in_thread(consent.allow_model, sidecar.home, params.label)
    return OutcomeView(True, f"You approved the cost of {params.label}.")


def _load_view(project: Project, home: Home, environ: Mapping[str, str], now: datetime) -> ModelView:
    settings, _ = load.load_settings(environ, home, project.root)  # each sync reports problems of the files
    return load_model_view(project.key, settings, home, environ, now)


async def try_model(sidecar: Sidecar, _params: NoParams) -> ModelTestView:
    """Tests whether the chosen model answers. Cancelling ends the process."""
    sidecar.require_trust("Asking a model")
    try:
        result = await sidecar.jobs.run_once(["model"], "test", ModelTrial)
    except JobError as error:
        return ModelTestView(ok=False, code=error.code, message=error.message)
    usage = result.usage
    return ModelTestView(
        ok=True,
        model=result.model,
        message=f"{result.model} answered.",
        seconds=usage.seconds,
        tokens=usage.input_tokens + usage.output_tokens,
        cost=_known_cost(usage),
    )


async def try_model_on_session(sidecar: Sidecar, params: RootParams) -> SessionTrialView:
    """Compares what the chosen model and the rules find in one session. Cancelling ends the process."""
    repo = await sidecar.find_trusted_repo(params.root, "Asking a model")
    try:
        trial = await sidecar.jobs.run_once(["try", "--repo", str(repo.project.root)], "test", SessionTrial)
    except JobError as error:
        return SessionTrialView(ok=False, code=error.code, message=error.message)
    usage = trial.usage
    return SessionTrialView(
        ok=True,
        message=" ".join(summarize_steps(trial.steps)),
        model=trial.model,
        session=trial.session,
        rules=trial.rules,
        found=trial.found,
        seconds=usage.seconds,
        tokens=usage.input_tokens + usage.output_tokens,
        cost=_known_cost(usage),
        again=trial.other_waiting,
    )


def _known_cost(usage: Usage) -> float | None:
    return usage.cost if usage.cost and not usage.unpriced else None
