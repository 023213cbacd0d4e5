"""Whether a model answers: one tiny question, asked as a sync would ask."""

from __future__ import annotations

import msgspec
from dspy import lm15

from lerim.errors import ModelError, ModelKeyError
from lerim.extraction.redact import clean
from lerim.models.choose import Model
from lerim.models.engine import Engine
from lerim.models.faults import said
from lerim.models.usage import Step, Usage

QUESTION = "Reply with the one word: ready"
SHOWN = 200
"""Characters of the answer that are told."""


class Trial(msgspec.Struct, frozen=True):
    """What came back: the beginning of the answer, what it took, and what did not go straight."""

    model: str
    answer: str
    usage: Usage
    steps: list[Step]


def tried(model: Model, engine: Engine) -> Trial:
    """Asks the model, which `engine` leads to, and returns what came back.

    Raises ModelError: ModelKeyError where the key or the account is at fault; BudgetError, SpendingError,
    ModelGoneError.
    """
    request = lm15.Request(model=model.name, messages=(lm15.Message.user(QUESTION),), system="You are being tested.")
    try:
        response = engine.complete(request)
    except (lm15.AuthError, lm15.BillingError) as error:
        todo = "Set a valid key in the environment, or choose another model."
        raise ModelKeyError(_message(model, error), where=model.key_variable, todo=todo) from error
    except lm15.LM15Error as error:
        raise ModelError(_message(model, error), where=model.base_url, todo="See `lerim model list`.") from error
    answer = " ".join(clean((response.text or "")[:10_000]).split())[:SHOWN]
    return Trial(_asked(model, engine), answer, engine.usage, engine.steps)


def _asked(model: Model, engine: Engine) -> str:
    """The label of the model that answered, which may be one that stood in."""
    return engine.spent[-1].model if engine.spent else model.label


def _message(model: Model, error: lm15.LM15Error) -> str:
    return f"{model.label} did not answer: {clean(said(error)).rstrip('.')}."
