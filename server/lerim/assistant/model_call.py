"""Putting a question to a model: one plain request, its answer heard as it comes, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence

from dspy import lm15

from lerim.assistant.answer import INSTRUCTIONS, AnswerParser, answer_prompt
from lerim.assistant.cited import Passage
from lerim.errors import LerimError, ModelAwayError, ModelError, ModelGoneError, ModelKeyError, ModelSilentError
from lerim.models import Engine, Model, count_tokens, faults
from lerim.redaction import clean_text

ROOM_TOKENS = 1_500
"""What is sent beside the passages."""


def put_question(engine: Engine, model: Model, question: str, passages: Sequence[Passage], heard: AnswerParser) -> None:
    """Asks of as many of the passages, the best first, as the model takes; `heard` takes the answer.

    Raises ModelError where none came or it broke off: what was heard before stands.
    """
    shown = fitting_passages(question, passages, engine.window_tokens)
    request = lm15.Request(
        model=model.name, messages=(lm15.Message.user(answer_prompt(question, shown)),), system=INSTRUCTIONS
    )
    whole = False
    try:
        response = engine.complete(request, heard.hear)
        whole = response.finish_reason != "length"
    except lm15.LM15Error as error:
        raise _told(error, model) from error
    finally:
        heard.end(whole=whole)


def fitting_passages(question: str, passages: Sequence[Passage], tokens: int) -> list[Passage]:
    """The first passages that fit into a model's window together, one at least."""
    kept: list[Passage] = []
    left = tokens - ROOM_TOKENS - count_tokens(question)
    for one in passages:
        left -= count_tokens(one.text) + 30
        if kept and left < 0:
            break
        kept.append(one)
    return kept


def _told(error: lm15.LM15Error, model: Model) -> LerimError:
    message = f"{model.label} did not finish its answer: {clean_text(faults.error_message(error)).rstrip('.')}."
    if isinstance(error, lm15.AuthError | lm15.BillingError):
        todo = "Set a valid key in the environment, or choose another model."
        return ModelKeyError(message, where=model.key_variable, todo=todo)
    if error.code == "gone" or isinstance(error, lm15.UnsupportedModelError):
        return ModelGoneError(message, todo="Choose another model.")
    if isinstance(error, lm15.RateLimitError) or error.code == faults.UNSENT:
        return ModelAwayError(message, todo="Ask again in a moment.")
    if isinstance(error, lm15.TransportError | lm15.TimeoutError | lm15.ServerError):
        return ModelSilentError(message, todo="Ask again, or raise roles.lead.timeout.")
    return ModelError(message, todo="See `lerim model list`.")
