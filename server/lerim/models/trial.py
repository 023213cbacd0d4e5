"""Tests whether a model answers: asks one tiny question, the same way a sync asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

import msgspec

from lerim.config import editor, load
from lerim.errors import ModelGoneError, ModelKeyError, SettingsError
from lerim.models.choose import choose_model
from lerim.models.dspy_import import lm15
from lerim.models.editor import EditorBridge
from lerim.models.engine import Engine
from lerim.models.model import Model
from lerim.models.money import DayBudget, ModelStep, Usage
from lerim.models.plain_request import convert_error
from lerim.paths import Home
from lerim.redaction import clean_text

_QUESTION = "Reply with the one word: ready"
MOST_SHOWN_CHARACTERS = 200
"""The number of characters of the answer that are shown."""
MOST_TRIAL_TOKENS = 500
"""The most tokens of the answer, reasoning included. With more, an expensive model's reservation could exceed a day's
budget."""
MOST_SECONDS = 60.0
"""A person waits for the answer, so a later answer counts as none."""


class ModelTrial(msgspec.Struct, frozen=True):
    """The result of a trial: the beginning of the answer, its usage, and any irregular events."""

    model: str
    answer: str
    usage: Usage
    steps: list[ModelStep]


def probe_chosen_model(
    home: Home, environ: Mapping[str, str], cancelled: Callable[[], bool], bridge: EditorBridge
) -> ModelTrial:
    """Asks the model the settings name; an editor model is asked over `bridge`.

    Raises the errors of `probe_model`, and SettingsError, ModelKeyError or ModelGoneError if there is no model to
    ask.
    """
    settings, _ = load.load_settings(environ, home)
    model = find_extraction_model(settings, environ)
    budget = DayBudget(home, settings.daily_budget_usd, lambda: datetime.now().astimezone())
    model = replace(model, timeout=min(model.timeout, MOST_SECONDS))
    return probe_model(
        model,
        Engine(
            model,
            cancelled,
            home=home,
            environ=environ,
            budget=budget,
            bridge=bridge,
            max_output_tokens=MOST_TRIAL_TOKENS,
        ),
    )


def find_extraction_model(settings: load.Settings, environ: Mapping[str, str]) -> Model:
    """Returns the extraction model of these settings. Raises SettingsError, ModelKeyError or ModelGoneError if there is
    none to ask."""
    model, problems = choose_model("extract", settings, environ, editor.read_editor_state(environ)[0])
    if model is None:
        message = problems[0].message if problems else "No model is chosen, or none was found."
        error_type = {"model-key": ModelKeyError, "model-gone": ModelGoneError}.get(
            problems[0].code if problems else ""
        )
        raise (error_type or SettingsError)(message, todo="See `lerim model list`.")
    return model


def probe_model(model: Model, engine: Engine) -> ModelTrial:
    """Asks the model through its `engine` and returns the result.

    Raises ModelError: BudgetError and SpendingError too, and ModelKeyError if the key or the account is at fault.
    """
    request = lm15.Request(model=model.name, messages=(lm15.Message.user(_QUESTION),), system="You are being tested.")
    try:
        response = engine.complete(request)
    except lm15.LM15Error as error:
        raise convert_error(error, model, "did not answer", "extract") from error
    answer = " ".join(clean_text(response.text or "").split())[:MOST_SHOWN_CHARACTERS]
    return ModelTrial(_answering_label(model, engine), answer, engine.usage, engine.steps)


def _answering_label(model: Model, engine: Engine) -> str:
    """Returns the label of the model that answered, which may be a fallback."""
    return engine.role_usage[-1].model if engine.role_usage else model.label
