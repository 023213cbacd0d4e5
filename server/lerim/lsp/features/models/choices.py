"""The list of models to choose from, by where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from lerim.config import EDITOR_VARIABLE, PROVIDERS, Role, load
from lerim.lsp.protocol import ChoicesView, NoParams, OptionView
from lerim.lsp.window import editor_models
from lerim.models import ModelsView, RoleView, key_variables, list_models
from lerim.paths import Home

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
