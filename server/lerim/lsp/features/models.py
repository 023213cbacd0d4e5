"""The models to choose from, the status of the chosen one, the person's consent to pay for it, and tests of it with one
tiny question or one session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

from lerim.config import EDITOR_VARIABLE, PROVIDERS, Role, load
from lerim.jobs import FailureLine, JobError, ModelTestLine, SessionTrialLine
from lerim.lsp.protocol import (
    AllowParams,
    ChoicesView,
    ModelTestView,
    NoParams,
    OptionView,
    OutcomeView,
    ProposalView,
    RootParams,
    SessionTrialView,
)
from lerim.lsp.window import editor_models
from lerim.models import ModelsView, ModelView, RoleView, Usage, consent, key_variables, list_models, load_model_view
from lerim.paths import Home
from lerim.project import Project

if TYPE_CHECKING:
    from lerim.lsp.window import Sidecar

MAX_SERVER_MODELS = 30
"""Most models listed for one server."""
PROVIDER_NAMES: Mapping[str, str] = {
    "openrouter": "OpenRouter",
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "zai": "Z.ai",
    "gemini": "Google Gemini",
}
ResultLine = TypeVar("ResultLine", ModelTestLine, SessionTrialLine)


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
    for agent in view.agents:
        if agent.program:
            chosen = role.provider == agent.provider
            model = role.model if chosen else ""
            yield OptionView("agent", agent.provider, model, name=agent.name, detail=agent.price, chosen=chosen)
    for one in view.editor:
        chosen = role.provider == "editor" and current.model == f"editor:{one.id}"
        yield OptionView("editor", "editor", one.id, name=one.name or one.id, detail=one.vendor, chosen=chosen)
    role_provider = PROVIDERS.get(role.provider)
    role_address = (
        (role.base_url.rstrip("/") or role_provider.base_url)
        if role_provider and role_provider.wire in ("chat", "anthropic")
        else ""
    )
    addresses = [server.base_url for server in view.servers]
    for server in view.servers:
        is_role_server = server.base_url == role_address
        provider = role.provider if is_role_server else "ollama" if server.name == "Ollama" else "openai"
        for name in server.models[:MAX_SERVER_MODELS]:
            chosen = is_role_server and current.model == f"{provider}:{name}"
            detail = server.name or server.base_url
            yield OptionView("server", provider, name, server.base_url, name=name, detail=detail, chosen=chosen)
    for name, provider_view in ((one.name, one) for one in view.providers):
        chosen = role.provider == name and role_address == provider_view.base_url
        # Without an explicit address, the one that lower-priority settings give for this provider would still apply.
        base_url = (
            provider_view.base_url if role_without_editor.provider == name and role_without_editor.base_url else ""
        )
        yield OptionView(
            "key" if provider_view.key else "no-key",
            name,
            role.model or provider_view.model if chosen else provider_view.model,
            base_url,
            name=PROVIDER_NAMES.get(name, name),
            variables=provider_view.key_variables,
            billed=True,
            chosen=chosen,
        )
    if role_provider and role_address not in ("", role_provider.base_url, *addresses):
        variables = list(key_variables(role.provider, role_address))
        yield OptionView(
            "address",
            role.provider,
            role.model,
            role_address,
            name=role_address,
            variables=variables,
            billed=current.billed,
            chosen=True,
        )
    if role.command:
        name = PurePath(role.command[0]).name
        yield OptionView("command", "command", name=name, chosen=role.provider == "command")


async def model_status(sidecar: Sidecar, params: RootParams) -> ModelView:
    """The model of a root, the sessions that wait for it and today's cost. No server is asked."""
    sidecar.require_trust("Asking a model")
    repo = await sidecar.find_repo(params.root)
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
    """Tests whether the chosen model answers. Cancelling ends the process.

    Raises JobError if the process cannot be started.
    """
    result = await _run_trial(sidecar, ModelTestLine, "model")
    if isinstance(result, FailureLine):
        return ModelTestView(ok=False, code=result.code, message=_failure_message(result))
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
    """Compares what the chosen model and the rules find in one session. Cancelling ends the process.

    Raises JobError if the process cannot be started.
    """
    repo = await sidecar.find_repo(params.root)
    result = await _run_trial(sidecar, SessionTrialLine, "try", "--repo", str(repo.project.root))
    if isinstance(result, FailureLine):
        return SessionTrialView(ok=False, code=result.code, message=_failure_message(result))
    trial, usage = result.trial, result.trial.usage
    return SessionTrialView(
        ok=True,
        message="",
        model=trial.model,
        session=trial.session,
        rules=[ProposalView(one.primitive, one.title, one.quote) for one in trial.rules],
        found=[ProposalView(one.primitive, one.title, one.quote) for one in trial.found],
        seconds=usage.seconds,
        tokens=usage.input_tokens + usage.output_tokens,
        cost=_known_cost(usage),
        again=trial.other_waiting,
    )


def _failure_message(result: FailureLine) -> str:
    return result.message.removesuffix(result.todo).strip()


def _known_cost(usage: Usage) -> float | None:
    return usage.cost if usage.cost and not usage.unpriced else None


async def _run_trial(sidecar: Sidecar, result_type: type[ResultLine], *arguments: str) -> ResultLine | FailureLine:
    """Runs a process that asks the chosen model, and returns its result or failure. Raises JobError."""
    sidecar.require_trust("Asking a model")
    result = await sidecar.jobs.run_once(arguments, "test")
    if not isinstance(result, result_type | FailureLine):
        raise JobError("The output of the test was not understood.", todo="See Lerim: Show Log.")
    return result
