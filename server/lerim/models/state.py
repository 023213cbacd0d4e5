"""The state of the model as far as it is known without asking it: which model it is, whether it may be asked, which
work waits for it, and the cost of today.

No server is contacted, so this can be shown at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from lerim.config import RoleName, Settings
from lerim.config import editor as editor_settings
from lerim.errors import Problem, SpendingError
from lerim.models import editor
from lerim.models.choose import choose_model
from lerim.models.model import Model
from lerim.models.money import (
    RoleUsage,
    Usage,
    WaitingWork,
    WaitReason,
    compute_cost,
    consent,
    list_spent_today,
    total_usage,
)
from lerim.paths import Home
from lerim.sessions import MODEL_JOB, Catalog, PendingTurns
from lerim.times import parse_time

TOKENS_PER_BYTE = 0.55
"""Tokens shown per packed byte in the catalog."""
TOKENS_PER_TOOL_CALL = 140
TOKENS_PER_TURN = 8
PROMPT_TOKENS = 1_850
"""Tokens of instructions sent with each window."""
ANSWER_TOKENS = 3_000
"""Tokens of one answer, including the model's reasoning before it."""


class ModelView(msgspec.Struct, frozen=True):
    """The extraction model of a project, and today's spending. `model` is the model's label, "" if it is not known
    before a sync; `provider` is the one in the settings. `allowed`: the model may be asked without asking the person
    first.

    `today_usd` was spent today on all models and projects, out of `budget_usd` (0: no limit); `spent` is the same
    amount by role and model. `problems` either prevent the model from being asked or make the figures incomplete.
    """

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
    """The model of a role, and the reason `why` it may not be asked, "" if it may. The reason is "none" if no model
    is chosen, "gone" if the settings name one that cannot be asked (the problems say why), or "consent" if the
    person has not agreed."""

    model: Model | None
    why: WaitReason
    problems: list[Problem]


def choose_allowed(
    role: RoleName, settings: Settings, home: Home, environ: Mapping[str, str], *, explicit: bool = True
) -> ModelChoice:
    """Chooses the model of a role and decides whether it may be asked now.

    A billed model needs the person's consent. An editor model that the person was not asked about may make the
    editor show a question, so it needs a job that the person started (`explicit`).
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
    """Loads the state of a project's extraction model; `project` is the project's key, `now` determines the day. Raises
    CatalogError."""
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
    elif model.billed and 0 < settings.daily_budget_usd <= cost:
        why = "budget"
    waiting = WaitingWork(model="" if model is None else model.label, why=why)
    if home.catalog.exists():
        since = parse_time(settings.sync_since, now) if settings.sync_since else None
        with Catalog.open(home) as catalog:
            waiting = msgspec.structs.replace(
                estimate_waiting(catalog, project, model, why, summarizer=summarizer, since=since), why=why
            )
    allowed = model is not None and known.allows(model)
    return ModelView(waiting.model, role.provider, allowed, cost, settings.daily_budget_usd, spent, waiting, problems)


def find_role_model(
    name: RoleName, settings: Settings, environ: Mapping[str, str]
) -> tuple[Model | None, list[Problem]]:
    """Returns the model of a role as far as the settings, the keys and the editor determine it, and the reasons if
    there is none."""
    role = settings.roles[name]
    if settings.faults[name]:
        return None, list(settings.faults[name])
    if role.provider == "ollama" and not role.model:
        return None, []  # only Ollama knows which model that is
    return choose_model(name, settings, environ, editor_settings.read_editor_state(environ)[0], servers={})


def estimate_waiting(
    catalog: Catalog,
    project: str,
    model: Model | None,
    why: WaitReason = "",
    *,
    summarizer: Model | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    kinds: Sequence[str] = (MODEL_JOB,),
) -> WaitingWork:
    """Estimates the work that waits in a project for its extraction model (None: none is chosen) and for the model
    that then summarizes the same sessions. The cost covers both; it is None if neither is billed or if a price is
    not known. `kinds` are the kinds of jobs that count."""
    pending = catalog.count_pending_turns(project, since, until, kinds)
    if model is None:
        return WaitingWork(pending.sessions, estimate_shown_tokens(pending), why=why or "none")
    if not pending.sessions:
        return WaitingWork(model=model.label, why=why)
    windows = pending.sessions + estimate_shown_tokens(pending) // max(1, model.max_window_tokens)
    overlaps = (windows - pending.sessions) * model.window_overlap_tokens
    usages = [
        (
            model,
            Usage(
                windows, estimate_shown_tokens(pending) + overlaps + windows * PROMPT_TOKENS, windows * ANSWER_TOKENS
            ),
        )
    ]
    if summarizer is not None:
        summary_tokens = round(pending.size * TOKENS_PER_BYTE) + pending.turns * TOKENS_PER_TURN
        usages.append((summarizer, Usage(windows, summary_tokens + windows * PROMPT_TOKENS, windows * ANSWER_TOKENS)))
    tokens = sum(usage.input_tokens for _, usage in usages)
    costs = [compute_cost(asked_model.name, usage) for asked_model, usage in usages if asked_model.billed]
    known_costs = [cost for cost in costs if cost is not None]
    cost = round(sum(known_costs), 4) if known_costs and len(known_costs) == len(costs) else None
    return WaitingWork(pending.sessions, tokens, cost, model.label, why)


def estimate_shown_tokens(pending: PendingTurns) -> int:
    """Estimates the number of tokens that a model is shown of these turns."""
    return round(
        pending.size * TOKENS_PER_BYTE + pending.calls * TOKENS_PER_TOOL_CALL + pending.turns * TOKENS_PER_TURN
    )
