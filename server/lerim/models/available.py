"""Which models there are to ask, which is chosen, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from lerim import config, editor_settings
from lerim.config import Settings
from lerim.errors import Problem, SpendingError
from lerim.models import consent, local
from lerim.models.agents import AGENTS, find_program, price_of
from lerim.models.choose import choose, key_of
from lerim.models.consent import Known
from lerim.models.providers import PROVIDERS, ROLES, RoleName
from lerim.models.spending import today
from lerim.paths import Home
from lerim.sessions.readers import ROOTS


class ProviderView(msgspec.Struct, frozen=True):
    """A provider that a key leads to: its address, its usual model, whose variables hold its key, whether one does."""

    name: str
    base_url: str
    model: str
    key_variables: list[str]
    key: bool


class ServerView(msgspec.Struct, frozen=True):
    """A server of models on this machine that answered."""

    name: str
    base_url: str
    models: list[str]


class AgentView(msgspec.Struct, frozen=True):
    """An installed coding agent: its program ("" where only its sessions were found), its usual model, and what its
    answers are paid with."""

    provider: str
    name: str
    program: str
    model: str
    price: str


class RoleView(msgspec.Struct, frozen=True):
    """What a role's settings lead to. `model` is "" where none is asked; `limit` is what the model told it takes.

    `allowed`: it may be asked, because it is not paid by the token or the person agreed.
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
    """Everything there is to ask, as `model list --json` prints it.

    A role without a provider of its own is not listed: it is asked as `extract`.
    """

    roles: list[RoleView]
    providers: list[ProviderView]
    servers: list[ServerView]
    agents: list[AgentView]
    editor: list[editor_settings.EditorModel]
    budget: float
    spent_today: float | None
    problems: list[Problem]


def available(home: Home, environ: Mapping[str, str], now: datetime) -> ModelsView:
    """What the settings, the environment, the editor and this machine have; its servers are asked.

    `now` tells which day it is. Raises SettingsError where LERIM_CONFIG names no file.
    """
    settings, problems = config.load(environ, home)
    told = editor_settings.told(environ)[0]
    known, more = consent.load(home)
    spent = None
    try:
        spent = today(home, now).cost
    except SpendingError as error:
        more.append(error.problem())
    names = {address: name for name, address in local.SERVERS.items()}
    wanted = settings.roles["extract"].base_url.rstrip("/")
    addresses = dict.fromkeys([*local.SERVERS.values(), *([wanted] if wanted else [])])
    servers = local.answering(list(addresses), local.NAMED_SECONDS if wanted else local.SECONDS)
    return ModelsView(
        roles=[
            role_view(name, settings, environ, known) for name in ROLES if settings.values[f"roles.{name}.provider"]
        ],
        providers=[
            ProviderView(name, one.base_url, one.default_model, list(one.key_variables), bool(key_of(name, environ)[0]))
            for name, one in PROVIDERS.items()
            if one.key_variables
        ],
        servers=[ServerView(names.get(one.base_url, ""), one.base_url, list(one.models)) for one in servers],
        agents=list(installed(environ)),
        editor=list(told.models) if told else [],
        budget=settings.budget,
        spent_today=spent,
        problems=[*problems, *more],
    )


def installed(environ: Mapping[str, str]) -> Iterator[AgentView]:
    """The coding agents of this machine: those whose program is there, and those that left sessions. None is
    started."""
    for provider, agent in AGENTS.items():
        program = find_program(provider, environ) or ""
        if program or any(Path(root).is_dir() for root in ROOTS[agent.platform](environ)):
            yield AgentView(provider, agent.name, program, agent.model, price_of(provider, environ))


def role_view(name: RoleName, settings: Settings, environ: Mapping[str, str], known: Known) -> RoleView:
    """What a role leads to; servers of this machine may be asked, as `choose` does."""
    model, problems = choose(name, settings, environ, editor_settings.told(environ)[0])
    role, origin = settings.roles[name], settings.origins[f"roles.{name}.provider"]
    if model is None:
        why = "nothing was found" if role.provider == "auto" else ""
        return RoleView(name, role.provider, origin, "", why, False, False, None, role.max_window_tokens, problems)
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
