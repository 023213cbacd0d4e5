"""Sends a question to a model in one plain request and parses the answer as it is streamed."""

from __future__ import annotations

from collections.abc import Sequence

from dspy import lm15

from lerim.assistant.answer_parser import INSTRUCTIONS, AnswerParser, render_prompt
from lerim.assistant.answers import Passage
from lerim.errors import LerimError, ModelAwayError, ModelError, ModelGoneError, ModelKeyError, ModelSilentError
from lerim.models import Engine, Model, count_tokens, faults
from lerim.redaction import clean_text

OVERHEAD_TOKENS = 1_500
"""Tokens reserved for what is sent besides the passages."""


def send_question(
    engine: Engine, model: Model, question: str, passages: Sequence[Passage], parser: AnswerParser
) -> None:
    """Ask a model the question with as many of the passages, best first, as fit into its window. The answer is fed to
    `parser`.

    Raises ModelError if there is no answer or it breaks off; what was parsed until then remains valid.
    """
    shown = fit_passages(question, passages, engine.window_tokens)
    request = lm15.Request(
        model=model.name, messages=(lm15.Message.user(render_prompt(question, shown)),), system=INSTRUCTIONS
    )
    is_complete = False
    try:
        response = engine.complete(request, parser.feed)
        is_complete = response.finish_reason != "length"
    except lm15.LM15Error as error:
        raise _to_lerim_error(error, model) from error
    finally:
        parser.end(is_complete=is_complete)


def fit_passages(question: str, passages: Sequence[Passage], tokens: int) -> list[Passage]:
    """Return the first passages that fit into a window of `tokens` together, at least one."""
    fitting: list[Passage] = []
    tokens_left = tokens - OVERHEAD_TOKENS - count_tokens(question)
    for passage in passages:
        tokens_left -= count_tokens(passage.text) + 30
        if fitting and tokens_left < 0:
            break
        fitting.append(passage)
    return fitting


def _to_lerim_error(error: lm15.LM15Error, model: Model) -> LerimError:
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
