"""Tests whether a model answers: asks one tiny question in the same way as a sync."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

import msgspec

from lerim.config import Settings
from lerim.errors import Problem
from lerim.models.dspy_import import lm15
from lerim.models.editor import EditorBridge
from lerim.models.engine import Engine
from lerim.models.model import Model
from lerim.models.money import DayBudget, ModelStep, Usage
from lerim.models.plain_request import convert_error
from lerim.redaction import clean_text

_QUESTION = "Reply with the one word: ready"
MOST_SHOWN_CHARACTERS = 200
"""Maximum number of characters of the answer that are shown."""
MOST_TRIAL_TOKENS = 500
"""Maximum number of tokens of the answer, including reasoning. With more, the reservation for an expensive model
could exceed a day's budget."""
MOST_SECONDS = 60.0
"""Maximum number of seconds to wait. A person is waiting for the answer, so an answer after that counts as none."""


class ModelTrial(msgspec.Struct, frozen=True):
    """The result of a trial: the beginning of the answer, its usage, any irregular events, and what could not be
    recorded."""

    model: str
    answer: str
    usage: Usage
    steps: list[ModelStep]
    problems: list[Problem]


def probe_model(
    settings: Settings,
    model: Model,
    environ: Mapping[str, str],
    cancelled: Callable[[], bool],
    bridge: EditorBridge | None = None,
) -> ModelTrial:
    """Asks the model and returns the result; an editor model is asked over `bridge`.

    Raises ModelError: BudgetError and SpendingError too, and ModelKeyError if the key or the account is at fault.
    """
    model = replace(model, timeout=min(model.timeout, MOST_SECONDS))
    budget = DayBudget(settings.home, settings.daily_budget_usd, lambda: datetime.now().astimezone())
    engine = Engine(
        model,
        cancelled,
        home=settings.home,
        environ=environ,
        budget=budget,
        bridge=bridge,
        max_output_tokens=MOST_TRIAL_TOKENS,
    )
    request = lm15.Request(model=model.name, messages=(lm15.Message.user(_QUESTION),), system="You are being tested.")
    try:
        response = engine.complete(request)
    except lm15.LM15Error as error:
        raise convert_error(error, model, "did not answer", "extract") from error
    answer = " ".join(clean_text(response.text or "").split())[:MOST_SHOWN_CHARACTERS]
    answering = engine.role_usage[-1].model if engine.role_usage else model.label  # it may be a fallback
    return ModelTrial(answering, answer, engine.usage, engine.steps, budget.problems)
