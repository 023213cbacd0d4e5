"""A DSPy language model over our engine, with everything off that would keep or repeat what was sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol

import dspy
from dspy import lm15

from lerim.models.model import Model


class AnsweringEngine(Protocol):
    """What DSPy asks of an engine, by name."""

    def complete(self, request: lm15.Request) -> lm15.Response:
        """One answer."""

    def close(self) -> None:
        """Lets go of what stays open between calls."""


@dataclass(slots=True)
class AnswerEnding:
    """What DSPy does not tell of an answer. `cut`: it ends where the model may write no more."""

    cut: bool = False


_HEARD: ContextVar[AnswerEnding | None] = ContextVar("heard", default=None)


class _Listening:
    """An engine, and how its answers end."""

    supports_function_calling = False
    supports_reasoning = False
    supports_response_schema = False
    supported_params = frozenset({"temperature", "max_tokens"})

    def __init__(self, engine: AnsweringEngine) -> None:
        self._engine = engine

    def complete(self, request: lm15.Request) -> lm15.Response:
        response = self._engine.complete(request)
        heard = _HEARD.get()
        if heard is not None:
            heard.cut = response.finish_reason == "length"
        # Of a cut answer DSPy would tell on the terminal, in words that are not for the person.
        return replace(response, finish_reason="stop")

    def close(self) -> None:
        self._engine.close()


def make_language_model(model: Model, engine: AnsweringEngine) -> dspy.LM:
    """The model as DSPy knows it: no cache, and no retries of its own, for the engine has them."""
    # The model's name is the request's alone: DSPy gives names it knows settings of its own.
    return wrap_engine(engine, f"lerim/{model.provider}")


def wrap_engine(engine: AnsweringEngine, name: str) -> dspy.LM:
    """An engine as DSPy knows it, under a name."""
    return dspy.LM(name, engine=_Listening(engine), cache=False, num_retries=0)


class WholeAnswers(dspy.ChatAdapter):  # type: ignore[misc]
    """DSPy's form of prompt and answer, but an answer without its end is not mended to look whole, and no second call
    is made in silence."""

    def __init__(self) -> None:
        super().__init__(use_json_adapter_fallback=False)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """The fields of an answer. Raises AdapterParseError, with the answer in it."""
        if "[[ ## completed ## ]]" not in completion:
            raise dspy.AdapterParseError("WholeAnswers", signature, completion, "The answer is incomplete.")
        fields: dict[str, Any] = super().parse(signature, completion)
        return fields


@contextmanager
def use_language_model(lm: dspy.LM) -> Iterator[AnswerEnding]:
    """Within this block DSPy's modules ask `lm`, and nothing of it is remembered but how its last answer ended."""
    heard = AnswerEnding()
    before = _HEARD.set(heard)
    try:
        with dspy.context(
            lm=lm, adapter=WholeAnswers(), disable_history=True, trace=None, track_usage=False, callbacks=[]
        ):
            yield heard
    finally:
        _HEARD.reset(before)
