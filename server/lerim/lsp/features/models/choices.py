"""What the editor lists to choose a model from: everything there is, by where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from lerim.config import EDITOR_VARIABLE, PROVIDERS, Role, load
from lerim.lsp.protocol import ChoicesView, NoParams, OptionView
from lerim.lsp.window import editor
from lerim.models import ModelsView, RoleView, key_variables, list_models
from lerim.paths import Home

if TYPE_CHECKING:
    from lerim.lsp.window import Sidecar

MOST_OF_A_SERVER = 30
"""Models of one server that are listed."""
NAMES: Mapping[str, str] = {
    "openrouter": "OpenRouter",
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "zai": "Z.ai",
    "gemini": "Google Gemini",
}


async def list_choices(sidecar: Sidecar, _params: NoParams) -> ChoicesView:
    """Everything there is to ask. Servers of this machine are asked what they have, on loopback alone.

    Raises SettingsError where LERIM_CONFIG names no file.
    """
    sidecar.trust("Choosing a model")
    environ, now = editor.make_job_environ(sidecar), sidecar.clock().astimezone()
    return await sidecar.run(_choices, sidecar.home, environ, now)


def _choices(home: Home, environ: Mapping[str, str], now: datetime) -> ChoicesView:
    view = list_models(home, environ, now)
    role = load.load_settings(environ, home)[0].roles["extract"]
    below = load.load_settings({name: value for name, value in environ.items() if name != EDITOR_VARIABLE}, home)[
        0
    ].roles["extract"]
    now_asked = next(one for one in view.roles if one.role == "extract")
    return ChoicesView(
        model=now_asked.model,
        provider=now_asked.provider,
        billed=now_asked.billed,
        budget_usd=view.budget,
        options=list(list_options(view, role, below, now_asked)),
        problems=[*view.problems, *now_asked.problems],
    )


def list_options(view: ModelsView, role: Role, below: Role, asked: RoleView) -> Iterator[OptionView]:
    """One option for each thing that can be chosen, in the order they are shown.

    `role` is what the settings say now, `below` what they would say without the editor's, `asked` what that leads to.
    """
    yield OptionView("none", "none", chosen=role.provider == "none")
    yield OptionView(
        "auto", "auto", name=asked.model if role.provider == "auto" else "", chosen=role.provider == "auto"
    )
    for agent in view.agents:
        if agent.program:
            chosen = role.provider == agent.provider
            model = role.model if chosen else ""
            yield OptionView("agent", agent.provider, model, name=agent.name, detail=agent.price, chosen=chosen)
    for one in view.editor:
        chosen = role.provider == "editor" and asked.model == f"editor:{one.id}"
        yield OptionView("editor", "editor", one.id, name=one.name or one.id, detail=one.vendor, chosen=chosen)
    named = PROVIDERS.get(role.provider)
    at = (role.base_url.rstrip("/") or named.base_url) if named and named.wire in ("chat", "anthropic") else ""
    addresses = [server.base_url for server in view.servers]
    for server in view.servers:
        here = server.base_url == at
        provider = role.provider if here else "ollama" if server.name == "Ollama" else "openai"
        for name in server.models[:MOST_OF_A_SERVER]:
            chosen = here and asked.model == f"{provider}:{name}"
            detail = server.name or server.base_url
            yield OptionView("server", provider, name, server.base_url, name=name, detail=detail, chosen=chosen)
    for name, provider_ in ((one.name, one) for one in view.providers):
        chosen = role.provider == name and at == provider_.base_url
        # A lower layer's address for this provider would go on counting if none were written.
        base_url = provider_.base_url if below.provider == name and below.base_url else ""
        yield OptionView(
            "key" if provider_.key else "no-key",
            name,
            role.model or provider_.model if chosen else provider_.model,
            base_url,
            name=NAMES.get(name, name),
            variables=provider_.key_variables,
            billed=True,
            chosen=chosen,
        )
    if named and at not in ("", named.base_url, *addresses):
        variables = list(key_variables(role.provider, at))
        yield OptionView(
            "address", role.provider, role.model, at, name=at, variables=variables, billed=asked.billed, chosen=True
        )
    if role.command:
        name = PurePath(role.command[0]).name
        yield OptionView("command", "command", name=name, chosen=role.provider == "command")
