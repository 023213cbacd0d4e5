"""What is known of the model before anything is asked of it: which, whether it may be, what waits, what today cost.

Nothing is asked of a server here, so that it can be shown at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from lerim.config import RoleName, Settings
from lerim.config import editor as editor_settings
from lerim.errors import Problem, SpendingError
from lerim.models import editor
from lerim.models.choose import choose_model
from lerim.models.model import Model
from lerim.models.money import RoleUsage, WaitingWork, WaitReason, consent, list_spent_today, total_usage
from lerim.models.waiting import estimate_waiting
from lerim.paths import Home
from lerim.sessions import Catalog
from lerim.times import parse_time


class ModelView(msgspec.Struct, frozen=True):
    """`model` is the label of the one that extracts, "" where none is known before a sync; `provider` that of the
    settings. `allowed`: it may be asked without asking the person. `today_usd` of `budget_usd` (0: no bound) is spent
    today on all models and projects, `spent` is the same by role and model. `problems` keep it from being asked, or the
    figures from being told."""

    model: str
    provider: str
    allowed: bool
    today_usd: float
    budget_usd: float
    spent: list[RoleUsage]
    waits: WaitingWork
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model of a role, and `why` it may not be asked, "" where it may: "none" is chosen, it is "gone" (the settings
    name one that cannot be asked; the problems say why), or the person's "consent" is missing."""

    model: Model | None
    why: WaitReason
    problems: list[Problem]


def choose_allowed(
    role: RoleName, settings: Settings, home: Home, environ: Mapping[str, str], *, explicit: bool = True
) -> ModelChoice:
    """Choose the model of a role, and tell whether it may be asked now.

    A model that is paid for needs the person's consent. A model of the editor that the person was not asked about may
    make the editor ask, so it needs a job that the person started (`explicit`).
    """
    model, problems = choose_model(role, settings, environ, editor_settings.read_editor_state(environ)[0])
    if model is None:
        return ModelChoice(None, "gone" if problems else "none", problems)
    known, unread = consent.load_known_models(home)
    unasked = not explicit and editor.is_undecided(model.wire, model.name, environ)
    return ModelChoice(model, "" if known.allows(model) and not unasked else "consent", [*problems, *unread])


def load_model_view(
    project: str, settings: Settings, home: Home, environ: Mapping[str, str], now: datetime
) -> ModelView:
    """The model of a project (its key) as it stands; `now` tells which day it is. Raises CatalogError."""
    role = settings.roles["extract"]
    model, problems = find_role_model("extract", settings, environ)
    summarizer, _ = find_role_model("summarize", settings, environ)
    known, more = consent.load_known_models(home)
    problems += more
    try:
        spent = list_spent_today(home, now)
    except SpendingError as error:
        spent = []
        problems.append(error.problem())
    cost = total_usage(spent).cost
    why: WaitReason = ""
    if model is None:
        chosen = role.provider != "none" or settings.faults["extract"]
        why = "none" if not chosen else "gone" if problems else ""
    elif not known.allows(model):
        why = "consent"
    elif model.billed and 0 < settings.budget <= cost:
        why = "budget"
    waiting = WaitingWork(model="" if model is None else model.label, why=why)
    if home.catalog.exists():
        since = parse_time(settings.since, now) if settings.since else None
        with Catalog.open(home) as catalog:
            waiting = msgspec.structs.replace(
                estimate_waiting(catalog, project, model, why, summarizer=summarizer, since=since), why=why
            )
    allowed = model is not None and known.allows(model)
    return ModelView(waiting.model, role.provider, allowed, cost, settings.budget, spent, waiting, problems)


def find_role_model(
    name: RoleName, settings: Settings, environ: Mapping[str, str]
) -> tuple[Model | None, list[Problem]]:
    """The model of a role as far as the settings, keys and the editor tell it, and why there is none."""
    role = settings.roles[name]
    if settings.faults[name]:
        return None, list(settings.faults[name])
    if role.provider == "ollama" and not role.model:
        return None, []  # only Ollama itself could tell which
    return choose_model(name, settings, environ, editor_settings.read_editor_state(environ)[0], servers={})
