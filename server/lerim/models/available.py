"""Lists the available models, and says which one is chosen and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from lerim.config import PROVIDERS, ROLES, RoleName, Settings, load
from lerim.config import editor as editor_settings
from lerim.errors import Problem, SpendingError
from lerim.models.agents import AGENTS, describe_payment, find_program
from lerim.models.choose import choose_model, find_key
from lerim.models.money import KnownModels, consent, find_price, total_spent_today, unpriced_error
from lerim.models.services import local_servers
from lerim.paths import Home
from lerim.sessions import ROOT_FINDERS


class ProviderView(msgspec.Struct, frozen=True):
    """A provider that needs a key: its address, its default model, the variables that may contain its key, and whether
    one does."""

    name: str
    base_url: str
    model: str
    key_variables: list[str]
    key: bool


class ServerView(msgspec.Struct, frozen=True):
    """A model server on this machine that answered."""

    name: str
    base_url: str
    models: list[str]


class InstalledAgentView(msgspec.Struct, frozen=True):
    """An installed coding agent: its program ("" if only its sessions were found), its default model, and how its
    answers are paid for."""

    provider: str
    name: str
    program: str
    model: str
    price: str


class RoleView(msgspec.Struct, frozen=True):
    """The model that is chosen by a role's settings.

    `model` is "" if none is asked; `limit` is the token limit that the model reported. `allowed`: it may be asked,
    because it is not billed or because the person agreed.
    """

    role: RoleName
    provider: str
    origin: str
    model: str
    why: str
    billed: bool
    allowed: bool
    limit: int | None
    max_window_tokens: int
    problems: list[Problem]


class ModelsView(msgspec.Struct, frozen=True):
    """All models that can be asked, as `model list --json` prints them.

    A role without its own provider is not listed: it uses the model of `extract`.
    """

    roles: list[RoleView]
    providers: list[ProviderView]
    servers: list[ServerView]
    agents: list[InstalledAgentView]
    editor: list[editor_settings.EditorModel]
    budget: float
    spent_today: float | None
    problems: list[Problem]


def list_models(home: Home, environ: Mapping[str, str], now: datetime) -> ModelsView:
    """Lists the models of the settings, the environment, the editor and this machine; contacts the model servers on
    this machine.

    `now` determines the day. Raises SettingsError if LERIM_CONFIG names no file.
    """
    settings, problems = load.load_settings(environ, home)
    editor_state = editor_settings.read_editor_state(environ)[0]
    known, more_problems = consent.load_known_models(home)
    spent_usd = None
    try:
        spent_usd = total_spent_today(home, now).cost
    except SpendingError as error:
        more_problems.append(error.problem())
    names = {address: name for name, address in local_servers.LOCAL_SERVERS.items()}
    configured_address = settings.roles["extract"].base_url.rstrip("/")
    addresses = dict.fromkeys(
        [*local_servers.LOCAL_SERVERS.values(), *([configured_address] if configured_address else [])]
    )
    servers = local_servers.find_local_servers(list(addresses))
    return ModelsView(
        roles=[
            make_role_view(name, settings, environ, known)
            for name in ROLES
            if settings.values[f"roles.{name}.provider"]
        ],
        providers=[
            ProviderView(
                name, entry.base_url, entry.default_model, list(entry.key_variables), bool(find_key(name, environ)[0])
            )
            for name, entry in PROVIDERS.items()
            if entry.key_variables
        ],
        servers=[ServerView(names.get(entry.base_url, ""), entry.base_url, list(entry.models)) for entry in servers],
        agents=list(find_installed_agents(environ)),
        editor=list(editor_state.models) if editor_state else [],
        budget=settings.daily_budget_usd,
        spent_today=spent_usd,
        problems=[*problems, *more_problems],
    )


def find_installed_agents(environ: Mapping[str, str]) -> Iterator[InstalledAgentView]:
    """Yields the coding agents on this machine, found by their program or by sessions they left. Starts none of
    them."""
    for provider, agent in AGENTS.items():
        program = find_program(provider, environ) or ""
        if program or any(Path(root).is_dir() for root in ROOT_FINDERS[agent.platform](environ)):
            yield InstalledAgentView(provider, agent.name, program, agent.model, describe_payment(provider, environ))


def make_role_view(name: RoleName, settings: Settings, environ: Mapping[str, str], known: KnownModels) -> RoleView:
    """Returns the model that a role's settings choose. Like `choose_model`, may contact servers on this machine."""
    model, problems = choose_model(name, settings, environ, editor_settings.read_editor_state(environ)[0])
    role, origin = settings.roles[name], settings.origins[f"roles.{name}.provider"]
    if model is None:
        why = "nothing was found" if role.provider == "auto" else ""
        return RoleView(name, role.provider, origin, "", why, False, False, None, role.max_window_tokens, problems)
    if model.billed and settings.daily_budget_usd and find_price(model.name) is None:
        problems.append(unpriced_error(model.label).problem(f"roles.{name}"))
    return RoleView(
        name,
        role.provider,
        origin,
        model.label,
        model.why,
        model.billed,
        known.allows(model),
        known.limits.get(model.label),
        model.max_window_tokens,
        problems,
    )
