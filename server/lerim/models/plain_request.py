"""One plain request to a model, streamed, without DSPy's signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lerim.errors import ModelAwayError, ModelError, ModelGoneError, ModelKeyError, ModelSilentError
from lerim.models.model import Model
from lerim.models.services import faults
from lerim.redaction import clean_text

if TYPE_CHECKING:
    from lerim.models.dspy_import import lm15
    from lerim.models.engine import Engine


def stream_answer(
    engine: Engine, model: Model, system: str, render: Callable[[int], str], feed: Callable[[str], None], role: str
) -> None:
    """Sends one request and passes the answer, piece by piece, to `feed`. `render` returns the prompt for a window of a
    given number of tokens. If the model reports that it accepts fewer, it is asked again with another prompt.

    `role` names the settings that the errors tell the person to change. Raises ModelError if there is no answer, or
    if the answer is incomplete; what was passed to `feed` until then remains valid.
    """
    from lerim.models.dspy_import import lm15

    pieces: list[str] = []

    def take(piece: str) -> None:
        pieces.append(piece)
        feed(piece)

    while True:
        window = engine.window_tokens
        request = lm15.Request(model=model.name, messages=(lm15.Message.user(render(window)),), system=system)
        try:
            response = engine.complete(request, take)
            break
        except lm15.LM15Error as error:
            if isinstance(error, lm15.ContextLengthError) and engine.window_tokens < window:
                continue
            what = "did not finish its answer" if pieces else "did not answer"
            raise convert_error(error, model, what, role) from error
    if response.finish_reason != "stop":
        withheld = response.finish_reason == "content_filter"
        why = "the service withheld the rest" if withheld else "it reached the length limit"
        raise ModelError(f"{model.label} did not finish its answer: {why}.", todo="Ask for less, or use another model.")


def convert_error(error: lm15.LM15Error, model: Model, what: str, role: str) -> ModelError:
    """Converts an error of an engine to one of our own errors, which says `what` the model did."""
    from lerim.models.dspy_import import lm15

    message = f"{model.label} {what}: {clean_text(faults.error_message(error)).rstrip('.')}."
    if isinstance(error, lm15.AuthError):
        key = "Set a valid key in the environment, or choose" if model.key_variable else "Choose"
        return ModelKeyError(message, where=model.key_variable, todo=f"{key} another model.")
    if isinstance(error, lm15.BillingError):
        return ModelKeyError(message, todo="Choose another model, or try again once the account has credit.")
    if error.code == "gone" or isinstance(error, lm15.UnsupportedModelError):
        return ModelGoneError(message, todo="Choose another model; `lerim model list` shows what there is.")
    if error.code == faults.UNSENT:
        return ModelAwayError(message, todo="Check the address and the connection, then try again.")
    if isinstance(error, lm15.RateLimitError):
        return ModelAwayError(message, todo="Try again in a moment.")
    if isinstance(error, lm15.TimeoutError):
        return ModelSilentError(message, todo=f"Try again, or raise roles.{role}.timeout.")
    if isinstance(error, lm15.TransportError | lm15.ServerError):
        return ModelSilentError(message, todo="Try again later, or choose another model.")
    return ModelError(message, todo="Check its settings with `lerim config show`, or choose another model.")
